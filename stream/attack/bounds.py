"""How often a guess may be right, and whether it was right too often. The proofs are in `bounds.md`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from stream.audit.amounts import Floats

CONFIDENCE: Final = 0.999
ENOUGH: Final = 1 / (1 - CONFIDENCE)
"""Evidence above this speaks against the bound: under the bound it comes up with a chance of at most 0.001."""
_TILTS: Final = np.array([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0])
_STAKES: Final = np.array([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.9])


def ceiling_of(chance: Floats, up: float | Floats, down: float | Floats | None = None) -> Floats:
    """The most that an event of this chance can become when nothing becomes more than e^up times as likely, nor more
    than e^down times less (by default as much): neither it nor its contrary."""
    down = up if down is None else down
    with np.errstate(invalid="ignore"):
        grown = np.where(np.isinf(up), 1.0, chance * np.exp(up))
    kept = 1.0 - np.exp(-np.asarray(down)) * (1.0 - chance)
    return np.asarray(np.clip(np.minimum(grown, kept), 0.0, 1.0), dtype=np.float64)


def line_above(before: Floats, hit: Floats, up: float, down: float) -> Floats:
    """The ceiling is the lower of two lines; of them the one that is lower at `before`, taken at `hit`. It lies above
    the ceiling everywhere, and its mean over chances is its value at their mean."""
    corner = -math.expm1(-down) / (math.exp(up) - math.exp(-down))
    return np.where(before < corner, hit * math.exp(up), 1.0 - math.exp(-down) * (1.0 - hit))


@dataclass
class Evidence:
    """Bets against the bound: a capital that begins with 1 and is not expected to grow while the bound holds.

    It may be looked at after each event; that it ever reaches 1,000 has a chance of 0.001 at most.
    """

    capital: Floats = field(default_factory=lambda: np.zeros(_TILTS.shape[0]))

    def add_measured(self, right: Floats, allowed: Floats, most: float) -> None:
        """How many guesses were right, as a share, and an independent measurement of the share that the bound allows,
        which never says more than `most`."""
        for place, stake in enumerate(_STAKES):
            self.capital[place] += float(np.log1p(stake / most * (right - allowed)).sum())

    def add(self, right: Floats, allowed: Floats) -> None:
        """Whether each guess was right, and the chance that the bound allowed it."""
        for place, tilt in enumerate(_TILTS):
            won = tilt * right - np.log1p(allowed * math.expm1(tilt))
            self.capital[place] += float(won.sum())

    @property
    def log10(self) -> float:
        most = float(self.capital.max())
        return (most + math.log(float(np.exp(self.capital - most).mean()))) / math.log(10)

    @property
    def against_the_bound(self) -> bool:
        return self.log10 >= math.log10(ENOUGH)


def interval_of(right: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Clopper and Pearson's: each end is missed with a chance of at most (1 - confidence) / 2."""
    missed = (1.0 - confidence) / 2
    if trials == 0:
        return 0.0, 1.0
    table = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    low = 0.0 if right == 0 else _crossing(lambda p: _at_least(right, table, p) - missed)
    high = 1.0 if right == trials else _crossing(lambda p: missed - (1.0 - _at_least(right + 1, table, p)))
    return low, high


def _at_least(right: int, factorials: Floats, chance: float) -> float:
    """The chance that a binomial variable is this much or more."""
    trials = factorials.shape[0] - 1
    if chance <= 0.0 or chance >= 1.0:
        return float(right <= (0 if chance <= 0.0 else trials))
    counts = np.arange(right, trials + 1)
    logs = factorials[trials] - factorials[counts] - factorials[trials - counts]
    logs = logs + counts * math.log(chance) + (trials - counts) * math.log1p(-chance)
    return min(1.0, float(np.exp(logs).sum()))


def _crossing(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0.0 else (low, middle)
    return low


def exceeds_measured(right: int, trials: int, chance_right: int, up: float, down: float) -> bool:
    """The same where the chances are not known, but beside each trial one was made of a guess about nothing."""
    if math.isinf(up):
        return False
    chance = np.array([interval_of(chance_right, trials)[1]])
    return exceeds(right, trials, float(ceiling_of(chance, up, down)[0]))


def exceeds(right: int, trials: int, allowed: float) -> bool:
    """Whether so many right guesses, one for each user, are too many for chances whose mean is `allowed`."""
    return right >= trials * allowed + 1 and interval_of(right, trials)[0] > allowed
