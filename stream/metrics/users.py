"""What is known about the users of one partition: how many stand where, never which.

Each partition keeps its own bins, so a partition that goes away takes its users along by dropping them, and nothing has
to be read back from a store on disk. A block moves its changed users from old bins to new ones: O(changed users).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from beliefs.checks import require
from beliefs.rounding import INFINITE
from stream.metrics.bins import LIFETIME_BINS, SHARE_BINS, Integers, ShareBins, lifetime_index
from stream.state import STOPPED, Word

_STOPPED_MARK: Final = STOPPED << 8  # the flags are the second byte of the first word
_TOTALS: Final = slice(int(Word.UPPER), int(Word.LOWER) + 1)
_WINDOW: Final = slice(int(Word.WINDOW_UPPER), int(Word.WINDOW_LOWER) + 1)
_STEPS: Final = int(Word.STEPS)
_MARKS: Final = int(Word.MARKS)
_DRIFT: Final = int(Word.WINDOW_AND_DRIFT)
_DRIFT_SHIFT: Final = 32


class Shares:
    """A user's spent share of the budget on the side, upper or lower, that has spent more of its own."""

    def __init__(self, upper_budget: int, lower_budget: int) -> None:
        require(min(upper_budget, lower_budget) < INFINITE, "a share needs a budget on one side at least")
        self._same = ShareBins(upper_budget) if upper_budget == lower_budget else None
        self._sides = [ShareBins(budget) if budget < INFINITE else None for budget in (upper_budget, lower_budget)]

    def index(self, upper: Integers, lower: Integers) -> Integers:
        """Bins of what was spent in a window."""
        if self._same is not None:
            return self._same.index(np.maximum(upper, lower))
        sides = zip(self._sides, (upper, lower), strict=True)
        indices = [bins.index(spent) for bins, spent in sides if bins is not None]
        return indices[0] if len(indices) == 1 else np.maximum(*indices)


class UserBins:
    """Counts of users by lifetime leakage and by spent share; of one partition, or added up over several."""

    def __init__(self) -> None:
        self.tracked = 0
        self.stopped = 0
        # Rows: lifetime upper, lifetime lower, spent share. Shares have fewer bins and are padded with zeros.
        self._counts = np.zeros((3, LIFETIME_BINS), np.int64)

    @property
    def lifetime_upper(self) -> Integers:
        upper: Integers = self._counts[0]
        return upper

    @property
    def lifetime_lower(self) -> Integers:
        lower: Integers = self._counts[1]
        return lower

    @property
    def shares(self) -> Integers:
        return self._counts[2, :SHARE_BINS]

    def add(self, heads: Integers, shares: Shares | None) -> None:
        """Users who are in no bin yet."""
        self.change(heads[:0], heads, shares)

    def change(self, old_heads: Integers, new_heads: Integers, shares: Shares | None) -> None:
        """The same users before and after. Whoever has no step is in no bin: new users, and those whose first events
        still wait in a window, who would otherwise be counted anew with every block.

        Both are binned in one go: for blocks of hundreds of users the number of numpy calls is what costs.
        """
        before, new_heads = _with_steps(old_heads), _with_steps(new_heads)
        self.tracked += len(new_heads) - len(before)
        self.stopped += _stopped(new_heads) - _stopped(before)
        split = len(before)
        index = np.empty((2 if shares is None else 3, split + len(new_heads)), np.int64)
        totals = index[:2].view(np.float64)
        totals[:, :split] = before[:, _TOTALS].T
        totals[:, split:] = new_heads[:, _TOTALS].T
        lifetime_index(totals)
        if shares is not None:
            windows = np.empty((2, index.shape[1]), np.int64)
            windows[:, :split] = before[:, _WINDOW].T
            windows[:, split:] = new_heads[:, _WINDOW].T
            index[2] = shares.index(windows[0], windows[1])
        self._counts[: len(index)] += _moved(index, split)

    def include(self, other: UserBins) -> None:
        self.tracked += other.tracked
        self.stopped += other.stopped
        self._counts += other._counts


def _with_steps(heads: Integers) -> Integers:
    steps = heads[:, _STEPS]
    return heads if len(steps) and np.minimum.reduce(steps) > 0 else heads[steps > 0]


def _moved(index: Integers, split: int) -> Integers:
    """Per row: what each bin gains when those before the split leave and those behind it come. `index` is used up."""
    rows = len(index)
    for row in range(1, rows):
        index[row] += row * LIFETIME_BINS
    index[:, split:] += rows * LIFETIME_BINS
    counted = np.bincount(index.ravel(), minlength=2 * rows * LIFETIME_BINS)
    gone, come = counted.reshape(2, rows, LIFETIME_BINS)
    moved: Integers = come - gone
    return moved


def _stopped(heads: Integers) -> int:
    marks = heads[:, _MARKS]
    if not int(np.bitwise_or.reduce(marks)) & _STOPPED_MARK:
        return 0
    return int(np.count_nonzero(marks & _STOPPED_MARK))


def largest_drift(heads: Integers) -> int:
    """In the units of a head: how far the belief about one of these users may be from the exact one, at most."""
    if not len(heads):
        return 0
    # The drift is the upper half of its word, so the largest word has the largest drift.
    return int(heads[:, _DRIFT].view(np.uint64).max()) >> _DRIFT_SHIFT
