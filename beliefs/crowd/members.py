"""Crowds of members whose laws are given: independent members, and households of members who depend on each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np

from beliefs.checks import Invalid
from beliefs.crowd.sums import NOTHING, SUM, Sum, certain, law
from beliefs.crowd.worst import Kind, Pair
from beliefs.simplex import Vector, normalised

VALUES_MAX: Final = 1 << 12
CELLS_MAX: Final = 1 << 22
"""Of a household, looked at once for each value of each member."""

Neighbour = Literal["change", "remove"]


@dataclass(frozen=True)
class Group:
    """So many independent members who contribute 0, 1, 2, ... with these chances."""

    law: Vector
    count: int = 1


@dataclass(frozen=True)
class Block:
    """So many households: joint[v, w, ...] is the chance that its members contribute v, w, ..."""

    joint: Vector
    count: int = 1


def kinds_of(
    groups: Sequence[Group], known: Sequence[int] = (), attacked: int | None = None, neighbour: Neighbour = "change"
) -> list[Kind]:
    """What is asked about independent members; those who are known hide nobody."""
    left = _left([group.count for group in groups], known)
    ends = list(itertools.accumulate(group.count for group in groups))
    its = None if attacked is None else _place(attacked, ends, known)
    found = []
    for place, (group, count) in enumerate(zip(groups, left, strict=True)):
        whole = law(normalised(group.law))
        pairs = _pairs(group.law, whole, neighbour)
        if its in (None, place):
            found.append(Kind(whole, count, pairs))
        else:
            found.append(Kind(whole, count, ()))
    return found


def kinds_of_blocks(blocks: Sequence[Block], known: Sequence[int] = ()) -> list[Kind]:
    """What is asked about the members of households; who is known is so with all of his household."""
    left = _left([block.count for block in blocks], known)
    if max(block.joint.size * sum(block.joint.shape) for block in blocks) > CELLS_MAX:
        raise Invalid(SUM, "has too many combinations in one household to be worked out member by member")
    return [
        Kind(_sum_law(block.joint, None), count, tuple(_pairs_within(block.joint)))
        for block, count in zip(blocks, left, strict=True)
    ]


def _left(counts: Sequence[int], known: Sequence[int]) -> list[int]:
    """How many of each are not known."""
    ends = list(itertools.accumulate(counts))
    if known and known[-1] >= ends[-1]:
        raise Invalid("known", f"holds {known[-1]}, but there are {ends[-1]}, numbered from 0")
    if len(known) == ends[-1]:
        raise Invalid("known", "holds everybody, so nobody is left to be attacked")
    places = np.searchsorted(np.array(ends), np.array(known, dtype=np.int64), side="right")
    return [count - int((places == place).sum()) for place, count in enumerate(counts)]


def _place(attacked: int, ends: Sequence[int], known: Sequence[int]) -> int:
    if attacked >= ends[-1]:
        raise Invalid("attacked", f"is {attacked}, but there are {ends[-1]} members, numbered from 0")
    if attacked in known:
        raise Invalid("known", f"holds member {attacked}, who is attacked")
    return next(place for place, end in enumerate(ends) if attacked < end)


def _pairs(mass: Vector, whole: Sum, neighbour: Neighbour) -> tuple[Pair, ...]:
    if neighbour == "remove":
        return (whole, NOTHING), (NOTHING, whole)
    (values,) = np.nonzero(mass)
    if values.size > VALUES_MAX:
        raise Invalid(SUM, f"may be {values.size:,} numbers by one member alone; {VALUES_MAX:,} are the most")
    apart = sorted({int(two) - int(one) for one in values for two in values if one != two})
    return tuple(_moved(by) for by in apart)


@lru_cache(maxsize=1 << 12)
def _moved(by: int) -> Pair:
    """What matters of two values is how far they are apart. One object for each distance: kinds share it."""
    return NOTHING, certain(by)


def _pairs_within(joint: Vector) -> Iterable[Pair]:
    for member in range(joint.ndim):
        others = tuple(axis for axis in range(joint.ndim) if axis != member)
        (values,) = np.nonzero(joint.sum(axis=others))
        given = [_sum_law(joint, (member, int(value))) for value in values]
        yield from itertools.permutations(given, 2)


def _sum_law(joint: Vector, given: tuple[int, int] | None) -> Sum:
    """The law of a household's sum, or that given a member's value."""
    mass = np.zeros(sum(joint.shape) - joint.ndim + 1)
    for cell in zip(*np.nonzero(joint), strict=True):
        if given is None or cell[given[0]] == given[1]:
            mass[sum(int(value) for value in cell)] += joint[cell]
    return law(normalised(mass))
