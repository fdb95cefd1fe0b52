"""What an adversary believes about every value of one user, before, at and after each release: exact Bayes, plainly.

`forth` is the forward filter; `forth_and_back` adds what later releases say about earlier values. A row of `weights` is
the chance of what was seen of an event for each value: the column of its release, ones where nothing was told, zeros
where the adversary knows better. Proofs in `posterior.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream.audit.amounts import Floats, Integers
from stream.audit.law import Law

Moves = Sequence[Sequence[int]]
"""For each event the numbers of the steps that the law takes before it; the first event begins the law instead."""


class Refuted(ValueError):
    """What was seen cannot happen under the law: there is no posterior."""


class Beliefs(NamedTuple):
    """Chances of each value, one row an event: before it is seen, after it, and in the end."""

    before: Floats
    after: Floats
    in_the_end: Floats


class Transitions:
    """One step of a law, forward and backward, in each of its phases."""

    def __init__(self, law: Law) -> None:
        self._law, self._size = law, law.start.shape[0]
        counts = np.diff(law.first).reshape(law.phases, self._size)
        places = np.split(np.arange(law.before.shape[0]), np.cumsum(counts.sum(axis=1))[:-1])
        self._entered = [np.repeat(np.arange(self._size), row) for row in counts]
        self._left = [law.before[where] for where in places]
        self._chance = [law.chance[where] for where in places]

    def forward(self, belief: Floats, step: int) -> Floats:
        phase, law = step % self._law.phases, self._law
        flow = belief[self._left[phase]] * self._chance[phase]
        ahead: Floats = np.bincount(self._entered[phase], weights=flow, minlength=self._size).astype(np.float64)
        if law.tail.shape[0]:
            ahead = ahead + float((belief * law.left).sum()) * law.tail
        return np.asarray(ahead / ahead.sum(), dtype=np.float64)

    def backward(self, likelihood: Floats, step: int) -> Floats:
        phase, law = step % self._law.phases, self._law
        flow = likelihood[self._entered[phase]] * self._chance[phase]
        earlier: Floats = np.bincount(self._left[phase], weights=flow, minlength=self._size).astype(np.float64)
        if law.tail.shape[0]:
            earlier = earlier + float((likelihood * law.tail).sum()) * law.left
        return np.asarray(earlier, dtype=np.float64)


def moves_by_event(events: int) -> Moves:
    return [[] if at == 0 else [at] for at in range(events)]


def moves_by_clock(times: Integers, interval: int, most: int) -> Moves:
    """One step for each interval that has begun since the latest event so far, at most so many."""
    reached = np.maximum.accumulate(times // interval)
    now = times // interval
    return [
        [] if at == 0 else range(max(int(now[at]) - most, int(reached[at - 1])) + 1, int(now[at]) + 1)
        for at in range(times.shape[0])
    ]


def given(columns: Floats, known: dict[int, int]) -> Floats:
    """The columns, and where the adversary knows a value, nothing else is possible."""
    weights = columns.copy()
    for event, value in known.items():
        kept = weights[event, value] if weights[event, value] > 0.0 else 1.0
        weights[event] = 0.0
        weights[event, value] = kept
    return weights


def forth_and_back(law: Law, moves: Moves, weights: Floats) -> Beliefs:
    """`Refuted` where the law has no room for what was seen."""
    steps, seen = Transitions(law), weights[:, law.ends]
    before, after = _forth(law, steps, moves, seen)
    end = after.copy()
    later = np.ones(law.start.shape[0])
    for at in range(len(moves) - 1, -1, -1):
        end[at] = after[at] * later
        end[at] /= end[at].sum()
        later = later * seen[at]
        for step in reversed(moves[at]):
            later = steps.backward(later, step)
        later = later / later.max()
    return Beliefs(*(by_value(law, states) for states in (before, after, end)))


def _forth(law: Law, steps: Transitions, moves: Moves, seen: Floats) -> tuple[Floats, Floats]:
    before, after = np.zeros(seen.shape), np.zeros(seen.shape)
    for at in range(len(moves)):
        ahead = law.start / law.start.sum() if at == 0 else after[at - 1]
        for step in moves[at]:
            ahead = steps.forward(ahead, step)
        before[at] = ahead
        together = ahead * seen[at]
        chance = float(together.sum())
        if not chance > 0.0:
            raise Refuted(f"event {at + 1} of the user cannot happen under this law")
        after[at] = together / chance
    return before, after


def by_value(law: Law, states: Floats) -> Floats:
    values = np.zeros((states.shape[0], law.begin.shape[0] - 1))
    np.add.at(values.T, law.ends, states.T)
    return values
