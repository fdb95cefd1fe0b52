"""What every grouper makes of a sample, side by side: the width of boxes, the wait of events, what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from mechanisms.contract import Integers
from mechanisms.crowds.attributes import Attributes
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.mondrian import mondrian
from mechanisms.crowds.registry import REGISTRY
from stream.crowds.expected import outlook, present_in
from stream.crowds.promise import CrowdPromise, Timing
from stream.planning.crowd_sample import CrowdSample
from stream.planning.crowds import Doing, last_rows
from stream.settings.crowd import MOST_WAITING, WINDOWED

SIZES: Final = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5))
"""Crowds of so many times the declared k."""
MOST_EVENTS: Final = 50_000
"""Of a sample of records no more are run: each is handed to every grouper for every k."""
EVENTS: Final = 1_000
"""So many events wait at most where the settings have windows and declare no delay."""


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
    last = last_rows(sample.users, numbers)
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
        deltas.append(outlook(promise, present_in(promise, tuple(types.tolist()))).delta)
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
