"""A sum over the people of a window, or a mean or a count: which is the same, as their number is known. Proof:
account.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.crowd.divergence import Integers, apart, moved_apart
from beliefs.crowd.households import Household
from beliefs.crowd.informed import Others
from beliefs.crowd.noise import NARROW, alone, blurred
from beliefs.crowd.seen import EXACT, SOUND, Target
from beliefs.crowd.smooth import Smooth
from beliefs.crowd.sums import Sum, added, law, times, total
from beliefs.crowd.worst import Pair
from beliefs.simplex import Vector, normalised

WIDE: Final = 6_144
"""Sums that spread over more places are worked out by their frequencies."""

DIRECT_MAX: Final = 1 << 15
"""Those with too many frequencies that spread over more places than this are taken to tell all."""

NOISY_MAX: Final = 1 << 29
"""Places times distances of a sum with noise; what has more is taken to tell all: a fraction of a second."""

VALUES_MAX: Final = 1 << 12


class Summed:
    """The sum of everybody's place on the lattice."""

    noisy = True
    blurs_known = False

    def __init__(self, laws: Sequence[Vector], household: Vector | None) -> None:
        for each in laws:
            if each.size > VALUES_MAX:
                raise Invalid("law", f"has {each.size:,} places; a sum over at most {VALUES_MAX:,} is accounted for")
        self._wholes = [law(normalised(each)) for each in laws]
        self._pairs: dict[Target, tuple[Pair, ...]] = {}
        self._moves: dict[Target, Integers] = {}
        dentless = all(log_concave(each) for each in laws) and household is None
        for kind, each in enumerate(laws):
            self._moves[Target(kind)] = _moves(each, only_farthest=dentless)
        self._span = max((each.mass.size - 1 for each in self._wholes), default=0)
        if household is not None:
            for size in range(1, household.ndim + 1):
                home, kind = Household(household, size), len(self._wholes)
                self._wholes.append(home.summed())
                self._span = max(self._span, size * (household.shape[0] - 1))
                for own in range(size):
                    self._pairs[Target(kind, own)] = tuple(home.pairs(own))
        self._smooth = Smooth(self._wholes)
        self._kept = lru_cache(maxsize=256)(self._law)
        self._many = lru_cache(maxsize=256)(self._times)

    def told(
        self, target: Target, others: Others, epsilon: float, scale: Fraction | None, *, roughly: bool = False
    ) -> float:
        if scale is not None and scale * Fraction(epsilon) >= self._span:
            return 0.0
        if scale is not None and scale > NARROW:  # larger noise only hides more
            near = self.told(target, others, epsilon, NARROW, roughly=roughly)
            return min(near, alone(self._span, scale, epsilon))
        rest = self._kept(others, scale)
        if rest is None:
            return 1.0
        if target in self._moves:
            moves = self._moves[target]
            moves = moves[[0, -1]] if roughly and moves.size else moves
            # With noise alone there is a way out, so that nobody has to wait for wide noise of little use.
            if scale is not None and moves.size * rest.mass.size > NOISY_MAX:
                return 1.0
            return moved_apart(rest, moves, epsilon)
        pairs = self._pairs[target]
        return max((apart(added(rest, one), added(rest, two), epsilon) for one, two in pairs), default=0.0)

    def method(self, others: Others, scale: Fraction | None) -> str:
        """What is too wide to be worked out is taken to tell all, or as much as with less noise."""
        wide = scale is not None and scale > NARROW
        return SOUND if wide or self._kept(others, scale) is None else EXACT

    def _law(self, others: Others, scale: Fraction | None) -> Sum | None:
        spread = self._smooth.spread(others)
        found = self._smooth.summed(others) if spread > WIDE else None
        if found is None:
            if spread > DIRECT_MAX:
                return None
            found = total([self._many(kind, count) for kind, count in enumerate(others) if count])
        return blurred(found, scale)

    def _times(self, kind: int, count: int) -> Sum:
        return times(self._wholes[kind], count)


def _moves(mass: Vector, *, only_farthest: bool) -> Integers:
    """Two values of one person move the sum against itself; under laws without a dent the farthest are told best."""
    (values,) = np.nonzero(mass)
    found: Integers = np.unique(values[:, np.newaxis] - values[np.newaxis, :])
    found = np.asarray(found[found != 0], dtype=np.int64)
    return found[[0, -1]] if only_farthest and found.size else found


def log_concave(mass: Vector) -> bool:
    """Whether p(k)^2 >= p(k - 1) p(k + 1) holds throughout, without gaps: exactly, as the doubles are."""
    (values,) = np.nonzero(mass)
    exact = [Fraction(float(chance)) for chance in mass[values[0] : values[-1] + 1]]
    return all(exact) and all(exact[k] ** 2 >= exact[k - 1] * exact[k + 1] for k in range(1, len(exact) - 1))
