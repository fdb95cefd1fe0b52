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
from stream.crowds.expected import outlook
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
        looked = outlook(promise, there)
        enough = promise.k <= there if looked is None else looked.released
        found.append(
            WindowOutlook(
                length,
                there,
                there,
                None if looked is None else looked.delta,
                None if looked is None else looked.scale,
                float(enough),
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
        present = _presents(promise, sample, numbers)
        sizes = np.array([sum(types) for types in present])
        middle = present[int(np.argsort(sizes, kind="stable")[sizes.size // 2])]
        delta, scale = worst_of(promise, middle)
        found.append(
            WindowOutlook(
                length,
                sum(middle),
                int(sizes.min()),
                delta,
                scale,
                sum(_released(promise, each) for each in present) / len(present),
                float(np.mean((numbers + 1) * length + timing.start - sample.times)) + timing.lateness,
            )
        )
    return found


def _presents(promise: CrowdPromise, sample: CrowdSample, numbers: Integers) -> list[tuple[int, ...]]:
    """Of each window how many users of each type there are; a user's last event says of which he is."""
    last = last_rows(sample.users, numbers)
    windows, places = np.unique(numbers[last], return_inverse=True)
    counts = np.zeros((windows.size, len(promise.types)), dtype=np.int64)
    np.add.at(counts, (places, sample.types[last]), 1)
    return [tuple(row) for row in counts.tolist()]


def last_rows(users: Integers, numbers: Integers) -> Integers:
    """The last event of each user in each window, in the order of the sample."""
    pairs = zip(numbers.tolist(), users.tolist(), strict=True)
    rows = {pair: row for row, pair in enumerate(pairs)}
    return np.sort(np.array([*rows.values()], dtype=np.int64))


def _present(promise: CrowdPromise, types: tuple[int, ...]) -> Present:
    """Of households it is not known who of a sample belongs together: as many whole ones as there can be."""
    if promise.household_most is None:
        return Present(types)
    whole, rest = divmod(sum(types), promise.household_most)
    sizes = range(1, promise.household_most + 1)
    return Present((), tuple(whole if size == promise.household_most else int(size == rest) for size in sizes))


def worst_of(promise: CrowdPromise, types: tuple[int, ...]) -> tuple[float | None, Fraction | None]:
    account, target = promise.account, promise.target
    if account is None or target is None:
        return None, None
    present = _present(promise, types)
    delta = account.worst(present)
    scale = account.noise_for(present) if delta > target.delta and promise.tops_up else None
    return (delta if scale is None else account.worst(present, scale)), scale


def _released(promise: CrowdPromise, types: tuple[int, ...]) -> bool:
    if not promise.k <= sum(types) <= MOST_PEOPLE:
        return False
    delta, _ = worst_of(promise, types)
    return delta is None or promise.target is None or delta <= promise.target.delta
