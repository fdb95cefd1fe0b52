"""A chain from releases alone: what each release says is known, the values behind them are not.

`Heard` holds, for each event of each user, how likely its release was after each value: a column of a channel that is
public. `learn_hidden` climbs to a chain under which what was released is likeliest (Baum and Welch). Proof: hidden.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beliefs.chain import Indices
from beliefs.checks import require
from beliefs.native import kernel
from beliefs.simplex import Vector

ENOUGH = 1e-7
"""It ends when three steps in a row gain less than this per event, in nats."""
ROUNDS_MOST = 2000
PRIOR = 0.5
"""Events that each transition is given beforehand, so that none becomes impossible."""


Workplace = tuple[Vector, Vector, Vector]


@dataclass(frozen=True)
class Heard:
    """`columns[which[i]]` belongs to event i; the events of user u are those from `begins[u]` to `begins[u + 1]`."""

    columns: Vector
    which: Indices
    begins: Indices

    @property
    def values(self) -> int:
        return int(self.columns.shape[1])

    @property
    def users(self) -> int:
        return int(self.begins.size) - 1

    @property
    def events(self) -> int:
        return int(self.which.size)

    def of_users(self, chosen: Indices) -> Heard:
        """The same of these users alone."""
        places, begins = self.places_of(chosen)
        return Heard(self.columns, self.which[places], begins)

    def places_of(self, chosen: Indices) -> tuple[Indices, Indices]:
        """Of these users alone: their places in `which`, and where each begins."""
        spans = [np.arange(self.begins[user], self.begins[user + 1]) for user in chosen.tolist()]
        lengths = [span.size for span in spans]
        return np.concatenate(spans), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def workplace(self) -> Workplace:
        """What `expect` writes into beside its results."""
        longest = int(np.diff(self.begins).max(initial=1))
        return np.zeros((longest, self.values)), np.zeros(longest), np.zeros((2, self.values))

    def expect(self, start: Vector, matrix: Vector, work: Workplace, expected: Vector, firsts: Vector) -> float:
        """Expected transitions and first values given all releases; the log-likelihood."""
        return float(expect(self.columns, self.which, self.begins, start, matrix, *work, expected, firsts))


@dataclass(frozen=True)
class Hidden:
    """A start law and rows, the mean log-likelihood of an event under them, and how it got there."""

    start: Vector
    matrix: Vector
    told: float
    rounds: int


@kernel
def expect(
    columns: Vector,
    which: Indices,
    begins: Indices,
    start: Vector,
    matrix: Vector,
    filtered: Vector,
    scales: Vector,
    behind: Vector,
    expected: Vector,
    firsts: Vector,
) -> float:
    """Expected transitions and first values given all releases; returns the log-likelihood.

    `filtered` and `scales` have room for the longest user; `behind` holds two rows.
    """
    n, whole = start.shape[0], 0.0
    for x in range(n):
        firsts[x] = 0.0
        for y in range(n):
            expected[x, y] = 0.0
    for user in range(begins.shape[0] - 1):
        heard = which[begins[user] : begins[user + 1]]
        if heard.shape[0] > 0:
            whole += _forth(columns, heard, start, matrix, filtered, scales)
            _back(columns, heard, matrix, filtered, scales, behind, expected)
            for x in range(n):
                firsts[x] += filtered[0, x] * behind[0, x]
    return whole


@kernel
def _forth(columns: Vector, heard: Indices, start: Vector, matrix: Vector, filtered: Vector, scales: Vector) -> float:
    """What is known of each value from the releases up to its own; returns the user's log-likelihood."""
    n, whole = start.shape[0], 0.0
    for t in range(heard.shape[0]):
        column, scale = columns[heard[t]], 0.0
        for y in range(n):
            mass = start[y]
            if t > 0:
                mass = 0.0
                for x in range(n):
                    mass += filtered[t - 1, x] * matrix[x, y]
            filtered[t, y] = mass * column[y]
            scale += filtered[t, y]
        for y in range(n):
            filtered[t, y] /= scale
        scales[t] = scale
        whole += np.log(scale)
    return whole


@kernel
def _back(
    columns: Vector,
    heard: Indices,
    matrix: Vector,
    filtered: Vector,
    scales: Vector,
    behind: Vector,
    expected: Vector,
) -> None:
    """Adds what is to be expected of each transition; `behind[0]` is left at the user's first value."""
    n = matrix.shape[0]
    for y in range(n):
        behind[0, y] = 1.0
    for t in range(heard.shape[0] - 1, 0, -1):
        column = columns[heard[t]]
        for y in range(n):
            behind[1, y] = behind[0, y] * column[y] / scales[t]
        for x in range(n):
            ahead = 0.0
            for y in range(n):
                share = matrix[x, y] * behind[1, y]
                ahead += share
                expected[x, y] += filtered[t - 1, x] * share
            behind[0, x] = ahead


class _Step:
    """One step of Baum and Welch, with its memory."""

    def __init__(self, heard: Heard) -> None:
        n = heard.values
        self._heard, self._work = heard, heard.workplace()
        self._expected, self._firsts = np.zeros((n, n)), np.zeros(n)
        self.likelihood = self.told = 0.0

    def __call__(self, point: Vector) -> Vector:
        """From a start law above its rows to the next; `told` is the log posterior of the first."""
        firsts, transitions = self.counts(point[0], point[1:])
        with np.errstate(divide="ignore"):
            self.told = self.likelihood + PRIOR * float(np.log(point).sum())
        counts = np.concatenate([firsts[None], transitions]) + PRIOR
        following: Vector = counts / counts.sum(axis=1, keepdims=True)
        return following

    def counts(self, start: Vector, matrix: Vector) -> tuple[Vector, Vector]:
        """Expected first values and transitions, which the next call overwrites."""
        laws = np.ascontiguousarray(start), np.ascontiguousarray(matrix)
        self.likelihood = self._heard.expect(*laws, self._work, self._expected, self._firsts)
        return self._firsts, self._expected


def learn_hidden(
    heard: Heard, start: Vector, matrix: Vector, tell: Callable[[int, float], None] | None = None
) -> Hidden:
    """The likeliest chain that is reached from this one; a value that a row calls impossible is given a little."""
    require(heard.which.size > 0, "something was released")
    step, events = _Step(heard), heard.events
    point = _inside(np.concatenate([start[None], matrix]))
    rounds, idle, before = 0, 0, -np.inf
    while idle < 3 and rounds < ROUNDS_MOST:
        point, told, steps = _leap(step, point)
        rounds += steps
        idle = idle + 1 if told - before < ENOUGH * events else 0
        before = told
        if tell is not None:
            tell(rounds, told / events)
    return Hidden(point[0].copy(), point[1:].copy(), told_by(heard, point[0], point[1:]), rounds)


def told_by(heard: Heard, start: Vector, matrix: Vector) -> float:
    """The mean log-likelihood of an event under a chain; minus infinity where what was released is impossible."""
    step = _Step(heard)
    step(np.concatenate([start[None], matrix]))
    return step.likelihood / heard.events


def _leap(step: _Step, point: Vector) -> tuple[Vector, float, int]:
    """Two steps, and one as far as their difference suggests, in the logarithms; back to the two if that is no better.

    Returns where it got to, the log posterior of the point before, and how many steps that took.
    """
    first = step(point)
    told = step.told
    second = step(first)
    of_first = step.told
    way, bend = np.log(first) - np.log(point), np.log(second) - 2.0 * np.log(first) + np.log(point)
    size = float(np.sqrt((bend**2).sum()))
    if size < 1e-12:
        return second, told, 2
    far = max(1.0, float(np.sqrt((way**2).sum())) / size)
    leapt = _inside(np.exp(np.clip(np.log(point) + 2.0 * far * way + far * far * bend, -60.0, 0.0)))
    landed = step(leapt)
    return (landed if step.told >= of_first else second), told, 3


def _inside(point: Vector) -> Vector:
    raised = np.maximum(point, 1e-9)
    inside: Vector = raised / raised.sum(axis=1, keepdims=True)
    return inside


def closed_form(pairs: Vector, keep: float, other: float) -> tuple[Vector, Vector]:
    """Start and rows from how often one release followed another, where each value keeps itself with probability `keep`
    and becomes each other one with `other`: the exact solution, with what is below 0 cut off.
    """
    require(keep > other >= 0.0, "a release speaks for its value")
    n = pairs.shape[0]
    shares = pairs / pairs.sum()
    apart = keep - other
    of_first = (shares.sum(axis=1) - other) / apart
    of_next = (shares.sum(axis=0) - other) / apart
    joint = (shares - other * apart * (of_first[:, None] + of_next[None, :]) - other**2) / apart**2
    joint = np.maximum(joint, 0.0)
    rows = joint.sum(axis=1, keepdims=True)
    matrix = np.where(rows > 0, joint / np.where(rows > 0, rows, 1.0), 1.0 / n)
    start = np.maximum(of_first, 0.0)
    return start / start.sum(), matrix


def spread_of(heard: Heard, groups: Indices, whole: Hidden) -> Vector:
    """The standard error of each entry of start and rows: the jackknife over groups of users, each left out in turn."""
    several = np.array([np.concatenate([rest.start[None], rest.matrix]) for rest in without_each(heard, groups, whole)])
    count = len(several)
    spread: Vector = np.sqrt((count - 1) / count * ((several - several.mean(axis=0)) ** 2).sum(axis=0))
    return spread


def without_each(heard: Heard, groups: Indices, whole: Hidden) -> list[Hidden]:
    """Learnt again without each group of users, from the chain of all."""
    numbers = np.unique(groups).tolist()
    return [
        learn_hidden(heard.of_users(np.flatnonzero(groups != group)), whole.start, whole.matrix) for group in numbers
    ]


def occupancy(heard: Heard, chain: Hidden) -> Vector:
    """How often each value is to be expected among all events, given all that was heard, under a chain."""
    step = _Step(heard)
    firsts, transitions = step.counts(chain.start, chain.matrix)
    shares: Vector = (firsts + transitions.sum(axis=0)) / heard.events
    return shares
