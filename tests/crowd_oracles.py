"""Slow answers about exact sums over crowds, right by definition: every combination, in fractions."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Law = Mapping[int, Fraction]


def fractions_of(law: Iterable[float]) -> list[Fraction]:
    """The doubles as they are, divided by their exact sum."""
    exact = [Fraction(float(chance)) for chance in law]
    whole = sum(exact, Fraction(0))
    return [chance / whole for chance in exact]


def some_law(generator: np.random.Generator, size: int) -> npt.NDArray[np.float64]:
    """Some places of it may be impossible, but not all but one."""
    law: npt.NDArray[np.float64] = generator.dirichlet(np.full(size, generator.choice([0.3, 1.0, 5.0])))
    if size > 2 and generator.random() < 0.3:
        law[generator.integers(size)] = 0.0
    law /= law.sum()
    return law


def sum_law(laws: Iterable[Sequence[Fraction]]) -> Law:
    found: Law = {0: Fraction(1)}
    for law in laws:
        after: dict[int, Fraction] = defaultdict(Fraction)
        for value, chance in found.items():
            for more, its in enumerate(law):
                after[value + more] += chance * its
        found = after
    return found


def apart(one: Law, two: Law, factor: Fraction, *, intervals: bool = False) -> Fraction:
    """The largest P(T) - factor Q(T), by every place, or by every interval."""
    places = sorted({*one, *two})
    gains = [one.get(place, Fraction(0)) - factor * two.get(place, Fraction(0)) for place in places]
    if not intervals:
        return sum((gain for gain in gains if gain > 0), Fraction(0))
    spans = itertools.combinations(range(len(gains) + 1), 2)
    return max([Fraction(0), *(sum(gains[first:last], Fraction(0)) for first, last in spans)])


def moved(law: Law, by: int) -> Law:
    return {value + by: chance for value, chance in law.items()}


def delta_of(
    laws: Sequence[Sequence[Fraction]], factor: Fraction, members: Iterable[int], *, intervals: bool = False
) -> Fraction:
    """The worst of these members of a crowd in which all others are unknown."""
    worst = Fraction(0)
    for member in members:
        others = sum_law(law for place, law in enumerate(laws) if place != member)
        possible = [value for value, chance in enumerate(laws[member]) if chance > 0]
        for one, two in itertools.permutations(possible, 2):
            worst = max(worst, apart(moved(others, one), moved(others, two), factor, intervals=intervals))
    return worst
