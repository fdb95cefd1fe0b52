"""What attacks show for certain about a leak: lower bounds from draws, to hold against what is claimed.

Whatever an output tells, an event of outputs that is e^leak times as likely for one value as for another shows it.
Both chances are estimated from draws; by Chernoff's bound n KL(share, chance) is at least ln(1/failure) with a
probability of at most `failure` on either side.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from stream.social.world import Integers

FAILURE: Final = 1e-6
"""A leak below the claim is found beyond it at most so often."""

_HALVINGS: Final = 60


def least_leak(one: Integers, other: Integers, failure: float = FAILURE) -> float:
    """At least so many nats lie between the laws that both rows of outputs were drawn from; 0 where nothing is shown.

    Of all events "the output is so large", and "so small", the first half of the draws chooses, the second one decides.
    """
    halves = [np.array_split(rows, 2) for rows in (one, other)]
    thresholds = np.unique(np.concatenate([half[0] for half in halves]))
    best = (0.0, 0, False, 1)
    for up in (True, False):
        shares = [_shares(half[0], thresholds, up=up) for half in halves]
        for first in (0, 1):
            shown = _log_ratio(shares[first], shares[1 - first], halves[0][0].size)
            place = int(shown.argmax())
            if shown[place] > best[0]:
                best = (float(shown[place]), first, up, int(thresholds[place]))
    _, first, up, threshold = best
    hits = [int(((half[1] >= threshold) if up else (half[1] <= threshold)).sum()) for half in halves]
    sizes = [half[1].size for half in halves]
    low = chance_at_least(hits[first], sizes[first], failure / 2)
    high = 1.0 - chance_at_least(sizes[1 - first] - hits[1 - first], sizes[1 - first], failure / 2)
    return max(0.0, math.log(low / high)) if low > 0.0 else 0.0


def chance_at_least(hits: int, draws: int, failure: float) -> float:
    """Below it no chance gives so many hits, but for that failure."""
    share, room = hits / draws, math.log(1.0 / failure) / draws
    low, high = 0.0, share
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _divergence(share, middle) <= room else (middle, high)
    return low


def _divergence(share: float, chance: float) -> float:
    if chance <= 0.0 or chance >= 1.0:
        return 0.0 if share == chance else math.inf
    told = share * math.log(share / chance) if share > 0.0 else 0.0
    return told + ((1 - share) * math.log((1 - share) / (1 - chance)) if share < 1.0 else 0.0)


def _shares(outputs: Integers, thresholds: Integers, *, up: bool) -> np.typing.NDArray[np.float64]:
    ordered = np.sort(outputs)
    below = np.searchsorted(ordered, thresholds, side="left" if up else "right")
    found: np.typing.NDArray[np.float64] = (ordered.size - below if up else below) / ordered.size
    return found


def _log_ratio(
    one: np.typing.NDArray[np.float64], other: np.typing.NDArray[np.float64], draws: int
) -> np.typing.NDArray[np.float64]:
    """Which event to look at: with a few hits more for the other value, so that rare events are not chosen by luck."""
    room = 20.0 / draws
    found: np.typing.NDArray[np.float64] = np.log((one + 1e-12) / (other + room))
    return found
