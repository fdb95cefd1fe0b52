"""Noisy totals of where people go, as a data provider would release them, on people who are made up.

One step of Lloyd's algorithm with public centres: for each centre how many people live nearest to it, and the sums of
where they go, counted from the middle of the square. Nothing but these totals is needed for centroids; and one person
who is somewhere else moves them by a known amount, which centroids of several steps have not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from beliefs.learning.noise import Below, below_from_bits, two_sided_geometric
from stream.social.draws import Draws, Floats
from stream.social.world import REGIONS, Integers, World

UNITS: Final = 1000
"""Places are told in thousandths of the square, so that noise on whole numbers has exactly the law that is claimed."""

_AT_ONCE: Final = 4096

CENTRES: Final = np.array([(region.east, region.north) for region in REGIONS])
CITY_OF_CENTRE: Final = np.array([region.city for region in REGIONS])


@dataclass(frozen=True)
class Question:
    """How many of each person's places are summed up; the first one decides for a centre."""

    places: int = 1

    @property
    def columns(self) -> int:
        """Of one centre: the count, and east and north of each place."""
        return 1 + 2 * self.places

    @property
    def width(self) -> int:
        return self.columns * len(REGIONS)

    @property
    def sensitivity(self) -> int:
        """One person elsewhere: two counts by 1, and each of the 2q sums by 1 at most, half from either end; in units.

        With sums that are not counted from the middle it would be 4q + 2.
        """
        return (2 + 2 * self.places) * UNITS

    def contributions(self, city: Integers, goes_to: Floats) -> Integers:
        """What each person adds: goes_to[person, rank] are shares of the square of his city."""
        people = np.arange(len(goes_to))
        centre = nearest_centre(city, goes_to[:, 0])
        added = np.zeros((len(goes_to), len(REGIONS), self.columns), dtype=np.int64)
        added[people, centre, 0] = UNITS
        sums = np.rint((goes_to[:, : self.places] - 0.5) * UNITS).astype(np.int64)
        added[people, centre, 1:] = sums.reshape(len(goes_to), -1)
        return added.reshape(len(goes_to), -1)


@dataclass(frozen=True, eq=False)
class Release:
    """`totals` in units; `noise` is the sensitivity that its scale is made for, which dependent people raise."""

    question: Question
    epsilon: Fraction
    noise: Fraction
    totals: Integers

    @property
    def scale(self) -> float:
        """Of the noise, in units."""
        return float(self.noise / self.epsilon)


def nearest_centre(city: Integers, homes: Floats) -> Integers:
    """Among the centres of one's own city."""
    apart = ((homes[:, None] - CENTRES) ** 2).sum(axis=2)
    found: Integers = np.where(city[:, None] == CITY_OF_CENTRE, apart, np.inf).argmin(axis=1)
    return found


def release(
    world: World, epsilon: Fraction, question: Question | None = None, seed: int = 1, dependent: Fraction = Fraction(1)
) -> Release:
    """`dependent` multiplies the noise: 1 is noise for people who do not depend on each other."""
    asked = Question() if question is None else question
    noise = asked.sensitivity * dependent
    below = _below(Draws.of(seed), f"noise {epsilon} {noise}")
    drawn = [two_sided_geometric(epsilon / noise, below) for _ in range(asked.width)]
    totals = asked.contributions(world.city, world.goes_to).sum(axis=0)
    return Release(asked, epsilon, noise, totals + np.array(drawn, dtype=np.int64))


def _below(draws: Draws, name: str) -> Below:
    waiting: list[int] = []
    refills = 0

    def bits(width: int) -> int:
        nonlocal refills
        drawn = 0
        for _ in range(-(-width // 64)):
            if not waiting:
                waiting.extend(draws.words(f"{name} {refills}", _AT_ONCE).tolist())
                refills += 1
            drawn = drawn << 64 | waiting.pop()
        return drawn >> (-width % 64)

    return below_from_bits(bits)
