"""What the guesses come to: how many were right, how sure the adversary was, what was learnt about whom."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import numpy as np

from stream.attack.bounds import Evidence, ceiling_of, exceeds, exceeds_measured, interval_of, line_above
from stream.attack.watch import (
    BEFORE,
    BEFORE_RIGHT,
    BLIND,
    BLIND_RIGHT,
    DOWN,
    DUMMY,
    FAR_DOWN,
    FAR_UP,
    GAIN,
    GIVEN,
    KIND,
    REFUTED,
    RELEASED,
    RIGHT,
    SILENT,
    SPENT,
    SURE,
    UP,
    WINDOW,
)
from stream.audit.amounts import Floats, Integers

BINS: Final = 20
ROUNDING: Final = 1e-9
"""What logarithms of sums over thousands of doubles may be off by; the bounds themselves are not widened."""

# Columns of what is summed up about a user: guesses scored, right ones, right ones without any release; releases heard,
# what was learnt in all; the largest log ratio to the chance without releases, either way; of the first scored release
# whether the guess was right, and the chance allowed.
SCORED_U, RIGHT_U, BLIND_U, HEARD_U, GAIN_U, FAR_U, FIRST_RIGHT, FIRST_ALLOWED = range(8)


@dataclass(frozen=True)
class Unit:
    """What epsilon is promised of: an event, or a window of so many at most."""

    name: str
    events: int
    shown_together: bool = False

    @property
    def moment(self) -> str:
        """What tells something of it."""
        return "release" if self.name == "event" else "window"


@dataclass(frozen=True)
class Limits:
    """What is promised of a unit, in nats: by how much it makes no value likelier, nor less likely, for the adversary
    as it is; and the same of the channel itself."""

    up: float
    down: float
    channel_up: float
    channel_down: float

    @property
    def reader(self) -> float:
        return max(self.up, self.down)

    def on_a_path(self, spent: Floats) -> tuple[Floats, Floats]:
        """What is left of the channel's for the true values of a window that has made them likelier by so much already;
        NaN: by nobody knows how much."""
        widest = self.channel_up + self.channel_down
        unknown = np.isnan(spent)
        return np.where(unknown, widest, self.channel_up - spent), np.where(unknown, widest, self.channel_down + spent)


@dataclass
class Scores:
    """Sums over releases; `users` has one row a user of the partition. Only values that the adversary did not know
    beforehand are counted, and only with the truth at hand are guesses scored."""

    limits: Limits
    unit: Unit = field(default_factory=lambda: Unit("event", 1))
    released: int = 0
    silent: int = 0
    given: int = 0
    refuted: int = 0
    scored: int = 0
    right: int = 0
    before_right: int = 0
    blind_right: int = 0
    sure: float = 0.0
    before: float = 0.0
    blind: float = 0.0
    possible: float = 0.0
    allowed: float = 0.0
    gain: float = 0.0
    beyond: int = 0
    largest: float = 0.0
    bins: Floats = field(default_factory=lambda: np.zeros((3, BINS)))
    evidence: Evidence = field(default_factory=Evidence)
    users: Floats = field(default_factory=lambda: np.zeros((0, 8)))

    def add(self, users: Integers, seen: Floats, known: Integers) -> None:
        """The next events of the partition; `known` says of which the truth is at hand."""
        self.silent += int((seen[:, KIND] == SILENT).sum())
        self.given += int((seen[:, KIND] == GIVEN).sum())
        heard = seen[:, KIND] == RELEASED
        users, seen, known = users[heard], seen[heard], known[heard]
        self._hear(users, seen)
        self._score(users[known >= 0], seen[known >= 0])

    def make_room(self, users: int) -> None:
        self.users = np.concatenate([self.users, np.zeros((users - self.users.shape[0], 8))])

    def _hear(self, users: Integers, seen: Floats) -> None:
        self.released += seen.shape[0]
        self.refuted += int(seen[:, REFUTED].sum())
        self.sure += float(seen[:, SURE].sum())
        self.before += float(seen[:, BEFORE].sum())
        self.blind += float(seen[:, BLIND].sum())
        self.gain += float(seen[:, GAIN].sum())
        self.possible += float(ceiling_of(seen[:, BEFORE], self.limits.up, self.limits.down).sum())
        moved = np.maximum(seen[:, UP], seen[:, DOWN])
        self.largest = max(self.largest, float(moved.max(initial=0.0)))
        beyond = (seen[:, UP] > self.limits.up + ROUNDING) | (seen[:, DOWN] > self.limits.down + ROUNDING)
        self.beyond += int(beyond.sum())
        np.add.at(self.users[:, HEARD_U], users, 1.0)
        np.add.at(self.users[:, GAIN_U], users, seen[:, GAIN])
        np.maximum.at(self.users[:, FAR_U], users, np.maximum(seen[:, FAR_UP], seen[:, FAR_DOWN]))

    def _score(self, users: Integers, seen: Floats) -> None:
        right, limits = seen[:, RIGHT], self.limits
        if self.measured:
            allowed = line_above(seen[:, BEFORE], seen[:, DUMMY], limits.channel_up, limits.channel_down)
            self._bet_on_windows(seen[:, WINDOW], right, allowed)
        else:
            allowed = ceiling_of(seen[:, DUMMY], *limits.on_a_path(seen[:, SPENT]))
            self.evidence.add(right, allowed)
        self.scored += right.shape[0]
        self.right += int(right.sum())
        self.before_right += int(seen[:, BEFORE_RIGHT].sum())
        self.blind_right += int(seen[:, BLIND_RIGHT].sum())
        self.allowed += float(allowed.sum())
        places = np.minimum((seen[:, SURE] * BINS).astype(np.int64), BINS - 1)
        for row, amount in enumerate((np.ones(right.shape[0]), seen[:, SURE], right)):
            np.add.at(self.bins[row], places, amount)
        first, at = np.unique(users, return_index=True)
        new = self.users[first, SCORED_U] == 0
        self.users[first[new], FIRST_RIGHT] = right[at[new]]
        self.users[first[new], FIRST_ALLOWED] = (seen[:, DUMMY] if self.measured else allowed)[at[new]]
        for column, amount in ((SCORED_U, np.ones(right.shape[0])), (RIGHT_U, right), (BLIND_U, seen[:, BLIND_RIGHT])):
            np.add.at(self.users[:, column], users, amount)

    @property
    def measured(self) -> bool:
        """Whether what the bound allows is not known, but measured beside each window."""
        return self.unit.shown_together

    def _bet_on_windows(self, windows: Floats, right: Floats, allowed: Floats) -> None:
        """One bet for each window: all its guesses hang on the same coins."""
        _, number = np.unique(windows, return_inverse=True)
        if not number.shape[0]:
            return
        count = np.bincount(number)
        means = [np.bincount(number, weights=each) / count for each in (right, allowed)]
        self.evidence.add_measured(means[0], means[1], math.exp(self.limits.channel_up))

    def cut_to(self, users: int) -> Scores:
        """Without the rows that no user has come for yet."""
        return replace(self, users=self.users[:users])

    def plus(self, other: Scores) -> Scores:
        """Both together; users of the other come behind."""
        both: dict[str, Any] = {}
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.name in ("limits", "unit"):
                both[each.name] = mine
            elif each.name == "evidence":
                both[each.name] = Evidence(mine.capital + theirs.capital)
            elif each.name == "users":
                both[each.name] = np.concatenate([mine, theirs])
            else:
                both[each.name] = max(mine, theirs) if each.name == "largest" else mine + theirs
        return Scores(**both)

    def rate(self, name: str) -> float | None:
        """The share of scored guesses; None without any. A share that was measured may come out above all."""
        return min(getattr(self, name) / self.scored, 1.0) if self.scored else None

    def mean(self, name: str) -> float | None:
        return getattr(self, name) / self.released if self.released else None

    @property
    def calibration(self) -> list[tuple[int, float, float, tuple[float, float]]]:
        """For each bin with guesses: how many, how sure they were, how many came true, and that rate's interval."""
        return [
            (int(count), sure / count, right / count, interval_of(int(right), int(count)))
            for count, sure, right in self.bins.T.tolist()
            if count
        ]

    @property
    def calibration_error(self) -> float | None:
        """The mean distance between how sure a guess was and how often such guesses came true."""
        if not self.scored:
            return None
        return float(np.abs(self.bins[1] - self.bins[2]).sum()) / self.scored

    @property
    def one_each(self) -> tuple[int, int, float]:
        """Of each user the first scored release: how many users, right guesses, and the mean chance allowed; where that
        is measured, how often chance alone was right."""
        users = self.users[self.users[:, SCORED_U] > 0]
        if not users.shape[0]:
            return 0, 0, 1.0
        return users.shape[0], int(users[:, FIRST_RIGHT].sum()), float(users[:, FIRST_ALLOWED].mean())

    @property
    def too_often(self) -> bool:
        """Whether guesses were right more often than the bound allows, with 99.9 % confidence."""
        users, right, allowed = self.one_each
        if self.measured:
            up, down = self.limits.channel_up, self.limits.channel_down
            too_often = users > 0 and exceeds_measured(right, users, round(allowed * users), up, down)
        else:
            too_often = users > 0 and exceeds(right, users, allowed)
        return self.evidence.against_the_bound or too_often
