"""What is told in total about each of several local fields, and about the protected one beside them. Proof: account.md.

An account is what has been released of one user: for each field two amounts in units, of its reports and of the reports
of its groups. Totals are functions of the account, in whole units and with the same bits on every machine. They never
fall when an amount rises, but for a unit of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beliefs.checks import Invalid, require
from beliefs.correlation.bound import Matrix
from beliefs.correlation.table_leaks import TableField, TableLeaks
from beliefs.rounding import add_units, sum_units
from beliefs.simplex import Vector

Account = tuple[int, ...]
"""Fine and coarse units of the first field, fine and coarse units of the second, and so on."""

EXACT, BOUNDED, SUMMED = "exact", "bounded", "summed"


@dataclass(frozen=True)
class AccountField:
    """A field as its sums see it: `axis` is its place in the joint table, the rest is TableField's."""

    name: str
    axis: int | None = None
    classes: tuple[int, ...] | None = None
    groups: tuple[int, ...] | None = None


class Totals:
    """Of these fields, in this order; `weights` is the joint table of those that have an axis in it. With `radii`, one
    for each value along each axis, totals hold for every table within them; without, for this one.

    `budget` is that of the protected field in units, where there is one: it counts as spent from the beginning.
    """

    def __init__(
        self,
        fields: Sequence[AccountField],
        weights: Matrix | None = None,
        budget: int | None = None,
        radii: Sequence[Vector] | None = None,
    ) -> None:
        self.fields, self.budget = tuple(fields), budget
        self.set_aside = add_units(budget, budget) if budget is not None else 0
        self.inside = _in_order(self.fields)
        self.outside = [place for place in range(len(self.fields)) if place not in self.inside]
        if (weights is None) != (not self.inside):
            raise Invalid("joint", "is a table of the fields that have an axis in it: one is missing")
        named = [_of_table(fields[place]) for place in self.inside]
        self.table = None if weights is None else TableLeaks(weights, named, radii)

    @property
    def nothing(self) -> Account:
        """The account of a user of whom nothing has been released."""
        return (0,) * (2 * len(self.fields))

    @property
    def rules(self) -> tuple[str, ...]:
        """How each field's total is found: through the table exactly, through its bound, or as a plain sum."""
        found = [SUMMED] * len(self.fields)
        for axis, place in enumerate(self.inside):
            found[place] = EXACT if self.table is not None and self.table.exact(axis) else BOUNDED
        return tuple(found)

    def of(self, account: Account) -> tuple[int, ...]:
        """The total about each field, then that about the protected field if there is one."""
        require(len(account) == 2 * len(self.fields), "an account has two amounts for each field")
        own = [add_units(fine, coarse) for fine, coarse in zip(account[::2], account[1::2], strict=True)]
        totals = [sum_units([*own, self.set_aside])] * len(own)
        if self.table is not None:
            rest = [*(own[place] for place in self.outside), self.set_aside]
            leaks = self.table.of(tuple((account[2 * place], account[2 * place + 1]) for place in self.inside))
            for place, leak in zip(self.inside, leaks, strict=True):
                totals[place] = sum_units([own[place], leak, *rest])
        return (*totals, sum_units([*own, self.budget])) if self.budget is not None else tuple(totals)

    def most(self, account: Account) -> int:
        """What no total is above, without a look at the table: all that was released, and what is set aside."""
        return sum_units([*account, self.set_aside])


def _in_order(fields: Sequence[AccountField]) -> list[int]:
    """The places of the fields that are in the table, by their axes."""
    placed = sorted((field.axis, place) for place, field in enumerate(fields) if field.axis is not None)
    if [axis for axis, _ in placed] != list(range(len(placed))):
        raise Invalid("axis", f"of the fields in the table must be 0 to {len(placed) - 1}, each once")
    return [place for _, place in placed]


def _of_table(field: AccountField) -> TableField:
    return TableField(field.name, field.classes, field.groups)
