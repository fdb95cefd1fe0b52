"""Exact leaks of a value of a chain through one side alone, and sharper bounds made of them. Proof: segments.md."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.prior.atoms import pairs_of_laws
from beliefs.prior.influence import passed_on_by
from beliefs.prior.scaled import EMPTY, Scaled
from beliefs.prior.segment_laws import SegmentLaws
from beliefs.prior.segments import Side


def sharpened(side: Side, laws: SegmentLaws, scale: float, longest: int) -> tuple[Side, Matrix]:
    """The side with `passed` made of exact leaks, and those: alone[k, a, b] of the attacked value and its segment.

    What a segment passes on is what its nearest value tells through the rest of it: that is the exact leak of a segment
    shorter by one. Longer ones keep what they had.
    """
    order = np.argsort(side.length, kind="stable").tolist()
    place = {(int(side.length[row]), int(side.ended[row])): row for row in order}
    alone, passed = np.zeros(side.passed.shape), side.passed.copy()
    for row in order:
        length, ended = int(side.length[row]), int(side.ended[row])
        if length > longest:
            alone[row] = np.inf
            continue
        alone[row] = leaks_alone(laws, length, ended, side.possible[row], scale)
        if length:
            nearest = np.isfinite(side.steps[row]).any(axis=0)
            before = alone[place[length - 1, ended]]
            loss = np.where(nearest[:, None] & nearest, before, 0.0).max()
            passed[row] = np.minimum(passed[row], passed_on_by(side.steps[row][None], np.array([loss]))[0])
    return replace(side, passed=passed), alone


def leaks_alone(laws: SegmentLaws, length: int, ended: int, possible: Matrix, scale: float) -> Matrix:
    """For each two values the largest log ratio of the densities of a noisy sum of the value and its segment."""
    segment, lattice = laws.of(length, ended), laws.lattice
    count, size = segment.part.shape
    part = np.zeros((count, size + lattice.width))
    power = np.full(part.shape, EMPTY, dtype=np.int64)
    for value in np.flatnonzero(possible).tolist():
        start = int(lattice.places[value])
        part[value, start : start + size] = segment.part[value]
        power[value, start : start + size] = segment.power[value]
    gaps = np.full(part.shape[1], lattice.step / scale)
    gaps[0] = 0.0
    return pairs_of_laws(Scaled(part, power), gaps, laws.roundings(length))
