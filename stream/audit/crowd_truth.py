"""What a window of a crowd tells about one of its people at least, worked out a second time: a number that no guarantee
may be below. Where it is the whole truth, no guarantee that calls itself exact may be much above it either.

* A sum, a mean or a count: the sums of crowd_sums.py, for any two values of anybody; of households for any two values
  of a member whose own household goes by its law given that value.
* A histogram: of two values that one may have, the counts of others who have one of them. Who has neither says nothing.
* A range: of who is there nothing counts but the chance that all others lie within an interval.
* Boxes: bounded by the histogram over all cells, which is what their guarantee says; so that is looked at.

An adversary who knows some of the others is given here whoever varies most first, and then least first; the worst
choice may be another one, so with several types this is below the truth.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from stream.audit.amounts import Floats
from stream.audit.crowd_pairs import least_of_histogram
from stream.audit.crowd_ranges import least_of_range
from stream.audit.crowd_rules import Asked, Believed
from stream.audit.crowd_sums import Others, Places, least_apart

SUMS: Final = ("count", "sum", "mean")
_DIFFERENCES: Final = 64
"""So many values have all their differences looked at; of more only the smallest and the largest."""


@dataclass(frozen=True)
class There:
    """How many people of each type, or how many households with 1, 2, ... of their members there."""

    kinds: tuple[int, ...]
    homes: tuple[int, ...] = ()

    @property
    def users(self) -> int:
        return sum(self.kinds) + sum(size * count for size, count in enumerate(self.homes, 1))


class Truth:
    """All answers are kept, as windows are alike."""

    def __init__(self, asked: Asked, believed: Believed) -> None:
        self._asked, self._believed = asked, believed
        self._laws = [Places.of(law / law.sum()) for law in believed.types.values()]
        self._homes = [] if believed.household is None else list(_homes(believed.household))
        self._peaked = all(_one_peak(law) for law in self._laws)
        self.delta = lru_cache(maxsize=1 << 16)(self._delta)
        self._best: dict[tuple[There, bool, Fraction | None], _Case] = {}

    def known(self, there: There, *, informed: bool) -> int:
        return min(math.ceil(self._believed.known * there.users), there.users - 1) if informed else 0

    def whole(self, there: There, *, informed: bool, noisy: bool) -> bool:
        """Whether `delta` is the truth itself, up to what doubles cannot tell."""
        one = sum(1 for count in there.kinds if count) == 1 and not there.homes
        if self._asked.kind in SUMS:
            few = max((law.size for law in self._laws), default=0) <= _DIFFERENCES
            return (few or self._peaked) and (one or (not there.homes and not self.known(there, informed=informed)))
        return one and not noisy and self._asked.kind in ("histogram", "range")

    def _delta(self, there: There, epsilon: float, informed: bool, scale: Fraction | None = None) -> float:
        if there.users == 0:
            return 0.0
        if self._asked.kind in SUMS:
            told = [(case.apart(epsilon, scale), case) for case in self._cases(there, informed=informed)]
            most, best = max(told, key=lambda each: each[0], default=(0.0, None))
            if best is not None:
                self._best[there, informed, scale] = best
            return most
        known = self.known(there, informed=informed)
        beside = [] if self._homes else self._beside(there.kinds, known)
        return max((self._of_kind(kind, rest, epsilon, scale) for kind, rest in beside), default=0.0)

    def quick(self, there: There, epsilon: float, informed: bool, scale: Fraction | None = None) -> float:
        """No more than `delta`, and nearly always the same: of sums by the two values that were told apart best by the
        epsilon that was asked for last.
        """
        best = self._best.get((there, informed, scale))
        return self.delta(there, epsilon, informed, scale) if best is None else best.apart(epsilon, scale)

    def _cases(self, there: There, *, informed: bool) -> Iterator[_Case]:
        """Of a sum: any two values of anybody who is there."""
        known = self.known(there, informed=informed)
        if self._homes:
            for size, rest in self._beside_home(there, known):
                others = [(home.total, count) for home, count in zip(self._homes, rest, strict=True) if count]
                for one, two in itertools.permutations(self._homes[size - 1].given, 2):
                    yield _Case(one, two, others)
            return
        for kind, rest in self._beside(there.kinds, known):
            others = [(law, count) for law, count in zip(self._laws, rest, strict=True) if count]
            for by in self.moves(kind):
                yield _Case(Places.certain(by), Places.certain(0), others)

    def _beside(self, kinds: Sequence[int], known: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Each type that is there, with how many others of each are not known."""
        variances = [law.variance for law in self._laws]
        for kind, count in enumerate(kinds):
            if not count:
                continue
            others = [each - (place == kind) for place, each in enumerate(kinds)]
            for sign in (-1.0, 1.0) if known and len(kinds) > 1 else (1.0,):
                order = sorted(range(len(kinds)), key=lambda place: sign * variances[place])
                yield kind, _without(others, known, order)

    def _of_kind(self, kind: int, rest: tuple[int, ...], epsilon: float, scale: Fraction | None) -> float:
        mine, laws = self._laws[kind].chances, [law.chances for law in self._laws]
        if self._asked.kind == "range":
            return least_of_range(mine, laws, rest, epsilon)
        return least_of_histogram(mine, laws, rest, epsilon, scale)

    def pair(self, there: There, *, informed: bool) -> tuple[Places, Places, Others] | None:
        """Of a sum: two values of somebody who is there, the farthest apart, and the others; for whoever looks at
        several windows.
        """
        if self._asked.kind not in SUMS:
            return None
        cases = self._cases(there, informed=informed)
        return max(cases, key=lambda case: case.one.mean - case.two.mean, default=None)

    def moves(self, kind: int) -> list[int]:
        """By how much one person of this type can move a sum, both ways. Where all laws have one peak and no gap, the
        others' sum has, too, and the farthest two values are told apart best.
        """
        (values,) = np.nonzero(self._laws[kind].chances)
        far, near = int(values[-1] - values[0]), int(np.diff(values).min(initial=values[-1]))
        if self._peaked:
            apart = {far}
        elif values.size > _DIFFERENCES:
            apart = {far, near}
        else:
            apart = {int(two - one) for one in values for two in values}
        return [sign * by for by in sorted(apart) for sign in (1, -1) if by]

    def _beside_home(self, there: There, known: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Each size of a household that is there, with the other households of each size of whom nobody is known."""
        for size, count in enumerate(there.homes, 1):
            if not count:
                continue
            rest = [each - (place == size) for place, each in enumerate(there.homes, 1)]
            left = known
            for at in range(len(rest) - 1, -1, -1):
                gone = min(rest[at], left // (at + 1))
                rest[at], left = rest[at] - gone, left - gone * (at + 1)
            yield size, tuple(rest)


class _Case(NamedTuple):
    """The law of the member's part of a sum with either of two values, and everybody else."""

    one: Places
    two: Places
    others: Others

    def apart(self, epsilon: float, scale: Fraction | None) -> float:
        return least_apart(self.one, self.two, self.others, epsilon, scale)


@dataclass(frozen=True)
class _Home:
    """The law of the sum of a household; and with each value that one member may have."""

    total: Places
    given: tuple[Places, ...]


def _homes(joint: Floats) -> Iterator[_Home]:
    """Of 1, 2, ... members that are there."""
    for size in range(1, joint.ndim + 1):
        part = joint.sum(axis=tuple(range(size, joint.ndim))) if size < joint.ndim else joint
        sums = np.indices(part.shape).sum(axis=0)
        given = [(part[value].ravel(), sums[value].ravel()) for value in range(part.shape[0]) if part[value].any()]
        yield _Home(_added(part.ravel(), sums.ravel()), tuple(_added(*each) for each in given))


def _added(chances: Floats, sums: Floats) -> Places:
    found = np.bincount(sums.astype(np.int64), weights=chances)
    return Places(0, found / found.sum())


def _one_peak(law: Places) -> bool:
    """Whether p(k)^2 is never below p(k - 1) p(k + 1), and nothing between is 0; clearly so, as doubles are rounded."""
    (values,) = np.nonzero(law.chances)
    chances = law.chances[values[0] : values[-1] + 1]
    return bool((chances > 0.0).all() and (chances[1:-1] ** 2 * (1.0 + 1e-12) >= chances[:-2] * chances[2:]).all())


def _without(others: Sequence[int], known: int, order: Sequence[int]) -> tuple[int, ...]:
    rest = list(others)
    for place in order:
        gone = min(rest[place], known)
        rest[place], known = rest[place] - gone, known - gone
    return tuple(rest)
