"""What is promised of local fields in its simplest words: which way each is reported, what that adds up to, and reports
themselves. The leaks of a joint table are found by enumeration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from account_oracles import Columns, Matrix, both, extreme_columns, leak_units, response_columns

from beliefs.alphabet import Categories
from beliefs.correlation.tables import JointTable
from beliefs.rounding import budget_units, units_up
from mechanisms.local.registry import drawn
from mechanisms.local.wire import shape_of, write
from stream.settings.fields import FieldSettings, FieldsSettings

OPTIONS = {"withhold": "0", "lower": "0123", "coarsen": "0c"}
ITSELF = ("grr", "exp", "top_k")

Account = tuple[int, ...]


class Other(NamedTuple):
    """Of another field of a table what its fine and its coarse reports told, in units; the class of each value that a
    report names, where it names one; and the group of each value.
    """

    fine: int
    coarse: int
    classes: Sequence[int] | None
    groups: Sequence[int]


def enumerated(weights: Matrix, axis: int, others: Sequence[Other]) -> Decimal:
    """What the field along an axis loses through all others: every output of every extreme mechanism, in units."""
    if all(other.classes is not None or not (other.fine or other.coarse) for other in others):
        return leak_units(weights, axis, [columns_of(other, other.classes or other.groups) for other in others])
    silent = tuple(place for place, other in enumerate(others, 1) if not (other.fine or other.coarse))
    combined = np.moveaxis(weights, axis, 0).sum(axis=silent, keepdims=True)
    number = np.zeros(combined.shape[1:], dtype=int)
    for place, other in enumerate(others):
        groups = np.array(other.groups if other.coarse else [0] * number.shape[place])
        number = number * (int(groups.max()) + 1) + groups.reshape(
            [-1 if at == place else 1 for at in range(number.ndim)]
        )
    _, of = np.unique(number.ravel(), return_inverse=True)
    fine, coarse = sum(other.fine for other in others), sum(other.coarse for other in others)
    columns = both(extreme_columns(of.size, fine), extreme_columns(int(of.max()) + 1, coarse), of.tolist())
    return leak_units(combined.reshape(combined.shape[0], -1), 0, [columns])


def columns_of(other: Other, classes: Sequence[int]) -> Columns:
    groups = other.groups if other.coarse else [0] * len(classes)
    return both(response_columns(classes, other.fine), response_columns(sorted(set(groups)), other.coarse), groups)


@dataclass
class Reference:
    fields: FieldsSettings
    table: JointTable | None
    budget: int | None
    levels: dict[tuple[str, str], int] = field(default_factory=dict)

    def mechanism(self, name: str, sign: str) -> Any:
        one = self.fields.each[name]
        if sign == "c":
            return drawn(one.mechanism.name, len(one.coarser or ()), one.epsilon)
        given = {share: getattr(one.mechanism, share) for share in ("report_zero", "report_one")}
        options: dict[str, Any] = {share: value for share, value in given.items() if value is not None}
        if one.mechanism.top is not None:
            options["top"] = [one.values.index_of(member) for member in one.mechanism.top]
        size = one.values.size + (one.at_most is not None)
        return drawn(one.mechanism.name, size, one.epsilon / 2 ** int(sign), **options)

    def level(self, name: str, sign: str) -> int:
        if (name, sign) not in self.levels:
            self.levels[name, sign] = units_up(self.mechanism(name, sign).level)
        return self.levels[name, sign]

    def after(self, account: Account, place: int, sign: str) -> Account:
        if sign == "-":
            return account
        told, name = list(account), list(self.fields.each)[place]
        told[2 * place + (sign == "c")] += self.level(name, sign)
        if self.fields.each[name].mechanism.name == "rappor":
            told[2 * place] = min(told[2 * place], units_up(self.mechanism(name, "0").longitudinal))
        return tuple(told)

    def totals(self, account: Account) -> list[Any]:
        """In units, that about the protected field last, where there is one."""
        own = [account[at] + account[at + 1] for at in range(0, len(account), 2)]
        everything = sum(own) + 2 * (self.budget or 0)
        found: list[Any] = [everything] * len(own)
        inside = () if self.table is None else self.table.names
        names = list(self.fields.each)
        for name in inside:
            others = [names.index(other) for other in inside if other != name]
            plain = sum(own[other] for other in others)
            found[names.index(name)] += min(self.leak(name, account), plain) - plain
        return found if self.budget is None else [*found, self.budget + sum(own)]

    def leak(self, secret: str, account: Account) -> Any:
        """Through the other fields of the table, every output of every extreme mechanism."""
        assert self.table is not None
        axis = self.table.names.index(secret)
        told = [self.other(name, account) for name in self.table.names if name != secret]
        return enumerated(self.table.weights, axis, told)

    def other(self, name: str, account: Account) -> Other:
        one, place = self.fields.each[name], list(self.fields.each).index(name)
        top, size = one.mechanism.top, one.values.size
        named = list(range(size)) if top is None else [one.values.index_of(member) for member in top]
        classes = [named.index(value) if value in named else len(named) for value in range(size)]
        itself = one.mechanism.name in ITSELF
        groups = groups_of(one) if one.coarser else [0] * size
        return Other(account[2 * place], account[2 * place + 1], classes if itself else None, groups)

    def signs(self, account: Account) -> str:
        """The first option of each field with which no total is above its cap."""
        caps = [budget_units(one.cap) for one in self.fields.each.values()]
        if self.budget is not None:
            caps.append(budget_units(self.fields.protected_cap))
        found = ""
        for place, one in enumerate(self.fields.each.values()):
            for sign in (*OPTIONS[one.beyond], "-"):
                given = self.after(account, place, sign)
                if sign == "-" or all(total <= cap for total, cap in zip(self.totals(given), caps, strict=True)):
                    break
            account, found = self.after(account, place, sign), found + sign
        return found

    def report(self, name: str, sign: str, value: Any, source: np.random.Generator) -> Any:
        one, found = self.fields.each[name], self.mechanism(name, sign)
        alphabet: Any = one.values
        place: int | None
        if sign == "c":
            place, alphabet = groups_of(one)[one.values.index_of(value) or 0], Categories(list(one.coarser or ()))
        elif one.at_most is None:
            place = one.values.index_of(value)
        else:
            slot = int(source.integers(one.at_most))
            place = one.values.index_of(value[slot]) if slot < len(value) else one.values.size
            alphabet = Categories([*(f"v{number}" for number in range(one.values.size)), "empty"])
        coins = source.integers(1 << 63, size=(1, found.words)).astype(np.uint64) << np.uint64(1)
        (document,) = write(shape_of(found, alphabet), found.draw(np.array([place]), coins))
        if one.at_most is not None and isinstance(document, str):
            return None if document == "empty" else one.values.value_at(int(document[1:]))
        return document


def groups_of(one: FieldSettings) -> list[int]:
    of = {
        one.values.index_of(member): number
        for number, group in enumerate((one.coarser or {}).values())
        for member in group
    }
    return [of[value] for value in range(one.values.size)]
