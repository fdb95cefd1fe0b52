"""Windows worked out from their definition, in fractions and by enumeration: every path of states, every string that
the channels can give, at every prefix.

The channels' integers are the engine's; everything else is not: what is believed is the sum over all paths.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

import numpy as np

from beliefs.chain import Chain
from beliefs.distance import Distance
from mechanisms import registry
from mechanisms.contract import TOTAL, Workspace, new_workspace
from mechanisms.sequence.window import LEAST_CAP, NOTHING_DRAWN

Matrix = list[list[Fraction]]


def exp(power: float) -> Fraction:
    with localcontext() as context:
        context.prec = 50
        return Fraction(Decimal(power).exp())


def power(matrix: Matrix, steps: int) -> Matrix:
    size = range(len(matrix))
    reached = [[Fraction(x == y) for y in size] for x in size]
    for _ in range(steps):
        reached = [[sum((row[s] * matrix[s][y] for s in size), Fraction(0)) for y in size] for row in reached]
    return reached


@dataclass(frozen=True)
class Release:
    """What one position gave: the value, and how likely each value gives it."""

    position: int
    drawn: int
    chances: tuple[Fraction, ...]


class Oracle:
    """One window: the law of each path of states at its positions, `steps[i]` steps of the model before position i."""

    def __init__(self, chain: Chain, start: Sequence[float], steps: Sequence[int], distance: Distance | None = None):
        states = range(chain.size)
        rows = []
        for state in states:
            row = [Fraction(0)] * chain.size
            for following, chance in zip(*(column.tolist() for column in chain.row(state)), strict=True):
                row[following] = Fraction(chance)
            rows.append([chance / sum(row) for chance in row])
        first = [Fraction(mass) for mass in start]
        moves = [power(rows, count) for count in steps[1:]]
        self.paths = []
        for path in itertools.product(states, repeat=len(steps)):
            chance = first[path[0]] / sum(first)
            for move, (before, now) in zip(moves, itertools.pairwise(path), strict=True):
                chance *= move[before][now]
            if chance:
                self.paths.append((chance, path))
        self.values = chain.symbol_of.tolist()
        self.symbols = chain.symbols
        self._code = registry.MECHANISMS["near" if distance is not None else "optimal"].code
        self._work: Workspace = new_workspace(chain.symbols, distance)

    def chance_of(self, releases: Sequence[Release], path: Sequence[int]) -> Fraction:
        return prod((each.chances[self.values[path[each.position]]] for each in releases), start=Fraction(1))

    def states_at(self, position: int, releases: Sequence[Release], count: int) -> list[Fraction]:
        """What is believed about a position's state in the world of tails."""
        masses = [Fraction(0)] * count
        for chance, path in self.paths:
            masses[path[position]] += chance * self.chance_of(releases, path)
        return [mass / sum(masses) for mass in masses]

    def belief_at(self, position: int, releases: Sequence[Release]) -> list[Fraction]:
        states = self.states_at(position, releases, len(self.values))
        return [
            sum((m for m, v in zip(states, self.values, strict=True) if v == x), Fraction(0))
            for x in range(self.symbols)
        ]

    def channel(self, belief: Sequence[Fraction], cap: Fraction) -> list[tuple[int, tuple[Fraction, ...]]]:
        """What a channel of this cap may give, and how likely each value gives it: the integers that are sampled."""
        law, limit = np.array([float(mass) for mass in belief]), float(cap)
        pad = np.ceil((2.0 * limit + 1.0) / (limit - 1.0)) + 1.0
        constants = np.array([0.0, 1.0, limit, limit, 1.0 / limit, pad])
        registry.prepare(self._code, law, constants, self._work)
        count, rows = int(self._work.size[0]), []
        for x in range(self.symbols):
            registry.row(self._code, x, law, self._work)
            rows.append([Fraction(int(units), TOTAL) for units in self._work.row[:count]])
        heads = self._work.head[:count].tolist()
        return [(head, tuple(row[i] for row in rows)) for i, head in enumerate(heads)]

    def strings(self, order: Sequence[int], cap: Fraction, least: float) -> Iterator[list[Release]]:
        """Every string that can be released, at every prefix."""

        def visit(releases: list[Release], cap: Fraction) -> Iterator[list[Release]]:
            if releases:
                yield releases
            if len(releases) == len(order) or cap < least:
                return
            position = order[len(releases)]
            belief = self.belief_at(position, releases)
            for drawn, chances in self.channel(belief, cap):
                law = sum((b * k for b, k in zip(belief, chances, strict=True)), Fraction(0))
                yield from visit([*releases, Release(position, drawn, chances)], cap * law / max(chances))

        yield from visit([], cap)

    def extremes(self, releases: Sequence[Release]) -> tuple[Fraction, Fraction]:
        """The largest and the smallest P(o|x)/P(o) under tails, over all windows of values, also impossible ones."""
        law = sum((chance * self.chance_of(releases, path) for chance, path in self.paths), Fraction(0))
        largest, smallest = (prod((f(each.chances) for each in releases), start=Fraction(1)) for f in (max, min))
        return largest / law, smallest / law


def of_drawn(oracle: Oracle, order: Sequence[int], drawn: Sequence[int], cap: float) -> list[Release]:
    """The releases that the oracle's channels make of what was drawn."""
    releases: list[Release] = []
    left = Fraction(cap)
    for position in order:
        if left < LEAST_CAP:
            assert drawn[position] == NOTHING_DRAWN
            continue
        belief = oracle.belief_at(position, releases)
        chances = dict(oracle.channel(belief, left))[drawn[position]]
        left *= sum(b * k for b, k in zip(belief, chances, strict=True)) / max(chances)
        releases.append(Release(position, drawn[position], chances))
    return releases
