"""Tighter bounds for the sequence that really happened: Renyi, and the law of the losses itself. Proof: losses.md.

Like those of `path.py` they hold with probability 1 - delta for the true values, never for the worst sequence: none of
them is the leak that the definition of sequence information privacy bounds, and none may be spent from a budget of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.checks import require
from beliefs.leakage.sequence import exact_law, log_up
from beliefs.simplex import Vector

Integers = npt.NDArray[np.int64]

CELLS = 1 << 14
_FINEST = 40
"""Losses are counted in 2^-40 nat, or in as much as leaves their sum a whole number of 62 bits."""
_PAIRS_MAX = 1 << 21
_PLACE = 2.0**-52
_SMALLEST = 2.0**-1000
"""More than all that underflow may lose; nobody asks for a delta as small."""
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class Side(NamedTuple):
    """With probability 1 - delta the true log-ratio stays within each of these; nats, rounded up."""

    renyi: float
    distribution: float


class Losses(NamedTuple):
    upper: Side
    lower: Side


class _Atoms(NamedTuple):
    """A law of losses in whole units, ascending; every loss was rounded up."""

    units: Integers
    masses: Vector


def concentrated_bound(times: int, epsilon: float, delta: float) -> float:
    """From epsilon^2/2 a release, which every two-sided bound of epsilon implies; rounded up."""
    total = times * epsilon * epsilon / 2.0
    return min(times * epsilon, (total + 2.0 * math.sqrt(total * -math.log(delta))) * (1.0 + 2.0**-48))


def path_losses(prior: Sequence[float], channel: Sequence[Sequence[float]], times: int, delta: float) -> Losses:
    """For `times` releases through this channel under this belief, or through any whose losses are no larger."""
    require(times >= 1 and 0.0 < delta < 1.0, "there are releases, and delta is strictly between 0 and 1")
    rows = _ratios(prior, channel)
    return Losses(*(_side([_turned(row) for row in rows] if turn else rows, times, delta) for turn in (False, True)))


Row = list[tuple[Fraction, Fraction]]
"""Pairs (probability of a release, its ratio a/p) for one true value."""


def _ratios(prior: Sequence[float], channel: Sequence[Sequence[float]]) -> list[Row]:
    law, rows = exact_law(prior), [exact_law(row) for row in channel]
    columns = list(zip(*rows, strict=True))
    marginal = [sum((mass * share for mass, share in zip(law, column, strict=True)), Fraction(0)) for column in columns]
    possible = [row for mass, row in zip(law, rows, strict=True) if mass]
    return [[(share, share / total) for share, total in zip(row, marginal, strict=True) if share] for row in possible]


def _turned(row: Row) -> Row:
    return [(share, 1 / ratio) for share, ratio in row]


def _side(rows: list[Row], times: int, delta: float) -> Side:
    scored = [[(float(share), _log_up(ratio)) for share, ratio in row] for row in rows]
    highest = max(score for row in scored for _, score in row)
    most = max(0.0, times * highest * (1.0 + 2.0**-48))
    renyi = min(most, _renyi(scored, times, -math.log(delta)))
    farthest = max(abs(score) for row in scored for _, score in row)
    scale = 2.0 ** min(_FINEST, 60 - math.ceil(math.log2(1.0 + times * farthest)))
    units = _quantile(_power(_dominating(scored, scale), times), times, max(len(row) for row in scored), delta)
    return Side(max(0.0, renyi), max(0.0, min(most, units / scale * (1.0 + 2.0**-52))))


def _renyi(scored: list[list[tuple[float, float]]], times: int, surprise: float) -> float:
    """The least over orders of (times log E exp(order loss) + log 1/delta)/order; any order gives a bound."""

    def bound(order: float) -> float:
        worst = max(_log_moment(row, order) for row in scored)
        slack = times * (8.0 + max(len(row) for row in scored)) * _PLACE * (1.0 + abs(worst))
        return (times * worst + surprise + slack) / order * (1.0 + 2.0**-48)

    low, high = -12.0, 16.0  # orders from e^-12 to e^16; the bound falls, then rises
    for _ in range(120):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, right) if bound(math.exp(left)) < bound(math.exp(right)) else (left, high)
    return bound(math.exp(low))


def _log_moment(row: list[tuple[float, float]], order: float) -> float:
    """log E exp(order loss), the largest term taken out."""
    most = max(order * score for _, score in row)
    return most + math.log(math.fsum(share * math.exp(order * score - most) for share, score in row))


def _log_up(ratio: Fraction) -> float:
    """The logarithm of any positive ratio, rounded up."""
    if ratio >= 1:
        return log_up(ratio)
    nats = log_up(1 / ratio)
    return -(nats - 8 * math.ulp(nats))


def _dominating(scored: list[list[tuple[float, float]]], scale: float) -> _Atoms:
    """A law whose chance of a loss of t or more is, for every t, at least that of each true value."""
    rows = [{math.ceil(score * scale): 0.0 for _, score in row} for row in scored]
    for row, units in zip(scored, rows, strict=True):
        for share, score in row:
            units[math.ceil(score * scale)] += share
    ascending = sorted(set().union(*rows))
    reached = [0.0] * len(rows)
    before, masses = 0.0, []
    for unit in reversed(ascending):
        reached = [so_far + row.get(unit, 0.0) for so_far, row in zip(reached, rows, strict=True)]
        masses.append(max(0.0, max(reached) - before))
        before = max(before, *reached)
    return _Atoms(np.array(ascending, dtype=np.int64), np.array(masses[::-1]))


def _power(atoms: _Atoms, times: int) -> _Atoms:
    """The law of a sum of so many independent losses."""
    total: _Atoms | None = None
    square = atoms
    while True:
        if times & 1:
            total = square if total is None else _sum(total, square)
        times >>= 1
        if not times:
            require(total is not None, "there is at least one loss")
            assert total is not None
            return total
        square = _sum(square, square)


def _sum(one: _Atoms, other: _Atoms) -> _Atoms:
    """The law of the sum; exactly while there are few losses, then on a grid to which losses are rounded up."""
    if one.units.size * other.units.size <= _PAIRS_MAX:
        units, places = np.unique(np.add.outer(one.units, other.units), return_inverse=True)
        masses = np.multiply.outer(one.masses, other.masses).ravel()
        return _Atoms(units, np.bincount(places.ravel(), weights=masses, minlength=units.size).astype(np.float64))
    reach = int(one.units[-1] - one.units[0]) + int(other.units[-1] - other.units[0])
    width = reach // CELLS + 1
    (first, left), (second, right) = _on_grid(one, width), _on_grid(other, width)
    if left.size > right.size:
        left, right = right, left
    cells = np.zeros(left.size + right.size - 1)
    for place, mass in enumerate(left.tolist()):
        if mass:
            cells[place : place + right.size] += mass * right
    filled = np.flatnonzero(cells)
    return _Atoms((first + second + filled) * width, cells[filled])


def _on_grid(atoms: _Atoms, width: int) -> tuple[int, Vector]:
    """The number of the first cell, and the mass of each."""
    places = -(-atoms.units // width)
    first = int(places[0])
    return first, np.bincount(places - first, weights=atoms.masses).astype(np.float64)


def _quantile(atoms: _Atoms, times: int, releases: int, delta: float) -> int:
    """The least loss that is exceeded with probability at most delta, the masses rounded up."""
    above = np.add.accumulate(atoms.masses[::-1])
    above = above * (1.0 + (times + 64) * (releases + 2 * CELLS) * _PLACE) + _SMALLEST
    place = int(np.searchsorted(above, delta, side="right"))
    return int(atoms.units[::-1][min(place, atoms.units.size - 1)])
