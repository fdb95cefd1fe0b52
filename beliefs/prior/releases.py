"""Several noisy sums of one table's attributes: all at once, or one after the other. Proof: releases.md.

Leaks of different sums do not add up: two sums that each say nothing may say everything together. Released at once, the
largest log ratio is at a corner of the grid of their atoms. Released one after the other, each is charged under what
is believed after the earlier ones, and those charges do add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, upwards
from beliefs.laws.table import TableLaw
from beliefs.native import kernel
from beliefs.prior.adversary import Query, Seen, context_of
from beliefs.prior.atoms import Atoms, Places, spread_of_laws
from beliefs.prior.densities import compare_far
from beliefs.prior.outward import least_above
from beliefs.prior.scaled import EMPTY, LONGEST, Floats, Powers, add, scaled, scaled_exponentials, times
from beliefs.simplex import Vector

GRID_MAX = 1 << 23


class Ledger(NamedTuple):
    """Nats, rounded up: what each release may tell after the earlier ones, their sum, and what all of them told."""

    steps: list[float]
    total: float
    realised: float


def joint_leak(
    law: TableLaw,
    queries: Sequence[Query],
    scales: Sequence[float],
    attacked: int,
    known: tuple[int, ...] = (),
    context: int | None = None,
) -> float:
    """What all sums together tell at most, each with noise of its own scale."""
    seen = [Seen.by(law, query, attacked, known, context) for query in queries]
    reaches = (each.reach / Fraction(scale) for each, scale in zip(seen, scales, strict=True))
    group = least_above(sum(reaches, Fraction(0)))
    if not seen[0].contested():
        return 0.0
    if group > LONGEST:
        return group
    gaps = [each.atoms.gaps(scale) for each, scale in zip(seen, scales, strict=True)]
    span = sum(float(each.sum()) for each in gaps)
    cells, weights = math.prod(each.size for each in gaps), seen[0].weights
    if cells * weights.shape[1] > GRID_MAX:
        raise Invalid("queries", f"have {cells} combinations of sums, more than can be looked at together")
    place, best = _joined([each.atoms for each in seen]), np.zeros(6)
    for context_weights in weights:
        _look_at(context_weights, place, gaps, best)
    roundings = weights.shape[2] + 6 * sum(each.size for each in gaps) + 8
    moved = sum(4.0 * each.atoms.moved / scale for each, scale in zip(seen, scales, strict=True)) + span * 2.0**-50
    nats = best[1] * math.log(2.0) + math.log(best[0]) if best[0] > 0.0 else 0.0
    return float(min(upwards(max(nats, math.ulp(0.0)), roundings // 2) + moved, group))


def ledger(
    law: TableLaw, queries: Sequence[Query], scales: Sequence[float], attacked: int, released: Sequence[float]
) -> Ledger:
    """Charges of sums that are released one after the other, to somebody who knows nobody."""
    beliefs, steps = Beliefs(law, attacked), []
    for query, scale, value in zip(queries, scales, released, strict=True):
        steps.append(beliefs.charge(query, scale))
        beliefs.condition(query, scale, value)
    endless = any(map(math.isinf, steps))
    total = math.inf if endless else least_above(sum(map(Fraction, steps), Fraction(0)))
    return Ledger(steps, total, min(total, beliefs.realised()))


class Beliefs:
    """For each value of the attacked attribute the law of all others, given what was released; in logarithms."""

    def __init__(self, law: TableLaw, attacked: int) -> None:
        self.law, self.attacked = law, attacked
        weights = law.arranged((), attacked)[0]
        self.values = np.flatnonzero(weights.any(axis=1))
        with np.errstate(divide="ignore"):
            logs = np.log(weights[self.values])
        self.logs: Matrix = logs - np.logaddexp.reduce(logs, axis=1)[:, None]
        self.likelihood: Vector = np.zeros(self.values.size)
        self.deepest = 0.0

    def charge(self, query: Query, scale: float) -> float:
        """The most that a release may tell under these beliefs."""
        if self.values.size == 1:
            return 0.0
        seen = Seen.by(self.law, query, self.attacked, ())
        if seen.is_beyond(scale):
            self.deepest = math.inf
            return seen.group(scale)
        gaps = seen.atoms.gaps(scale)
        laws = np.full((self.values.size, gaps.size), -math.inf)
        for row, value in enumerate(self.values.tolist()):
            np.logaddexp.at(laws[row], seen.atoms.place[value], self.logs[row])
        told = spread_of_laws(scaled_exponentials(laws), gaps, self._roundings()).nats
        return min(told + 4.0 * (seen.atoms.moved / scale), seen.group(scale))

    def condition(self, query: Query, scale: float, released: float) -> None:
        """Bayes' rule for one released value."""
        seen = Seen.by(self.law, query, self.attacked, ())
        away = seen.distances(Fraction(released) - query.offset(self.law), scale)
        logs = self.logs - away[self.values]
        told = np.logaddexp.reduce(logs, axis=1)
        self.likelihood = self.likelihood + told
        self.logs = logs - told[:, None]
        self.deepest += float(np.abs(told).max())

    def realised(self) -> float:
        """The largest log ratio of the chances of what was released under two values."""
        if self.values.size == 1:
            return 0.0
        if math.isinf(self.deepest):
            return math.inf
        return upwards(float(self.likelihood.max() - self.likelihood.min()), self._roundings())

    def _roundings(self) -> int:
        """A logarithm of 1,000 lose as much as 1,000 products."""
        return int(self.logs.shape[1]) + 64 + 4 * math.ceil(min(self.deepest, LONGEST))


def posterior(
    law: TableLaw,
    query: Query,
    scale: float,
    attacked: int,
    released: float,
    known: tuple[int, ...] = (),
    values: tuple[int, ...] = (),
) -> Vector:
    """What is believed of the attacked attribute once a noisy sum was released, these values being known."""
    seen = Seen.by(law, query, attacked, known, context_of(law, known, values))
    with np.errstate(divide="ignore"):
        logs = np.log(seen.weights[0])
    away = seen.distances(Fraction(released) - query.offset(law, known, values), scale)
    told = np.logaddexp.reduce(logs - away, axis=1)
    chances = np.exp(told - told.max())
    believed: Vector = chances / np.add.accumulate(chances)[-1]
    return believed


def _joined(atoms: Sequence[Atoms]) -> Places:
    """The place of each combination of values on the grid of all sums' atoms, the last sum running fastest."""
    place = np.zeros_like(atoms[0].place)
    for each in atoms:
        place = place * each.points.size + each.place
    return place


def _look_at(weights: Matrix, place: Places, gaps: Sequence[Floats], best: Floats) -> None:
    """The densities of all sums together on the grid of their atoms: one axis after the other."""
    cells = math.prod(each.size for each in gaps)
    masses = np.zeros((weights.shape[0], cells))
    for value, row in enumerate(weights):
        np.add.at(masses[value], place[value], row)
    totals = np.add.accumulate(weights, axis=1)[:, -1:]
    shown, height = scaled(np.divide(masses, totals, out=np.zeros_like(masses), where=totals > 0.0))
    inner = cells
    for gap in gaps:
        inner //= gap.size
        shape = (shown.size // (inner * gap.size), gap.size, inner)
        room = np.empty(gap.size), np.empty(gap.size, dtype=np.int64)
        _along(shown.reshape(shape), height.reshape(shape), *scaled_exponentials(-gap), *room)
    height[:, 0] = np.where(totals[:, 0] > 0.0, height[:, 0], EMPTY)
    compare_far(shown, height, best)


@kernel
def _along(
    part: Floats, power: Powers, decay_part: Floats, decay_power: Powers, room: Floats, room_power: Powers
) -> None:
    """Each mass becomes the density there: what comes from the left, itself, and what comes from the right."""
    outers, size, inners = part.shape
    for outer in range(outers):
        for inner in range(inners):
            run, run_power = 0.0, EMPTY
            for atom in range(size):
                run, run_power = times(run, run_power, decay_part[atom], decay_power[atom])
                run, run_power = add(run, run_power, part[outer, atom, inner], power[outer, atom, inner])
                room[atom], room_power[atom] = run, run_power
            back, back_power = 0.0, EMPTY
            for atom in range(size - 1, -1, -1):
                own, own_power = part[outer, atom, inner], power[outer, atom, inner]
                total, height = add(room[atom], room_power[atom], back, back_power)
                part[outer, atom, inner], power[outer, atom, inner] = total, height
                back, back_power = add(back, back_power, own, own_power)
                back, back_power = times(back, back_power, decay_part[atom], decay_power[atom])
