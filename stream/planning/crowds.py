"""What windows of other lengths would release and tell.

How many people a window has decides everything: with so many expected, or with those of a sample, it is known which
lengths meet the target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from beliefs.crowd.account import Present
from mechanisms.contract import Integers
from stream.crowds.expected import Outlook, outlook, present_in, present_of
from stream.crowds.promise import CrowdPromise
from stream.planning.crowd_sample import CrowdSample
from stream.settings.crowd import MOST_PEOPLE

FACTORS: Final = tuple(Fraction(2) ** power for power in (-2, -1, 0, 1, 2, 3))
"""Windows of so many times the declared length."""
Doing = Callable[[str, int, int], None]


@dataclass(frozen=True)
class WindowOutlook:
    """Windows of one length. `users` is what most have, `least` the fewest; `released` the share of them that would be;
    `delay` how long an event waits on average until its window is released, in milliseconds; `delta` of a window of
    `users`, and None where nothing is declared.
    """

    length: int
    users: int
    least: int
    delta: float | None
    scale: Fraction | None
    released: float
    delay: float


def expected_windows(promise: CrowdPromise, users: int) -> list[WindowOutlook]:
    """With so many users in a window of the declared length, and in others as many as their length has it."""
    timing, found = promise.windowed, []
    for factor in FACTORS:
        length, there = round(timing.length * factor), max(1, round(users * factor))
        if length < 1_000 or there > MOST_PEOPLE:
            continue
        looked = outlook(promise, present_of(promise, there))
        found.append(
            WindowOutlook(
                length,
                there,
                there,
                looked.delta,
                looked.scale,
                float(looked.released),
                length / 2 + timing.lateness,
            )
        )
    return found


def sampled_windows(promise: CrowdPromise, sample: CrowdSample, progress: Doing) -> list[WindowOutlook]:
    """The windows of the sample in which anybody is; a length that makes a single one says nothing, and is left out."""
    timing, found = promise.windowed, []
    for place, factor in enumerate(FACTORS):
        progress("windows", place, len(FACTORS))
        length = round(timing.length * factor)
        numbers = (sample.times - timing.start) // length
        if length < 1_000 or np.unique(numbers).size < 2:
            continue
        looks = _looked_at(promise, _presents(promise, sample, numbers))
        by_size = sorted(looks, key=lambda look: look.present.users)
        middle = by_size[len(by_size) // 2]
        found.append(
            WindowOutlook(
                length,
                middle.present.users,
                by_size[0].present.users,
                middle.delta,
                middle.scale,
                sum(look.released for look in looks) / len(looks),
                float(np.mean((numbers + 1) * length + timing.start - sample.times)) + timing.lateness,
            )
        )
    return found


def _looked_at(promise: CrowdPromise, present: list[Present]) -> list[Outlook]:
    """Windows with the same people tell the same."""
    known = {each: outlook(promise, each) for each in set(present)}
    return [known[each] for each in present]


def _presents(promise: CrowdPromise, sample: CrowdSample, numbers: Integers) -> list[Present]:
    """Who there is in each window; a user's last event says of which type he is."""
    last = last_rows(sample.users, numbers)
    windows, places = np.unique(numbers[last], return_inverse=True)
    counts = np.zeros((windows.size, len(promise.types)), dtype=np.int64)
    np.add.at(counts, (places, sample.types[last]), 1)
    return [present_in(promise, tuple(row)) for row in counts.tolist()]


def last_rows(users: Integers, numbers: Integers) -> Integers:
    """The last event of each user in each window, in the order of the sample."""
    pairs = zip(numbers.tolist(), users.tolist(), strict=True)
    rows = {pair: row for row, pair in enumerate(pairs)}
    return np.sort(np.array([*rows.values()], dtype=np.int64))
