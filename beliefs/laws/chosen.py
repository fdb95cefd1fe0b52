"""Laws of which an adversary may believe any: the worst of them counts, whatever is computed. Note: laws.md."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from beliefs.checks import Invalid
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.components import Components, joined
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.simplex import Vector

Law = TableLaw | MarkovLaw | GaussianLaw | TreeLaw | FriendsLaw | BlocksLaw
Told = TypeVar("Told")


@dataclass(frozen=True, eq=False)
class LawSet:
    """Laws of the same attributes with the same values."""

    laws: tuple[Law, ...]

    def __post_init__(self) -> None:
        if not self.laws:
            raise Invalid("laws", "is empty; an adversary believes something")
        for place, law in enumerate(self.laws):
            if isinstance(law, LawSet):
                raise Invalid("laws", f"entry {place} is a set itself; put its laws in its place")
            if law.size != self.laws[0].size:
                raise Invalid("laws", f"entry {place} has {law.size} attributes, but entry 0 has {self.laws[0].size}")
            if not _same_values(_values_of(self.laws[0]), _values_of(law)):
                raise Invalid("laws", f"entry {place} has other values than entry 0; give what cannot occur chance 0")

    @property
    def size(self) -> int:
        return self.laws[0].size

    def components(self) -> Components:
        """What hangs together under any of the laws."""
        return joined(law.components() for law in self.laws)


Theta = Law | LawSet
"""What an adversary may believe: one law, or any of several."""


class Most(NamedTuple):
    """The largest of what laws tell, and the number of the law that tells it."""

    told: float
    law: int


def each_of(theta: Theta) -> tuple[Law, ...]:
    return theta.laws if isinstance(theta, LawSet) else (theta,)


def under_each(theta: Theta, told: Callable[[Law], Told]) -> list[Told]:
    """What a question is answered under each law. An error says of which law it is, where there are several."""
    laws, found = each_of(theta), []
    for place, law in enumerate(laws):
        try:
            found.append(told(law))
        except Invalid as problem:
            if len(laws) == 1:
                raise
            raise Invalid("laws", f"entry {place}: {problem}") from None
    return found


def most(found: list[float]) -> Most:
    """Of equal ones the first."""
    highest = max(found)
    return Most(highest, found.index(highest))


_Values = list[tuple[Vector | float, int]]


def _values_of(law: Law) -> _Values:
    """The domain of attributes, or the range of Gaussian ones, and how many in a row have it."""
    if isinstance(law, BlocksLaw):
        return [each for block in law.blocks for each in _values_of(block)]
    if isinstance(law, TableLaw):
        return [(domain, 1) for domain in law.domains]
    if isinstance(law, GaussianLaw):
        return [(law.range, law.size)]
    if isinstance(law, FriendsLaw):
        return [(np.arange(float(len(law.distances))), law.size)]
    return [(law.domain, law.size)]


def _same_values(one: _Values, other: _Values) -> bool:
    """Run by run, as a million attributes may have one domain."""
    ends = [list(itertools.accumulate(count for _, count in runs)) for runs in (one, other)]
    place = [0, 0]
    while place[0] < len(one):
        mine, yours = one[place[0]][0], other[place[1]][0]
        if type(mine) is not type(yours) or not np.array_equal(mine, yours):
            return False
        reached = [ends[side][place[side]] for side in (0, 1)]
        place = [place[side] + (reached[side] <= reached[1 - side]) for side in (0, 1)]
    return True
