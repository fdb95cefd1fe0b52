"""What becomes of each local field of one event: a function of what has been told of its user, and of nothing else.

The fields are asked in their declared order. The first of a field's options is taken with which no total is above its
cap, computed with what this event's earlier fields were already given; otherwise it is withheld. Since the
choice is the same for all users with the same account, it tells nothing of anybody's values. That totals
bound what is told is proved in beliefs/correlation/account.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import Invalid
from beliefs.correlation.account import Account, Totals
from beliefs.rounding import INFINITE, add_units, nats

FULL, HALF, QUARTER, EIGHTH, COARSE, WITHHELD = range(6)
"""The choices; `HALF` to `EIGHTH` are the mechanism at so much of its epsilon, `COARSE` is a report of the group."""

SIGNS: Final = "0123c-"
"""How the header of a released record writes each of them."""

CHOICE_NAMES: Final = ("full", "half", "quarter", "eighth", "coarse", "withheld")
"""How metrics and commands call them."""

Beyond = Literal["withhold", "lower", "coarsen"]
OPTIONS: Final[dict[Beyond, tuple[int, ...]]] = {
    "withhold": (FULL,),
    "lower": (FULL, HALF, QUARTER, EIGHTH),
    "coarsen": (FULL, COARSE),
}
Choices = NDArray[np.int8]


@dataclass(frozen=True)
class GateField:
    """One field, in units that are rounded up; the cap is rounded down.

    `levels` holds what one report tells by choice, full to coarse: None for what the field does not have.
    `longitudinal` is the most that all its reports together tell, where they come from kept bits, and
    `coarse_longitudinal` that of the reports of its group.
    """

    name: str
    levels: tuple[int | None, int | None, int | None, int | None, int | None]
    beyond: Beyond = "withhold"
    cap: int | None = None
    longitudinal: int | None = None
    coarse_longitudinal: int | None = None

    @property
    def options(self) -> tuple[int, ...]:
        return tuple(choice for choice in OPTIONS[self.beyond] if self.levels[choice] is not None)

    def told(self, choice: int, fine: int, coarse: int) -> tuple[int, int]:
        """What has been told of the field and of its group after one more report: never less than before it."""
        level = self.levels[choice]
        if level is None:
            raise Invalid(self.name, f"has no level for the choice {SIGNS[choice]}")
        if choice == COARSE:
            return fine, max(coarse, _at_most(add_units(coarse, level), self.coarse_longitudinal))
        return max(fine, _at_most(add_units(fine, level), self.longitudinal)), coarse


class Turn(NamedTuple):
    """The choice for each field, the account after it, and the totals of that account."""

    choices: Choices
    account: Account
    totals: tuple[int, ...]


class Gate:
    """`totals` is about the same fields in the same order; `protected_cap` is for the total about the protected one."""

    def __init__(self, fields: Sequence[GateField], totals: Totals, protected_cap: int | None = None) -> None:
        self.fields, self.totals = tuple(fields), totals
        caps = [field.cap for field in self.fields] + ([protected_cap] if totals.budget is not None else [])
        self.caps = tuple(INFINITE if cap is None else cap for cap in caps)
        self._least = min(self.caps, default=INFINITE)
        self._check(protected_cap)

    def turn(self, account: Account) -> Turn:
        told, choices = list(account), []
        for place, field in enumerate(self.fields):
            choice, given = self._chosen(field, told, 2 * place)
            told[2 * place : 2 * place + 2] = given
            choices.append(choice)
        after = tuple(told)
        return Turn(np.array(choices, dtype=np.int8), after, self.totals.of(after))

    def _chosen(self, field: GateField, told: Sequence[int], word: int) -> tuple[int, tuple[int, int]]:
        for choice in field.options:
            given = field.told(choice, told[word], told[word + 1])
            if self.fits((*told[:word], *given, *told[word + 2 :])):
                return choice, given
        return WITHHELD, (told[word], told[word + 1])

    def fits(self, account: Account) -> bool:
        """Whether no total is above its cap; one of INFINITE is no cap."""
        if self.totals.most(account) <= self._least or self._least == INFINITE:
            return True
        return all(total <= cap for total, cap in zip(self.totals.of(account), self.caps, strict=True))

    def _check(self, protected_cap: int | None) -> None:
        if [field.name for field in self.fields] != [field.name for field in self.totals.fields]:
            raise Invalid("fields", "of the gate and of the totals are not the same, in the same order")
        if protected_cap is not None and self.totals.budget is None:
            raise Invalid("protected_cap", "is for the protected field, and there is none")
        for field, summed in zip(self.fields, self.totals.fields, strict=True):
            if not field.options:
                raise Invalid(field.name, "has no level for any of its options")
            if COARSE in field.options and summed.axis is not None and summed.groups is None:
                raise Invalid(field.name, "may be coarsened, so that the joint table has to know its groups")
        names = [*(field.name for field in self.fields), "protected_cap"]
        set_aside = self.totals.of(self.totals.nothing)
        for name, cap, least in zip(names, self.caps, set_aside, strict=False):
            if least > cap:
                raise Invalid(
                    name,
                    f"has a cap of {nats(cap):g} nats, but {nats(least):g} are set aside for the protected field from "
                    "the beginning: nothing could ever be reported; raise the cap, or lower the budget",
                )


def _at_most(units: int, limit: int | None) -> int:
    return units if limit is None else min(units, limit)
