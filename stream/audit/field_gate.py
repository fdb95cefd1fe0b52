"""What became of the fields of an event against what had to, from the account alone.

An account holds two amounts for each field, in units: what its fine and what its coarse reports told, added up. The
total about a field is its own amounts, what is lost through the other fields of the joint table, the plain sum of all
remaining ones, and what is set aside for the field of record.protect. The first way to report a field with which no
total is above its cap is the right one, field by field in declared order; where nothing fits it is withheld.

Leaks through a table are logarithms, which two readers of the same rule may round differently. So within 2^-30 nat of
a cap either decision is accepted, and counted; everything else is whole numbers, and exact.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from stream.audit.amounts import UNBOUNDED, UNITS
from stream.audit.field_rules import Fields, Option
from stream.audit.field_table import Table

MARGIN: Final = UNITS >> 30
NO, EITHER, YES = 0, 1, 2

Account = tuple[int, ...]


class Judged(NamedTuple):
    """What an event leaves: the account after it, the places of fields that were told more than their caps allowed or
    less than they did, and how many decisions lay so near to a cap that either was accepted.
    """

    after: Account
    beyond: tuple[int, ...]
    needless: tuple[int, ...]
    near: int


class Gate:
    """Everything is remembered: users with the same account are the same user to the gate."""

    def __init__(self, fields: Fields) -> None:
        self.fields = fields
        self.nothing: Account = (0,) * (2 * len(fields.each))
        self._table = None if fields.weights is None else Table(fields.axes, fields.weights)
        self._inside = [axis.place for axis in fields.axes]
        self._lost: dict[tuple[int, Account], int] = {}
        self._judged: dict[tuple[Account, str], Judged] = {}
        self._totals: dict[Account, tuple[int, ...]] = {}

    def judged(self, account: Account, signs: str) -> Judged:
        """One event with these signs, each of them one of its field's."""
        found = self._judged.get((account, signs))
        if found is None:
            found = self._judged[account, signs] = self._judge(account, signs)
        return found

    def _judge(self, account: Account, signs: str) -> Judged:
        beyond: list[int] = []
        needless: list[int] = []
        near = 0
        for place, (field, sign) in enumerate(zip(self.fields.each, signs, strict=True)):
            right, either = self._right(account, place)
            told = field.signs.index(sign)
            near += len(either) > 0
            if told not in (right, *either):
                (beyond if told < right else needless).append(place)
            account = self.added(account, place, field.options[told])
        return Judged(account, tuple(beyond), tuple(needless), near)

    def _right(self, account: Account, place: int) -> tuple[int, list[int]]:
        """Which of a field's options is right, and which of the earlier ones may be."""
        either: list[int] = []
        options = self.fields.each[place].options
        for number, option in enumerate(options[:-1]):
            fits = self.fits(self.added(account, place, option))
            if fits == YES:
                return number, either
            if fits == EITHER:
                either.append(number)
        return len(options) - 1, either

    def added(self, account: Account, place: int, option: Option) -> Account:
        """All reports of what is kept for good tell no more together than that; nothing is told back."""
        at = 2 * place + option.is_coarse
        amount = max(account[at], min(account[at] + option.level, self.fields.each[place].together))
        return (*account[:at], amount, *account[at + 1 :])

    def fits(self, account: Account) -> int:
        """Whether no total is above its cap."""
        fields, told = self.fields, sum(account)
        if fields.protected_cap < UNBOUNDED and fields.budget + told > fields.protected_cap:
            return NO
        fit = YES
        for place, field in enumerate(fields.each):
            if field.cap >= UNBOUNDED or told + fields.set_aside <= field.cap:
                continue
            total = self._total(account, place)
            if total > field.cap + MARGIN or place not in self._inside:
                return NO
            if total > field.cap - MARGIN:
                fit = EITHER
        return fit

    def totals(self, account: Account) -> tuple[int, ...]:
        """About each field, and about that of record.protect, where there is one."""
        found = self._totals.get(account)
        if found is None:
            fields = self.fields
            about = [self._total(account, place) for place in range(len(fields.each))]
            if fields.protected:
                about.append(min(fields.budget + sum(account), UNBOUNDED))
            found = self._totals[account] = tuple(about)
        return found

    def _total(self, account: Account, place: int) -> int:
        """Own and foreign reports, of which those of the table's other fields may tell less than their sum."""
        told, linked = sum(account), 0
        if place in self._inside:
            others = [other for other in self._inside if other != place]
            linked = sum(account[2 * other] + account[2 * other + 1] for other in others)
            told += min(self._through_table(account, place), linked) - linked
        return min(told + self.fields.set_aside, UNBOUNDED)

    def _through_table(self, account: Account, place: int) -> int:
        """An endless stream tells everything in the end: then all is said by what counts as without bound."""
        table = self._table
        assert table is not None
        told = tuple(
            amount if amount <= table.far else UNBOUNDED
            for inside in table.places
            for amount in account[2 * inside : 2 * inside + 2]
        )
        found = self._lost.get((place, told))
        if found is None:
            found = self._lost[place, told] = table.leak(place, told)
        return found
