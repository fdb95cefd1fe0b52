"""Simulated gaze: ten people who look about on a screen, 50 samples a second; and the models that are learnt of it.

A look rests (fixation: a slow drift and tremor), jumps (saccade: one to three samples on the way, farther for those of
wide reach) or follows something (smooth pursuit: a straight way at constant speed). People differ in how long they
rest, how far they jump, how often and how fast they follow, and around which place. Nobody's data are in here.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator
from paper_releases import Floats, Integers

from beliefs.chain import Chain, Row
from beliefs.contexts import Context, chain_of
from beliefs.distance import Distance, euclidean

PEOPLE: Final = 10
RATE: Final = 50
STATES_MOST: Final = 40_000


class Person(NamedTuple):
    rest: float
    """Mean seconds of a fixation."""
    reach: float
    """Mean length of a jump, in screens."""
    follow: float
    """How often a rest is followed by a pursuit instead of a jump."""
    speed: float
    """Of a pursuit, in screens a second."""
    middle: tuple[float, float]


def people(count: int = PEOPLE, seed: int = 11) -> list[Person]:
    source = np.random.default_rng(seed)
    spread = np.linspace(0.0, 1.0, count)
    return [
        Person(
            0.18 + 0.5 * spread[source.permutation(count)[0]],
            0.06 + 0.22 * float(spread[place]),
            0.05 + 0.5 * float(source.random()),
            0.1 + 0.4 * float(source.random()),
            (0.3 + 0.4 * float(source.random()), 0.3 + 0.4 * float(source.random())),
        )
        for place in range(count)
    ]


def looks(person: Person, samples: int, source: Generator) -> Floats:
    """Coordinates in [0, 1], a row a sample."""
    parts: list[Floats] = []
    at, left = np.array(person.middle), samples
    while left > 0:
        count = min(left, max(3, int(source.gamma(4.0, person.rest / 4.0) * RATE)))
        drift = np.cumsum(source.normal(0.0, 0.0009, (count, 2)), axis=0)
        parts.append(at + drift + source.normal(0.0, 0.0012, (count, 2)))
        at, left = at + drift[-1], left - count
        if left <= 0:
            break
        if source.random() < person.follow:
            angle, seconds = source.random() * 2 * math.pi, 0.4 + source.exponential(0.5)
            count = min(left, int(seconds * RATE))
            way = np.array([math.cos(angle), math.sin(angle)]) * person.speed / RATE
            to = at + np.arange(1, count + 1)[:, None] * way
        else:
            angle, length = source.random() * 2 * math.pi, source.gamma(2.0, person.reach / 2.0)
            home = 0.25 * (np.array(person.middle) - at)
            target = _inside(at + home + length * np.array([math.cos(angle), math.sin(angle)]))
            count = min(left, 1 + int(length > 0.08) + int(length > 0.25))
            to = at + (target - at) * (np.arange(1, count + 1) / count)[:, None]
        to = _inside(to)
        parts.append(to)
        at, left = to[-1], left - count
    found: Floats = _inside(np.concatenate(parts)[:samples])
    return found


def _inside(points: Floats) -> Floats:
    """Mirrored at the edges of the screen."""
    turned = np.abs(points) % 2.0
    inside: Floats = np.clip(np.where(turned > 1.0, 2.0 - turned, turned), 0.0, 1.0 - 1e-9)
    return inside


def streams(samples: int, side: int, count: int = PEOPLE, seed: int = 11) -> list[Integers]:
    """Of each person so many samples, as cells of a grid of `side` by `side`, row by row."""
    found = []
    for number, person in enumerate(people(count, seed)):
        points = looks(person, samples, np.random.default_rng((seed, number)))
        columns, rows = (points[:, axis] * side for axis in (0, 1))
        found.append(rows.astype(np.int64) * side + columns.astype(np.int64))
    return found


def middles(side: int) -> Floats:
    """Coordinates of the middle of each cell."""
    cells = np.arange(side * side)
    return np.stack([(cells % side + 0.5) / side, (cells // side + 0.5) / side], axis=1)


def distance_of(side: int) -> Distance:
    return euclidean(middles(side).tolist())


def first_order(sequences: list[Integers], side: int) -> Chain:
    """Frequencies of pairs, from a uniform start, as in the paper; where nobody looked, a step to a neighbour."""
    rows = _rows(sequences, side)
    size = side * side
    return Chain.from_rows(np.full(size, 1.0 / size), [rows[(cell,)] for cell in range(size)])


def second_order(sequences: list[Integers], side: int, most: int = STATES_MOST) -> Chain:
    """Frequencies of triples for the pairs that are seen most; other pairs fall back to their last cell."""
    size = side * side
    laws: dict[Context, Row] = dict(_rows(sequences, side))
    triples, counts = _counted(
        [(each[:-2] * size + each[1:-1]) * size + each[2:] for each in sequences if each.size > 2]
    )
    pairs, following = triples // size, triples % size
    heads, begins = np.unique(pairs, return_index=True)
    ends = np.append(begins[1:], pairs.size)
    totals = np.add.reduceat(counts, begins)
    listed = np.argsort(-totals, kind="stable")[: most - size]
    for place in listed[totals[listed] > 1].tolist():
        inside = slice(int(begins[place]), int(ends[place]))
        pair = int(heads[place])
        laws[pair // size, pair % size] = following[inside], counts[inside] / counts[inside].sum()
    everywhere = np.bincount(following, weights=counts, minlength=size)
    visited = np.flatnonzero(everywhere).astype(np.int64)
    laws[()] = visited, everywhere[visited] / everywhere.sum()
    return chain_of(np.full(size, 1.0 / size), laws)


def _rows(sequences: list[Integers], side: int) -> dict[Context, Row]:
    size = side * side
    codes, counts = _counted([each[:-1] * size + each[1:] for each in sequences])
    before, after = codes // size, codes % size
    ends = np.searchsorted(before, np.arange(size + 1))
    rows: dict[Context, Row] = {}
    for cell in range(size):
        inside = slice(int(ends[cell]), int(ends[cell + 1]))
        if inside.start < inside.stop:
            rows[(cell,)] = after[inside], counts[inside] / counts[inside].sum()
        else:
            rows[(cell,)] = _step_around(cell, side)
    return rows


def _step_around(cell: int, side: int) -> Row:
    row, column = divmod(cell, side)
    around = [(row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    there = sorted(r * side + c for r, c in around if 0 <= r < side and 0 <= c < side)
    return np.array(there, dtype=np.int64), np.full(len(there), 1.0 / len(there))


def _counted(codes: list[Integers]) -> tuple[Integers, Floats]:
    found, counts = np.unique(np.concatenate(codes), return_counts=True)
    return found, counts.astype(np.float64)
