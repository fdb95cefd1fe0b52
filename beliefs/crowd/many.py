"""A sum over very many people, each with a law of his own: the worst of them, between two numbers. Proof: many.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.crowd.divergence import Integers, moved_apart
from beliefs.crowd.sums import NOTHING, Sum, added, total
from beliefs.native import kernel
from beliefs.simplex import Vector

BLOCKS: Final = 256
FEW: Final = 32
MEMBERS_MAX: Final = 1 << 20
_ULP: Final = 2.0**-53


class Between(NamedTuple):
    """The largest delta of all members is not below `least` and not above `most`."""

    least: float
    most: float


def many_delta(laws: Matrix, epsilon: float) -> Between:
    """One row of chances for each member; rows that are alike should stand together: they are put in order here."""
    if len(laws) > MEMBERS_MAX:
        raise Invalid("laws", f"are of {len(laws):,} members; {MEMBERS_MAX:,} are the most")
    rows = laws / np.add.accumulate(laws, axis=1)[:, -1:]
    rows = np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])
    size = math.ceil(len(rows) / BLOCKS)
    blocks = [rows[first : first + size] for first in range(0, len(rows), size)]
    least, most = 0.0, 0.0
    for place, outside in _outside(_halved([_summed(block, -1) for block in blocks]), 0, NOTHING):
        block = blocks[place]
        middle = len(block) // 2
        moves = _moves(np.asarray((block > 0.0).any(axis=0)))
        alone = moved_apart(outside, moves, epsilon)
        beside = added(outside, _summed(block, middle))
        told = moved_apart(beside, moves, epsilon)
        most = max(most, told + _unlike(block, middle) * max(alone - told, 0.0))
        least = max(least, _at_least(beside, _moves(block[middle] > 0.0), epsilon))
    return Between(least, min(1.0, most * (1.0 + 2.0**-40)))


def _at_least(beside: Sum, moves: Integers, epsilon: float) -> float:
    """As `moved_apart`, rounded down."""
    lowered = replace(beside, error=-beside.error - 2.0**-45, lost=0.0)
    return moved_apart(lowered, moves, epsilon) * (1.0 - 2.0**-39) - math.exp(min(epsilon, 709.0)) * beside.lost


class _Part(NamedTuple):
    whole: Sum
    blocks: int
    halves: tuple[_Part, ...]


def _halved(wholes: list[Sum]) -> _Part:
    if len(wholes) == 1:
        return _Part(wholes[0], 1, ())
    half = len(wholes) // 2
    one, two = _halved(wholes[:half]), _halved(wholes[half:])
    return _Part(added(one.whole, two.whole), len(wholes), (one, two))


def _outside(part: _Part, first: int, others: Sum) -> Iterator[tuple[int, Sum]]:
    """For each block the sum of all others."""
    if not part.halves:
        yield first, others
        return
    one, two = part.halves
    yield from _outside(one, first, added(others, two.whole))
    yield from _outside(two, first + one.blocks, added(others, one.whole))


def _summed(block: Matrix, without: int) -> Sum:
    """The sum of a block's members, but for one; few are added one by one, and then these sums."""
    few = []
    for first in range(0, len(block), FEW):
        members = block[first : first + FEW]
        mass = np.zeros(len(members) * (block.shape[1] - 1) + 1)
        mass[0] = 1.0
        _add_all(members, without - first, mass)
        # Every member adds as many products to a place as he has values.
        few.append(Sum(0, mass, 2.0 * len(members) * (block.shape[1] + 1) * _ULP))
    return total(few)


def _moves(possible: npt.NDArray[np.bool_]) -> Integers:
    (values,) = np.nonzero(possible)
    found = np.unique(values[:, np.newaxis] - values[np.newaxis, :])
    return np.asarray(found[found != 0], dtype=np.int64)


def _unlike(block: Matrix, middle: int) -> float:
    """The least share k with which every law of the block times 1 - k is below the middle one's."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(block > 0.0, block[middle] / block, np.inf)
    return min(1.0, max(0.0, 1.0 - float(shares.min()) + 2.0**-50))


@kernel
def _add_all(block: Matrix, without: int, mass: Vector) -> None:
    width, size = block.shape[1], 1
    for member in range(block.shape[0]):
        if member == without:
            continue
        for k in range(size + width - 2, -1, -1):
            here = mass[k] * block[member, 0]
            for value in range(1, min(width, k + 1)):
                here += mass[k - value] * block[member, value]
            mass[k] = here
        size += width - 1
