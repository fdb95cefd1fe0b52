"""What a window's releases tell about one user, given what they lose about each user's contribution. Proof: claim.md.

A loss says how much the releases of one window may change with one user's contributions to it. Losses and leaks are
whole units of 2^-40 nat, leaks rounded up and losses down.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.dependence.budget import largest_loss
from beliefs.dependence.corners import TableCorners
from beliefs.dependence.odds import GraphOdds, TableOdds
from beliefs.dependence.remembered import remembered
from beliefs.dependence.tree import TreeInfluence
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.chosen import Law, Theta, each_of
from beliefs.laws.dependence import Blocks, Dependence, Group, Independent, OverWindows, People
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.prior.adversary import Query
from beliefs.prior.worst import EXACT, SOUND, Worst, worst_of_table
from beliefs.rounding import INFINITE, UNITS_PER_NAT, units_up

GROUP = "group"
TABLE_ATTRIBUTES_MAX = 24
STEPS = 1 << 5
"""Losses whose leak is searched for anew each time are looked for among 32 between each two powers of two."""

COARSE = 1 << 10
"""Searched leaks are rounded up to a billionth of a nat: exponentials and their sums are the processor's own."""


@dataclass(frozen=True)
class OnlyQuery:
    """The one count or sum that a window releases: a user adds `low` to `high` steps of the grid, or 0 if absent."""

    grid: Fraction
    low: int
    high: int

    @property
    def reach(self) -> int:
        return max(abs(self.low), abs(self.high), self.high - self.low)

    def in_steps(self, law: TableLaw) -> TableLaw | None:
        """The law of what users add, in steps; none if its values are not what they may add."""
        domains = []
        for domain in law.domains:
            steps = [Fraction(str(value)) / self.grid for value in domain.tolist()]
            if any(each.denominator > 1 or not (each == 0 or self.low <= each <= self.high) for each in steps):
                return None
            domains.append(np.array([float(each) for each in steps]))
        return TableLaw(law.joint, tuple(domains))


class Account(Protocol):
    @property
    def method(self) -> str: ...

    def told(self, loss: int) -> int:
        """What is told about a user, never falling with the loss."""
        ...

    def largest(self, target: int) -> int:
        """A loss of which no more than the target is told: the largest one, but for what searching it would cost."""
        ...


@dataclass(frozen=True)
class Multiplied:
    """So many times the loss: `size` users may all be one."""

    size: int
    method: str

    def told(self, loss: int) -> int:
        return min(INFINITE, self.size * loss)

    def largest(self, target: int) -> int:
        return max(target, 0) // self.size


@dataclass(frozen=True, eq=False)
class Measured:
    """Told is what `leak` says, and never more than if all users that hang together were one."""

    leak: Callable[[int], int]
    together: int
    method: str = SOUND
    known: OrderedDict[int, int] = field(default_factory=OrderedDict, repr=False)

    def told(self, loss: int) -> int:
        if loss <= 0:
            return 0
        return remembered(self.known, loss, lambda: min(self.leak(min(loss, INFINITE)), self.together * loss, INFINITE))

    def largest(self, target: int) -> int:
        """A user's own loss is always told, so no loss above the target needs to be looked at."""
        return max(max(target, 0) // self.together, largest_loss(self.told, target, min(target, INFINITE - 1)))


@dataclass(frozen=True, eq=False)
class Searched(Measured):
    """`leak` is a search of its own for each loss; so few losses are looked at, each once."""

    def largest(self, target: int) -> int:
        """No loss above eight times the target is looked at."""
        if target < STEPS:
            return max(target, 0) // self.together
        fitting = bisect_right(range(_place(8 * target) + 1), target, key=lambda place: self.told(_loss_at(place)))
        return max(target // self.together, _loss_at(fitting - 1) if fitting else 0)


def _loss_at(place: int) -> int:
    """Ascending whole numbers from 32 on, 32 between each two powers of two."""
    return (STEPS + place % STEPS) << (place // STEPS)


def _place(loss: int) -> int:
    """The last one that is not above a loss."""
    power = loss.bit_length() - STEPS.bit_length()
    return power * STEPS + (loss >> power) - STEPS


@dataclass(frozen=True)
class WorstOf:
    """Whichever of several is told most."""

    accounts: tuple[Account, ...]

    @property
    def method(self) -> str:
        return worst_method(each.method for each in self.accounts)

    def told(self, loss: int) -> int:
        return max(each.told(loss) for each in self.accounts)

    def largest(self, target: int) -> int:
        return min(each.largest(target) for each in self.accounts)


def worst_method(methods: Iterable[str]) -> str:
    """Exact where all are; otherwise the group's if any is, as it is the coarsest."""
    found = set(methods)
    return next(each for each in (GROUP, SOUND, EXACT) if each in found)


def account_of(users: Dependence | Theta, *, knowing: bool, only: OnlyQuery | None = None) -> Account:
    """`knowing` says whether others may be known; with `only`, noise on a whole-number sum is all that is released."""
    if isinstance(users, Independent):
        return _alone(only)
    if isinstance(users, Group):
        return Multiplied(users.size, GROUP)
    if isinstance(users, OverWindows):
        raise Invalid("users", "are given a law of windows: that says how one user's windows follow each other")
    laws: Iterable[Theta] = users.laws.values() if isinstance(users, Blocks) else (_law_of(users),)
    return _worst_of(_of_law(law, knowing, only) for theta in laws for law in each_of(theta))


def _law_of(users: People | Theta) -> Theta:
    return users.law if isinstance(users, People) else users


def _worst_of(accounts: Iterable[Account]) -> Account:
    every = tuple(accounts)
    return every[0] if len(every) == 1 else WorstOf(every)


def _alone(only: OnlyQuery | None) -> Account:
    """Several queries may not all move the furthest at once."""
    return Multiplied(1, SOUND if only is None else EXACT)


def _of_law(law: Law, knowing: bool, only: OnlyQuery | None) -> Account:
    if isinstance(law, TableLaw):
        return _of_table(law, knowing, only)
    if isinstance(law, BlocksLaw):
        return _worst_of(_of_law(block, knowing, only) for block in law.blocks)
    if isinstance(law, TreeLaw):
        return _of_tree(law, knowing)
    if isinstance(law, FriendsLaw):
        components = law.components()
        if len(law.friends) == law.users - components.count:
            return _of_tree(law.tree(), knowing)
        return Multiplied(components.largest, GROUP)
    kind = "a chain: that says how one user's windows follow each other, and is a law of windows"
    if isinstance(law, GaussianLaw):
        kind = "Gaussian: such contributions have no end, and so has what one tells of another"
    raise Invalid("users", f"are given a law that carries no claim, as it is {kind}")


def _of_tree(law: TreeLaw, knowing: bool) -> Account:
    together = law.components().largest
    if knowing:
        return Measured(GraphOdds.of_tree(law).worst_of, together)
    influence = TreeInfluence.of(law)
    return Measured(lambda loss: influence.worst(np.full(law.size, loss, dtype=np.int64)).units, together)


def _of_table(law: TableLaw, knowing: bool, only: OnlyQuery | None) -> Account:
    if law.size == 1:
        return _alone(only)
    steps = None if only is None else only.in_steps(law)
    if only is not None and steps is not None:
        return _of_sum(steps, knowing, only.reach)
    if law.size > TABLE_ATTRIBUTES_MAX:
        raise Invalid("users", f"are given a table of {law.size}; more than {TABLE_ATTRIBUTES_MAX} is a group's bound")
    return Measured(_of_cells(law.joint), law.size)


def _of_cells(joint: Matrix) -> Callable[[int], int]:
    """The smaller of two bounds for any releases."""
    corners, odds = TableCorners.of(joint), TableOdds.of(joint)
    if corners is None:
        return odds.worst_of
    return lambda loss: min(corners.worst_of(loss), odds.worst_of(loss))


def _of_sum(law: TableLaw, knowing: bool, reach: int) -> Account:
    """The exact leak of the sum with noise that tells the loss where `reach` may move.

    It is never less than the loss itself: that is told about somebody whom no component has.
    """
    query, most = Query.of(law), None if knowing else 0

    def worst(loss: int) -> Worst:
        scale = Fraction(reach * UNITS_PER_NAT, loss)
        return worst_of_table(law, query, math.nextafter(float(scale), 0.0), most)

    def leak(loss: int) -> int:
        return min(INFINITE, max(loss, -(-units_up(worst(loss).epsilon) // COARSE) * COARSE))

    return Searched(leak, law.size, worst(UNITS_PER_NAT).method)
