"""What friends' places tell of each other: a law of pairs along a graph of friends. Note: friends.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.laws.components import Components, components_of
from beliefs.laws.forest import RAREST
from beliefs.laws.rows import divided
from beliefs.laws.tree import TreeLaw
from beliefs.native import kernel, part_of_caller
from beliefs.simplex import Vector, normalised, probabilities

UNMET = -2
PLACES_MAX = 4096
"""A kernel has as many rows and columns as there are places: 134 MB at most."""


_LN2 = math.log(2.0)
_FARTHEST, _LEAST_LOG = 1e300, 700.0
"""Where a power is far below what is allowed."""


@dataclass(frozen=True, eq=False)
class FriendsLaw:
    """Each user is at one of some places; `friends` are rows of two users each, in either order.

    A friend of somebody at y is at x in proportion to people[x] (distances[y, x] + offset)^-exponent; without `people`
    all places count alike. Pairs only: where friends form a circle, no joint law follows from this.
    """

    users: int
    friends: Places
    distances: Matrix
    offset: float
    exponent: float
    people: Vector | None = None

    def __post_init__(self) -> None:
        if self.users < 1:
            raise Invalid("users", "must be 1 or more")
        _check_friends(self.friends, self.users)
        _check_distances(self.distances)
        if not (self.offset > 0.0 and math.isfinite(self.offset)):
            raise Invalid("offset", "must be a finite number above 0: at distance 0 the chance would have no end")
        if not (self.exponent >= 0.0 and math.isfinite(self.exponent)):
            raise Invalid("exponent", "must be a finite number, 0 or more")
        if self.people is not None and probabilities(self.people, "people").size != len(self.distances):
            raise Invalid("people", f"has {self.people.size} entries, but there are {len(self.distances)} places")
        if _power((float(self.distances.max()) + self.offset) / self.offset, self.exponent) < RAREST:
            raise Invalid("exponent", "makes the furthest place less likely than 2^-900 of the nearest")

    @property
    def size(self) -> int:
        return self.users

    def nearness(self) -> Matrix:
        """((distance + offset) / offset)^-exponent: 1 at one's own place."""
        return nearness_at(self.distances, self.offset, self.exponent)

    def kernel(self) -> Matrix:
        """kernel[y, x] is the chance that a friend of somebody at y is at x: the same in both directions."""
        near = self.nearness()
        return divided(near if self.people is None else near * normalised(self.people))

    def single(self) -> Vector:
        """The law of one user's place that goes with the kernel in both directions; 0 where nobody is."""
        near, people = self.nearness(), np.ones(len(self.distances))
        if self.people is not None:
            people = normalised(self.people)
        return normalised(people * np.add.accumulate(near * people, axis=1)[:, -1])

    def components(self) -> Components:
        """Friends of friends hang together, too, unless distance says nothing at all."""
        telling = self.exponent > 0.0 and self.distances.max() > 0.0
        return components_of(self.users, self.friends if telling else self.friends[:0])

    def tree(self) -> TreeLaw:
        """The joint law, which there is if no friends form a circle. Its values are the numbers of places."""
        parents = np.full(self.users, UNMET, dtype=np.int64)
        circle = _root(parents, *_lists(self.users, self.friends), np.empty(self.users, dtype=np.int64))
        if circle >= 0:
            raise Invalid("friends", f"of user {circle} form a circle, and pairs by themselves do not say a joint law")
        values = np.arange(float(len(self.distances)))
        nothing = np.zeros(self.users, dtype=np.int64)
        return TreeLaw(parents, self.single()[None], self.kernel()[None], nothing, values)


def _check_friends(friends: Places, users: int) -> None:
    if friends.ndim != 2 or friends.shape[1] != 2 or friends.dtype != np.int64:
        raise Invalid("friends", "must be rows of two users each, as whole numbers")
    for what, wrong in (
        (f"names a user who is not 0 to {users - 1}", ((friends < 0) | (friends >= users)).any(axis=1)),
        ("names one user twice", friends[:, 0] == friends[:, 1]),
    ):
        if bool(wrong.any()):
            raise Invalid("friends", f"entry {int(wrong.argmax())} {what}")
    pairs = np.sort(friends, axis=1)
    keys = pairs[:, 0] * users + pairs[:, 1]
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0)
    if again.size:
        raise Invalid("friends", f"entry {order[again[0] + 1]} is that of {order[again[0]]} again")


def _check_distances(distances: Matrix) -> None:
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1] or not 0 < len(distances) <= PLACES_MAX:
        raise Invalid("distances", f"must be a square table of 1 to {PLACES_MAX} places")
    with np.errstate(invalid="ignore"):
        apart = distances != distances.T
    for what, wrong in (
        ("must be a finite number", ~np.isfinite(distances)),
        ("is negative", distances < 0.0),
        ("must be 0, as a place is at no distance from itself", np.eye(len(distances), dtype=bool) & (distances > 0.0)),
        ("differs from that the other way round", apart),
    ):
        if bool(wrong.any()):
            row, column = np.argwhere(wrong)[0]
            raise Invalid("distances", f"entry [{row}, {column}] {what}")


def nearness_at(distances: Matrix, offset: float, exponent: float) -> Matrix:
    """((distance + offset) / offset)^-exponent of a table of distances."""
    near = np.empty_like(distances)
    _fill(distances, offset, exponent, near)
    return near


def city_blocks(places: Matrix) -> Matrix:
    """Distances |x - y|_1 between places, a row of coordinates each."""
    if places.ndim != 2 or places.shape[1] == 0 or not 0 < len(places) <= PLACES_MAX:
        raise Invalid("places", f"must be 1 to {PLACES_MAX} rows of coordinates")
    if not bool(np.isfinite(places).all()):
        raise Invalid("places", f"entry {int(np.argwhere(~np.isfinite(places))[0][0])} must hold finite numbers")
    apart = np.zeros((len(places), len(places)))
    for column in places.T:
        apart = apart + np.abs(column[:, None] - column)
    return apart


def _lists(users: int, friends: Places) -> tuple[Places, Places]:
    """Everybody's friends one after the other, and where each one's begin."""
    both = np.concatenate([friends, friends[:, ::-1]])
    order = np.argsort(both[:, 0], kind="stable")
    begin = np.searchsorted(both[order, 0], np.arange(users + 1))
    return begin.astype(np.int64), np.ascontiguousarray(both[order, 1])


@kernel
def _root(parents: Places, begin: Places, listed: Places, waiting: Places) -> int:
    """Makes each component's first user its root. A user who is reached twice is returned, otherwise -1."""
    for first in range(parents.size):
        if parents[first] != UNMET:
            continue
        parents[first], waiting[0], count = -1, first, 1
        while count > 0:
            count -= 1
            one = waiting[count]
            for place in range(begin[one], begin[one + 1]):
                other = listed[place]
                if other == parents[one]:
                    continue
                if parents[other] != UNMET:
                    return int(other)
                parents[other] = one
                waiting[count] = other
                count += 1
    return -1


@kernel
def _fill(distances: Matrix, offset: float, exponent: float, near: Matrix) -> None:
    for row in range(near.shape[0]):
        for column in range(near.shape[1]):
            near[row, column] = _power((distances[row, column] + offset) / offset, exponent)


@part_of_caller
def _power(base: float, exponent: float) -> float:
    """base^-exponent for a base of at least 1, from + - * / alone: the same bits on every machine."""
    if base > _FARTHEST:
        return 0.0 if exponent > 0.0 else 1.0
    doubled = 0
    while base > 1.5:
        base *= 0.5
        doubled += 1
    ratio = (base - 1.0) / (base + 1.0)
    square, series = ratio * ratio, 0.0
    for odd in range(27, 0, -2):
        series = series * square + 1.0 / odd
    left = exponent * (doubled * _LN2 + 2.0 * ratio * series)
    if left > _LEAST_LOG:
        return 0.0
    halved = 0
    while left > _LN2:
        left -= _LN2
        halved += 1
    told = 1.0
    for term in range(19, 0, -1):
        told = 1.0 - left / term * told
    for _ in range(halved):
        told *= 0.5
    return told
