"""A mechanism's whole channel, taken down through its three functions, and exact questions about it.

All comparisons are between integers: a belief's doubles are fractions with a power of two below, rows are whole units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from beliefs.distance import Distance, absolute, equal, euclidean, from_table, haversine, squared
from beliefs.native import kernel
from beliefs.rounding import UNITS_PER_NAT
from mechanisms import registry
from mechanisms.contract import SHAVE_UNITS, Floats, Integers, Workspace, constants_of, new_workspace
from mechanisms.sequence import forecast

Ratios = tuple[float, float, float]
Prepare = Callable[[Floats, Floats, Workspace], Ratios]
Row = Callable[[int, Floats, Workspace], None]
Column = Callable[[int, Floats, Workspace], Ratios]


class Subject(NamedTuple):
    """What the laws are asked of: a registered mechanism, or one with a planted fault."""

    name: str
    holds_epsilon: bool
    row_epsilons: float
    describe: Callable[[Floats, Floats, Workspace], Channel]
    distance_of: Callable[[int], Distance] = lambda symbols: equal()


class Channel(NamedTuple):
    rows: list[list[int]]  # rows[x][i]: units of a(released[i] | x)
    released: list[int]
    worst: Ratios
    columns: list[tuple[list[float], Ratios]]  # likelihoods over x, and the ratios reported with them


def epsilon_units(nats: float) -> int:
    return math.floor(Fraction(nats) * UNITS_PER_NAT)


@lru_cache(maxsize=1024)
def design(units: int) -> Floats:
    """The constants that a mechanism is given for a promise of this many units."""
    return np.array(constants_of(units - SHAVE_UNITS))


@lru_cache(maxsize=1024)
def exponential_floor(units: int) -> tuple[int, int]:
    """A fraction that is not above exp(units): a channel within it is within the exponential."""
    with localcontext() as context:
        context.prec = 60
        context.rounding = ROUND_FLOOR
        fraction = Fraction((Decimal(units) / Decimal(UNITS_PER_NAT)).exp().next_minus())
    return fraction.numerator, fraction.denominator


@kernel
def _take_down(
    code: int,
    belief: Floats,
    constants: Floats,
    work: Workspace,
    rows: Integers,
    likelihoods: Floats,
    ratios: Floats,
) -> int:
    ratios[0, 0], ratios[0, 1], ratios[0, 2] = registry.prepare(code, belief, constants, work)
    count = work.size[0]
    for x in range(belief.shape[0]):
        registry.row(code, x, belief, work)
        for i in range(count):
            rows[x, i] = work.row[i]
    for i in range(count):
        ratios[i + 1, 0], ratios[i + 1, 1], ratios[i + 1, 2] = registry.column(code, i, belief, work)
        for x in range(belief.shape[0]):
            likelihoods[i, x] = work.likelihood[x]
    return int(count)


def registered(name: str, *, drawn: bool = False, distance: str = "") -> Subject:
    """A mechanism of the registry, compiled. `drawn` asks a forecast for a draw from the belief; `distance` is one of
    DISTANCES."""
    mechanism = registry.MECHANISMS[name]

    def describe(belief: Floats, constants: Floats, work: Workspace) -> Channel:
        symbols = belief.shape[0]
        work.size[forecast.DRAW] = int(drawn)
        rows = np.zeros((symbols, symbols + 2), dtype=np.int64)
        likelihoods = np.zeros((symbols + 2, symbols))
        ratios = np.zeros((symbols + 3, 3))
        count = _take_down(mechanism.code, belief, constants, work, rows, likelihoods, ratios)
        triples: list[Ratios] = [tuple(triple) for triple in ratios[: count + 1].tolist()]
        return Channel(
            rows[:, :count].tolist(),
            work.head[:count].tolist(),
            triples[0],
            list(zip(likelihoods[:count].tolist(), triples[1:], strict=True)),
        )

    said = ", ".join([name, *(["drawn"] if drawn else []), *([distance] if distance else [])])
    costs = DISTANCES.get(distance, lambda symbols: equal())
    return Subject(said, mechanism.holds_epsilon, mechanism.row_epsilons, describe, costs)


@lru_cache(maxsize=256)
def scattered(symbols: int) -> Distance:
    """Costs without any order, and no two of them alike."""
    costs = np.random.default_rng(symbols).uniform(0.1, 1.0, (symbols, symbols))
    np.fill_diagonal(costs, 0.0)
    return from_table(costs, symbols)


DISTANCES: dict[str, Callable[[int], Distance]] = {
    "scattered": scattered,
    "line": lambda symbols: absolute(range(symbols)),
    "squares": lambda symbols: squared(range(symbols)),
    "plane": lambda symbols: euclidean([(x % 7, x // 7) for x in range(symbols)]),
    "globe": lambda symbols: haversine([(x % 90, (7 * x) % 180) for x in range(symbols)]),
    "right is dear": lambda symbols: from_table(np.eye(symbols) + 0.5, symbols, as_costs=True),
    "free": lambda symbols: from_table(np.zeros((symbols, symbols)), symbols),
}

SUBJECTS = (
    *(registered(name) for name in registry.MECHANISMS),
    registered("forecast", drawn=True),
    registered("near", distance="scattered"),
)


def by_hand(
    name: str,
    holds_epsilon: bool,
    prepare: Prepare,
    row: Row,
    column: Column,
    row_epsilons: float = 2.0,
    distance: str = "",
) -> Subject:
    """The same from three plain functions."""

    def describe(belief: Floats, constants: Floats, work: Workspace) -> Channel:
        worst = prepare(belief, constants, work)
        count = int(work.size[0])
        released = work.head[:count].tolist()
        rows = []
        for x in range(belief.shape[0]):
            row(x, belief, work)
            rows.append(work.row[:count].tolist())
        columns = []
        for i in range(count):
            ratios = column(i, belief, work)
            columns.append((work.likelihood.tolist(), ratios))
        return Channel(rows, released, worst, columns)

    costs = DISTANCES.get(distance, lambda symbols: equal())
    return Subject(name, holds_epsilon, row_epsilons, describe, costs)


def channel_of(subject: Subject, belief: Floats, units: int) -> Channel:
    return subject.describe(belief, design(units), workspace_of(subject, belief.shape[0]))


def workspace_of(subject: Subject, symbols: int) -> Workspace:
    return new_workspace(symbols, subject.distance_of(symbols))


def relabelled(subject: Subject, order: Integers) -> Subject:
    """The same for values with other names: its errors cost what they cost before."""

    def distance_of(symbols: int) -> Distance:
        distance = subject.distance_of(symbols)
        costs = distance.costs if distance.costs.size == 0 else distance.costs[np.ix_(order, order)]
        places = distance.places if distance.places.size == 0 else distance.places[order]
        return distance._replace(costs=np.ascontiguousarray(costs), places=np.ascontiguousarray(places))

    return subject._replace(distance_of=distance_of)


def whole(belief: Floats) -> list[int]:
    """The belief as integers in proportion to its doubles: dividing by their sum gives the law they stand for."""
    pairs = [mass.as_integer_ratio() for mass in belief.tolist()]
    common = max(below for _, below in pairs)  # powers of two, so the largest is a multiple of all
    return [above * (common // below) for above, below in pairs]


class Extent(NamedTuple):
    """One output's exact extremes. `marginal` and `total` belong together: p(y) = marginal / total units."""

    smallest: int
    largest: int
    marginal: int
    total: int

    def within(self, above: int, below: int) -> tuple[bool, bool]:
        """Whether a/p and p/a stay within above/below for every x."""
        return (
            self.largest * self.total * below <= above * self.marginal,
            self.marginal * below <= above * self.smallest * self.total,
        )

    def ratios(self) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
        """max a/p, max p/a and max a/a'; None is infinite."""
        return (
            Fraction(self.largest * self.total, self.marginal) if self.marginal else None,
            Fraction(self.marginal, self.smallest * self.total) if self.smallest else None,
            Fraction(self.largest, self.smallest) if self.smallest else None,
        )


def extents(channel: Channel, belief: Floats) -> Iterator[Extent]:
    masses = whole(belief)
    total = sum(masses)
    for i in range(len(channel.released)):
        column = [row[i] for row in channel.rows]
        marginal = sum(mass * units for mass, units in zip(masses, column, strict=True))
        yield Extent(min(column), max(column), marginal, total)
