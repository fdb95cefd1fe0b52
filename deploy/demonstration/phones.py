"""A few hundred simulated phones. What each is doing follows a known Markov chain, one step in ten minutes of its time.

The chain is public: it is also what the demonstration gives the pipeline as its model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ACTIVITIES = ("still", "walking", "running", "cycling", "in_car", "on_bus", "on_train", "on_stairs")
START = (0.62, 0.12, 0.01, 0.03, 0.12, 0.04, 0.05, 0.01)
TRANSITIONS = (
    (0.930, 0.045, 0.001, 0.002, 0.012, 0.003, 0.003, 0.004),
    (0.130, 0.780, 0.010, 0.010, 0.025, 0.015, 0.015, 0.015),
    (0.030, 0.120, 0.840, 0.004, 0.001, 0.001, 0.001, 0.003),
    (0.040, 0.060, 0.001, 0.890, 0.004, 0.001, 0.003, 0.001),
    (0.040, 0.050, 0.001, 0.001, 0.905, 0.001, 0.001, 0.001),
    (0.020, 0.090, 0.001, 0.001, 0.001, 0.880, 0.005, 0.002),
    (0.030, 0.060, 0.001, 0.001, 0.001, 0.002, 0.900, 0.005),
    (0.300, 0.390, 0.010, 0.001, 0.004, 0.005, 0.010, 0.280),
)
STEP_MILLISECONDS = 600_000
MODELS = ("aster", "birch", "clover", "daisy")

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Round:
    """One event of every phone: the same event time, each with its own activity."""

    sequence: int
    time: int
    activities: Codes
    batteries: NDArray[np.int64]


class Phones:
    """All phones together. The same seed gives the same lives."""

    def __init__(self, count: int, seed: int, begin: int) -> None:
        self.count = count
        self._begin = begin
        # A counter-based generator under a key: these are lives to be hidden, not the noise that hides them.
        self._draws = np.random.Generator(np.random.Philox(key=seed))
        self._start = np.cumsum(START)
        self._rows = np.cumsum(TRANSITIONS, axis=1)
        self._activities: Codes | None = None
        self._batteries = self._draws.uniform(20, 100, count)
        self._sequence = 0

    def advance(self) -> Round:
        """Ten minutes later."""
        cuts = self._start if self._activities is None else self._rows[self._activities]
        drawn = self._draws.random(self.count)[:, np.newaxis]
        # The last cut may fall short of 1 by a rounding; the last activity takes what is left.
        found = np.minimum((cuts <= drawn).sum(axis=1), len(ACTIVITIES) - 1).astype(np.uint8)
        self._activities = found
        self._batteries -= self._draws.uniform(0.0, 0.2, self.count)
        self._batteries[self._batteries < 5] = 100.0
        self._sequence += 1
        return Round(
            self._sequence,
            self._begin + self._sequence * STEP_MILLISECONDS,
            found,
            self._batteries.astype(np.int64),
        )


def key_of(phone: int) -> bytes:
    return b"phone-%05d" % phone


def phone_of(key: bytes) -> int:
    return int(key[6:])


def messages(phones_round: Round) -> list[bytes]:
    """The raw events of a round, as JSON. `location` is not declared public, so nobody behind the pipeline sees it."""
    heads = [b'{"activity":"%s","battery":' % name.encode() for name in ACTIVITIES]
    tail = b',"time":%d,"sequence":%d' % (phones_round.time, phones_round.sequence)
    models = [b',"device":{"model":"%s"}' % name.encode() for name in MODELS]
    return [
        b'%s%d%s%s,"location":[52.%05d,13.%05d]}'
        % (heads[activity], battery, tail, models[phone % len(models)], phone * 37 % 100_000, phone * 91 % 100_000)
        for phone, (activity, battery) in enumerate(
            zip(phones_round.activities.tolist(), phones_round.batteries.tolist(), strict=True)
        )
    ]
