"""Which attributes hang together, at once or through others. Note: laws.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from beliefs.correlation.bound import Places
from beliefs.native import kernel, part_of_caller


@dataclass(frozen=True, eq=False)
class Components:
    """`of[i]` is the number of the component of attribute i; they are numbered by their first attributes."""

    of: Places

    @property
    def count(self) -> int:
        return int(self.of.max(initial=-1)) + 1

    def sizes(self) -> Places:
        """How many attributes each component has."""
        return np.bincount(self.of, minlength=self.count).astype(np.int64)

    @property
    def largest(self) -> int:
        """The size of the largest: so many times its own loss is the most that anything can tell about an attribute."""
        return int(self.sizes().max(initial=0))

    def members(self, component: int) -> list[int]:
        return [int(each) for each in np.flatnonzero(self.of == component)]


def components_of(size: int, ties: Places) -> Components:
    """Of so many attributes, each row of `ties` naming two that hang together."""
    leader = np.arange(size, dtype=np.int64)
    _join(np.ascontiguousarray(ties, dtype=np.int64).reshape(-1, 2), leader)
    return Components(np.unique(leader, return_inverse=True)[1].astype(np.int64).reshape(-1))


def all_together(size: int) -> Components:
    return Components(np.zeros(size, dtype=np.int64))


def all_apart(size: int) -> Components:
    return Components(np.arange(size, dtype=np.int64))


def side_by_side(parts: Iterable[Components]) -> Components:
    """Attributes numbered through, part after part, none of which has to do with another."""
    found, before = [np.zeros(0, dtype=np.int64)], 0
    for part in parts:
        found.append(part.of + before)
        before += part.count
    return Components(np.concatenate(found))


def joined(parts: Iterable[Components]) -> Components:
    """Of the same attributes: what hangs together in any part does so here."""
    every = list(parts)
    firsts = [np.unique(part.of, return_index=True)[1] for part in every]
    size = every[0].of.size
    numbers = np.arange(size)
    ties = [np.stack([numbers, first[part.of]], axis=1) for first, part in zip(firsts, every, strict=True)]
    return components_of(size, np.concatenate(ties))


@kernel
def _join(ties: Places, leader: Places) -> None:
    """Every attribute's leader becomes the first one of its component."""
    for tie in range(ties.shape[0]):
        one, two = _leader_of(leader, ties[tie, 0]), _leader_of(leader, ties[tie, 1])
        if one < two:
            leader[two] = one
        else:
            leader[one] = two
    for each in range(leader.size):
        leader[each] = _leader_of(leader, each)


@part_of_caller
def _leader_of(leader: Places, one: int) -> int:
    while leader[one] != one:
        leader[one] = leader[leader[one]]
        one = leader[one]
    return one
