"""A made-up country of friends: who lives where, where everybody goes, who knows whom. The same for ever for a seed.

It has the shape of a public data set of check-ins: three cities, eight regions with so many people each, six places
that a person goes to most, and friends who live near each other. Nothing of anybody real is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from stream.social.draws import Draws, Floats

Integers = NDArray[np.int64]


class Region(NamedTuple):
    """`east` and `north` are its middle, as shares of its city's square."""

    name: str
    city: int
    people: int
    east: float
    north: float


REGIONS: Final = (
    Region("Manhattan", 0, 997, 0.40, 0.62),
    Region("Brooklyn", 0, 507, 0.46, 0.34),
    Region("Queens", 0, 811, 0.72, 0.52),
    Region("San Jose", 1, 1228, 0.68, 0.26),
    Region("Oakland", 1, 862, 0.38, 0.74),
    Region("Pasadena", 2, 656, 0.74, 0.74),
    Region("Beverly Hills", 2, 1083, 0.30, 0.60),
    Region("Long Beach", 2, 825, 0.60, 0.22),
)
CITIES: Final = ((40.71, -73.95), (37.56, -122.10), (34.02, -118.25))
"""New York, San Francisco, Los Angeles: the latitude and longitude of each square's middle."""

SQUARE_KM: Final = 50.0
PEOPLE: Final = sum(region.people for region in REGIONS)
FRIENDSHIPS: Final = 47_502
FAVOURITES: Final = 6
GRID: Final = 20
"""Cells along one side of a city's square."""

SPREAD: Final = 0.0812
"""How far from the middle of their region people live: so that the cell where somebody lives has 8.38 bits."""

NEARBY: Final = 0.05
SOCIABLE: Final = 1.0
NEAREST: Final = 0.03
APART: Final = 0.02
"""Share of friendships between regions."""


@dataclass(frozen=True, eq=False)
class World:
    """`goes_to[person, rank]` are shares of the square of the person's city, the place where he is most first;
    `friends` are rows of two people, the lower number first."""

    region: Integers
    goes_to: Floats
    friends: Integers

    @property
    def size(self) -> int:
        return int(self.region.size)

    @property
    def city(self) -> Integers:
        found: Integers = np.array([region.city for region in REGIONS])[self.region]
        return found

    @property
    def homes(self) -> Floats:
        return self.goes_to[:, 0]

    def cells(self) -> Integers:
        """The cell of everybody's first place, cities numbered through."""
        along = np.minimum((self.homes * GRID).astype(np.int64), GRID - 1)
        found: Integers = self.city * GRID * GRID + along[:, 1] * GRID + along[:, 0]
        return found

    def friends_of(self, person: int) -> Integers:
        pairs = self.friends[(self.friends == person).any(axis=1)]
        others: Integers = pairs.sum(axis=1) - person
        return others

    def degrees(self) -> Integers:
        return np.bincount(self.friends.ravel(), minlength=self.size).astype(np.int64)

    def on_earth(self) -> Floats:
        """Latitude and longitude of all places, in degrees."""
        middle = np.array(CITIES)[self.city][:, None]
        north = (self.goes_to[..., 1] - 0.5) * SQUARE_KM / 111.195
        east = (self.goes_to[..., 0] - 0.5) * SQUARE_KM / (111.195 * np.cos(np.radians(middle[..., 0])))
        return np.stack([middle[..., 0] + north, middle[..., 1] + east], axis=-1)


def cell_centres() -> Floats:
    """Of one city's cells, as shares of its square, in the order of their numbers."""
    middles = (np.arange(GRID) + 0.5) / GRID
    east, north = np.meshgrid(middles, middles)
    return np.stack([east.ravel(), north.ravel()], axis=1)


def social_world(seed: int = 1, people: int = PEOPLE, friendships: int | None = None) -> World:
    """With fewer people every region and the number of friendships shrink alike."""
    require(len(REGIONS) <= people <= PEOPLE, f"a world has {len(REGIONS)} to {PEOPLE} people")
    draws = Draws.of(seed)
    ends = np.cumsum([region.people for region in REGIONS]) * people // PEOPLE
    region = np.repeat(np.arange(len(REGIONS)), np.diff(ends, prepend=0))
    middles = np.array([(each.east, each.north) for each in REGIONS])[region]
    homes = _inside(middles + SPREAD * draws.normal("homes", people, 2))
    others = homes[:, None] + NEARBY * draws.normal("places", people, FAVOURITES - 1, 2)
    goes_to = np.concatenate([homes[:, None], _inside(others)], axis=1)
    count = FRIENDSHIPS * people // PEOPLE if friendships is None else friendships
    return World(region, goes_to, _friends(draws, region, homes, count))


def _inside(places: Floats) -> Floats:
    """Whoever would live beyond the square lives at its edge."""
    found: Floats = np.clip(places, 0.0, np.nextafter(1.0, 0.0))
    return found


def _friends(draws: Draws, region: Integers, homes: Floats, count: int) -> Integers:
    """In a region two people know each other the sooner, the more sociable both and the nearer their homes are."""
    sociable = np.exp(SOCIABLE * draws.normal("sociable", region.size))
    across = round(APART * count)
    sizes = np.bincount(region, minlength=len(REGIONS))
    ends = np.cumsum(sizes) * (count - across) // region.size
    rows = [_across(draws, region, sociable, across)]
    for number, wanted in enumerate(np.diff(ends, prepend=0).tolist()):
        members = np.flatnonzero(region == number)
        rows.append(members[_near_pairs(draws.even(f"friends {number}", members.size * (members.size - 1) // 2),
                                        homes[members], sociable[members], wanted)])  # fmt: skip
    found = np.sort(np.concatenate(rows), axis=1)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def _near_pairs(chances: Floats, homes: Floats, sociable: Floats, wanted: int) -> Integers:
    """So many different pairs, each time in proportion to their weights: those whose exponential clock rings first."""
    one, two = np.triu_indices(len(homes), 1)
    require(wanted <= one.size, "a region has no more friendships than pairs")
    apart = np.hypot(*(homes[one] - homes[two]).T)
    rings = -np.log(chances) * (apart + NEAREST) ** 2 / (sociable[one] * sociable[two])
    first = np.argsort(rings, kind="stable")[:wanted]
    return np.stack([one[first], two[first]], axis=1)


def _across(draws: Draws, region: Integers, sociable: Floats, wanted: int) -> Integers:
    shares = np.cumsum(sociable) / sociable.sum()
    pairs = np.searchsorted(shares, draws.even("across", 8 * wanted + 64, 2)).clip(max=region.size - 1)
    pairs = np.sort(pairs[region[pairs[:, 0]] != region[pairs[:, 1]]], axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    return pairs[np.sort(first)[:wanted]]
