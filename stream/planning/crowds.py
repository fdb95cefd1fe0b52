"""What windows of other lengths, or crowds of other sizes, would release and tell.

Of a statistic, how many people a window has decides everything: with so many expected, or with those of a sample, it is
known which lengths meet the target. Of records a sample is run through every grouper there is, side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from beliefs.crowd.account import Present
from mechanisms.contract import Integers
from mechanisms.crowds.attributes import Attributes
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.mondrian import mondrian
from mechanisms.crowds.registry import REGISTRY
from stream.crowds.expected import outlook
from stream.crowds.promise import CrowdPromise, Timing
from stream.planning.crowd_sample import CrowdSample
from stream.settings.crowd import MOST_PEOPLE, MOST_WAITING, WINDOWED

FACTORS: Final = tuple(Fraction(2) ** power for power in (-2, -1, 0, 1, 2, 3))
"""Windows of so many times the declared length."""
SIZES: Final = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))
"""Crowds of so many times the declared k."""
MOST_EVENTS: Final = 50_000
"""Of a sample of records no more are run: each is handed to every grouper for every k."""
EVENTS: Final = 1_000
"""So many events wait at most where the settings have windows and declare no delay."""

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


@dataclass(frozen=True)
class GrouperOutlook:
    """One grouper with one k over a sample. `loss` is the mean over what is released; `delay` in milliseconds and in
    events, both means; `users` the mean of a crowd; `delta` None where no bound is known.
    """

    grouper: str
    k: int
    users: float
    loss: float
    suppressed: float
    delay: float
    delay_events: float | None
    delta: float | None


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
        delta, scale = _worst(promise, middle)
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
    last = _last_rows(sample.users, numbers)
    windows, places = np.unique(numbers[last], return_inverse=True)
    counts = np.zeros((windows.size, len(promise.types)), dtype=np.int64)
    np.add.at(counts, (places, sample.types[last]), 1)
    return [tuple(row) for row in counts.tolist()]


def _last_rows(users: Integers, numbers: Integers) -> Integers:
    """The last event of each user in each window, in the order of the sample."""
    seen: dict[tuple[int, int], int] = {}
    for row, pair in enumerate(zip(numbers.tolist(), users.tolist(), strict=True)):
        seen[pair] = row
    return np.sort(np.array(list(seen.values()), dtype=np.int64))


def _present(promise: CrowdPromise, types: tuple[int, ...]) -> Present:
    """Of households it is not known who of a sample belongs together: as many whole ones as there can be."""
    if promise.household_most is None:
        return Present(types)
    whole, rest = divmod(sum(types), promise.household_most)
    sizes = range(1, promise.household_most + 1)
    return Present((), tuple(whole if size == promise.household_most else int(size == rest) for size in sizes))


def _worst(promise: CrowdPromise, types: tuple[int, ...]) -> tuple[float | None, Fraction | None]:
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
    delta, _ = _worst(promise, types)
    return delta is None or promise.target is None or delta <= promise.target.delta


def side_by_side(promise: CrowdPromise, sample: CrowdSample, progress: Doing) -> Iterator[GrouperOutlook]:
    """Every grouper, with several k."""
    release = promise.release
    if release.attributes is None or release.rule is None:
        raise ValueError("only records are grouped")
    rules = [_with(release.rule, k) for k in _sizes(promise.k) if k >= release.rule.diverse]
    timing, form = _timing(promise, sample), _flow(promise)
    done, of = 0, len(rules) * (1 + len(REGISTRY))
    for rule in rules:
        progress(f"{WINDOWED}, k {rule.k:,}", done, of)
        yield _windowed(promise, sample, release.attributes, rule, timing)
        done += 1
        for name in REGISTRY:
            progress(f"{name}, k {rule.k:,}", done, of)
            if rule.k <= form.events:
                yield _flowing(name, sample, replace(form, rule=rule))
            done += 1


def _sizes(k: int) -> list[int]:
    return sorted({max(2, round(k * factor)) for factor in SIZES})


def _with(rule: Rule, k: int) -> Rule:
    return replace(rule, k=k, diverse=min(rule.diverse, k))


def _timing(promise: CrowdPromise, sample: CrowdSample) -> Timing:
    """The declared windows, or ones as long as the declared delay."""
    if promise.timing is not None:
        return promise.timing
    return Timing(promise.flowing.time, int(sample.times[0]), 0, 0, 0)


def _flow(promise: CrowdPromise) -> FlowForm:
    """The declared delay, or one as long as a declared window."""
    release = promise.release
    if release.attributes is None or release.rule is None:
        raise ValueError("only records are grouped")
    events, time = EVENTS, promise.timing.length if promise.timing is not None else promise.flowing.time
    if promise.flow is not None:
        events = promise.flow.events
    return FlowForm(release.attributes, release.rule, min(max(events, release.rule.k), MOST_WAITING), time)


def _windowed(
    promise: CrowdPromise, sample: CrowdSample, attributes: Attributes, rule: Rule, timing: Timing
) -> GrouperOutlook:
    numbers = (sample.times - timing.start) // timing.length
    last = _last_rows(sample.users, numbers)
    ends = (numbers[last] + 1) * timing.length + timing.start + timing.lateness
    crowds = users = suppressed = 0
    losses, deltas = 0.0, []
    for number in np.unique(numbers[last]).tolist():
        rows = last[numbers[last] == number]
        cells = sample.cells[rows]
        sensitive = cells[:, len(attributes)] if rule.values else None
        found = mondrian(attributes, np.ascontiguousarray(cells[:, : len(attributes)]), sensitive, rule)
        crowds += len(found.groups)
        users += sum(group.size for group in found.groups)
        suppressed += found.suppressed.size
        losses += sum(group.size * loss for group, loss in zip(found.groups, found.losses, strict=True))
        types = np.bincount(sample.types[rows], minlength=len(promise.types))
        deltas.append(_worst(promise, tuple(types.tolist()))[0])
    known = sorted(delta for delta in deltas if delta is not None)
    return GrouperOutlook(
        WINDOWED,
        rule.k,
        users / crowds if crowds else 0.0,
        losses / users if users else 1.0,
        suppressed / max(1, users + suppressed),
        float(np.mean(ends - sample.times[last])),
        None,
        known[len(known) // 2] if known else None,
    )


def _flowing(name: str, sample: CrowdSample, form: FlowForm) -> GrouperOutlook:
    flow, named = REGISTRY[name](form), len(form.attributes)
    tally = _Tally(sample.times, form.time)
    users, times, cells = sample.users.tolist(), sample.times.tolist(), sample.cells.tolist()
    for row, time in enumerate(times):
        sensitive = cells[row][named] if form.rule.values else -1
        tally.add(flow.take(row, time, users[row], tuple(cells[row][:named]), sensitive), row)
    tally.add(flow.overdue(times[-1] + form.time), len(times) - 1)
    released = max(1, tally.released)
    return GrouperOutlook(
        name,
        form.rule.k,
        tally.people / released,
        tally.loss / released if tally.released else 1.0,
        1.0 - tally.released / len(times),
        tally.waited / len(times),
        tally.passed / len(times),
        None,
    )


class _Tally:
    """What came out; means are over events."""

    def __init__(self, times: Integers, longest: int) -> None:
        self._times, self._longest = times, longest
        self.released, self.people, self.loss, self.waited, self.passed = 0, 0, 0.0, 0.0, 0.0

    def add(self, emitted: list[Emitted], row: int) -> None:
        """What leaves at this event; by the clock nobody waits longer than is allowed."""
        for each in emitted:
            for seq in each.seqs:
                self.waited += min(float(self._times[row] - self._times[seq]), self._longest)
                self.passed += row - seq
            if each.reason is None:
                count = len(each.seqs)
                self.released += count
                self.people += count * each.users
                self.loss += count * each.loss
