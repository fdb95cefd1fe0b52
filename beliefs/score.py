"""Evidence that a model is wrong, from the releases alone. Proof: score.md.

Each release was drawn from a law that the model predicted. If the model is right, no bet against it gains; here four
bets are kept open that releases are less, or more, predictable than it says. Each event costs one pass over the values
that may be released.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from beliefs.native import kernel

Floats = npt.NDArray[np.float64]


class Score(IntEnum):
    """Places in the array that a monitor keeps."""

    EVENTS = 0
    SEEN = 1  # sum of log p(y) of what was released
    EXPECTED = 2  # sum of what the model expects that to be
    VARIANCE = 3  # sum of its variances
    BETS = 4  # the four bets' wealth


WIDTH = 8
BETS = 4
_EVENTS, _SEEN, _EXPECTED, _VARIANCE, _BETS = (int(place) for place in Score)
_MOST = 1.0e300


def new_score() -> Floats:
    return np.zeros(WIDTH)


@kernel
def observe(score: Floats, law: Floats, count: int, released: int, off: float = 0.0) -> None:
    """Take in one release: `law[:count]` are the weights of what might have been released, `released` its place. The
    law that is to be tested gives each value between exp(-off) and exp(off) times what `law` does.
    """
    total = 0.0
    for i in range(count):
        total += law[i]
    mean, square = 0.0, 0.0
    many, roots, squares, cubes = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        p = law[i] / total
        if p > 0.0:
            log = math.log(p)
            mean += p * log
            square += p * log * log
            many += 1.0
            roots += math.sqrt(p)
            squares += p * p
            cubes += p * math.sqrt(p)
    events = score[_EVENTS] + 1.0
    p = law[released] / total
    score[_EVENTS] = events
    score[_SEEN] += math.log(p) if p > 0.0 else -math.inf
    score[_EXPECTED] += mean
    score[_VARIANCE] += max(square - mean * mean, 0.0)
    # A stake of 1/(n (n + 1)) joins each bet at event n; rounding may only lose.
    stake, careful = 1.0 / (events * (events + 1.0)), 1.0 - (count + 16.0) * 2.220446049250313e-16
    careful *= max(0.0, 1.0 - off)
    root = math.sqrt(p)
    place_bet(score, 0, stake, 1.0 / many, p, careful)
    place_bet(score, 1, stake, root / roots, p, careful)
    place_bet(score, 2, stake, p * root / cubes, p, careful)
    place_bet(score, 3, stake, p * p / squares, p, careful)


@kernel
def place_bet(score: Floats, bet: int, stake: float, other: float, predicted: float, careful: float) -> None:
    """Wealth grows by the ratio of the bet's own law to the model's."""
    if predicted > 0.0:
        score[_BETS + bet] = min(_MOST, (score[_BETS + bet] + stake) * (other / predicted) * careful)
    else:
        score[_BETS + bet] = _MOST  # the model called it impossible


@kernel
def evidence(score: Floats) -> float:
    """What one unit of money has become; under a right model it ever reaches 1/alpha with probability alpha at most."""
    reserve = 1.0 / (score[_EVENTS] + 1.0)
    bets = score[_BETS] + score[_BETS + 1] + score[_BETS + 2] + score[_BETS + 3]
    return float(reserve + bets / 4.0)


@kernel
def alarmed(score: Floats, alpha: float) -> bool:
    return bool(evidence(score) * alpha >= 1.0)
