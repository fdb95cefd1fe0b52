"""The guard against differencing: no two released windows differ by fewer than k people. Proof: guard.md."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

REMEMBERED: Final = 64
"""So many groups of people are remembered; a group that is the one before once more takes no further place."""

Tags = NDArray[np.uint64]
"""Of the people of one window, ascending, each once."""

_FIRST: Final = 4_096
_FURTHER: Final = 8


class Guard:
    """`groups` are those of released windows, oldest first."""

    def __init__(self, k: int, groups: Iterable[Tags] = ()) -> None:
        self._k = k
        self._groups: deque[Tags] = deque(groups, maxlen=REMEMBERED)

    def allows(self, people: Tags) -> bool:
        """Whether a window of these people may be released after those that were."""
        return all(not 0 < apart(people, each, self._k) < self._k for each in reversed(self._groups))

    def remember(self, people: Tags) -> bool:
        """A window of these people is released; answers whether they are others than those of the window before."""
        if self._groups and np.array_equal(self._groups[-1], people):
            return False
        self._groups.append(people)
        return True

    @property
    def latest(self) -> Tags | None:
        return self._groups[-1] if self._groups else None


def apart(one: Tags, other: Tags, most: int) -> int:
    """How many are in exactly one of the two; `most` if they are so many or more.

    They are counted from the smallest tag on, so that groups that have little in common are told apart by their first
    few thousand.
    """
    if abs(one.size - other.size) >= most:
        return most
    size = _FIRST
    while True:
        a, b = _below(one, other, size)
        found = a.size + b.size - 2 * np.intersect1d(a, b, assume_unique=True).size
        if found >= most:
            return most
        if a.size == one.size and b.size == other.size:
            return int(found)
        size *= _FURTHER


def _below(one: Tags, other: Tags, size: int) -> tuple[Tags, Tags]:
    """The smallest tags of both, up to the same one, about so many of each."""
    if size >= one.size and size >= other.size:
        return one, other
    last = min(each[size - 1] for each in (one, other) if size <= each.size)
    return one[: np.searchsorted(one, last, "right")], other[: np.searchsorted(other, last, "right")]


def difference(one: Tags, other: Tags) -> Tags:
    """Who is in exactly one of the two."""
    return np.setxor1d(one, other, assume_unique=True)
