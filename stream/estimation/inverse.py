"""The inverse of one channel: for each value, the functional of what is released whose mean is 1 at this value and 0 at
every other one, where there is one. Proof: channel.md.

Whoever has a channel writes the columns of its outputs into `basis`, one after the other, and takes each in.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers
from stream.audit.book import DOUBLE_RESPONSE, PUBLISHED, RESPONSE, TEMPORAL, TOP_K
from stream.audit.channel import BASE, PLACE, Channel
from stream.audit.published import REST
from stream.audit.response import APART as ROWS_APART
from stream.audit.response import OTHER, OWN

DEPENDENT: Final = 1e-9
"""A column that is left with so small a part of its length is a sum of those before it."""
APART: Final = 1e-12
"""An indicator is a functional's mean if the square of its distance from all of these is at most that."""
OUTPUTS_MOST: Final = 128
WORK_MOST: Final = 1 << 22
"""A channel is inverted if the square of its outputs times its values is at most that: some 10 ms."""


class Workplace(NamedTuple):
    """Scratch space: orthonormal vectors over values, one a row for each output that does not depend on those before
    it; how each output's column is made of them; the lengths of columns; a row of the inverse; what all rows share.
    """

    basis: Floats
    upper: Floats
    lengths: Floats
    inverse: Floats
    common: Floats


def new_workplace(values: int) -> Workplace:
    most = min(values, OUTPUTS_MOST)
    return Workplace(np.zeros((most, values)), np.zeros((most, most)), np.zeros(most), np.zeros(most), np.zeros(values))


@kernel
def fits(outputs: int, work: Workplace) -> bool:
    """Whether a channel of so many outputs is inverted at all."""
    most, values = work.basis.shape
    found: bool = outputs <= most and outputs * outputs * values <= WORK_MOST
    return found


@kernel
def take_in(work: Workplace, y: int) -> None:
    """The column of output y, which lies in the basis, is made orthogonal to those before it, twice, which leaves
    roundings alone. Of one that adds no direction a row of zeros is left, so that its functionals are 0.
    """
    row, size = work.basis[y], 0.0
    for v in range(row.shape[0]):
        size += row[v] * row[v]
    work.lengths[y] = math.sqrt(size)
    for v in range(row.shape[0]):
        row[v] /= work.lengths[y]
    for j in range(y):
        work.upper[j, y] = 0.0
    for _ in range(2):
        for j in range(y):
            along = 0.0
            for v in range(row.shape[0]):
                along += work.basis[j, v] * row[v]
            work.upper[j, y] += along
            for v in range(row.shape[0]):
                row[v] -= along * work.basis[j, v]
    size = 0.0
    for v in range(row.shape[0]):
        size += row[v] * row[v]
    left = math.sqrt(size)
    work.upper[y, y] = left if left > DEPENDENT else 0.0
    for v in range(row.shape[0]):
        row[v] = row[v] / left if left > DEPENDENT else 0.0


@kernel
def row_of_inverse(work: Workplace, outputs: int, released: int) -> None:
    """The row of the inverse of `upper` that belongs to what was released; zeros where that adds no direction."""
    for y in range(outputs):
        work.inverse[y] = 0.0
    if work.upper[released, released] == 0.0:
        return
    work.inverse[released] = 1.0 / work.upper[released, released]
    for y in range(released + 1, outputs):
        if work.upper[y, y] > 0.0:
            total = 0.0
            for j in range(released, y):
                total += work.inverse[j] * work.upper[j, y]
            work.inverse[y] = -total / work.upper[y, y]


@kernel
def read_off(work: Workplace, outputs: int, released: int, functional: Floats, known: Integers) -> None:
    """For each value whether there is a functional, and what it is at the release; all columns have been taken in."""
    row_of_inverse(work, outputs, released)
    for v in range(known.shape[0]):
        inside = found = 0.0
        for y in range(outputs):
            inside += work.basis[y, v] * work.basis[y, v]
            found += work.inverse[y] * work.basis[y, v]
        known[v] = 1 if 1.0 - inside <= APART else 0
        functional[v] = found / work.lengths[released] if known[v] == 1 else 0.0


@kernel
def shared_by_rows(mechanism: int, channel: Channel, common: Floats) -> float:
    """Where each value is released by every row with the same chance, which is left in `common`, but for its own row:
    by how much that is above the others, the same for all values. 0 where the channel is another one, or nearly says
    nothing.
    """
    apart = _apart(mechanism, channel, common) if channel.size[0] == common.shape[0] else 0.0
    return apart if apart > DEPENDENT else 0.0


@kernel
def _apart(mechanism: int, channel: Channel, common: Floats) -> float:
    values = common.shape[0]
    if mechanism in (RESPONSE, DOUBLE_RESPONSE, TEMPORAL, TOP_K):
        if channel.size[ROWS_APART] == 0:
            return 0.0
        for v in range(values):
            common[v] = channel.size[OTHER] / WHOLE
        return float((channel.size[OWN] - channel.size[OTHER]) / WHOLE)
    if mechanism == PUBLISHED:
        for v in range(values):
            common[v] = channel.units[BASE, channel.units[PLACE, v]] / WHOLE
        return float(channel.size[REST] / WHOLE)
    return 0.0
