"""What the gate will make of windows, known in advance because it looks at nobody's data."""

from __future__ import annotations

from bisect import bisect_right

from stream.aggregates.ledger import MOST_NOISE
from stream.aggregates.promise import AggregatePromise


def fitting_windows(promise: AggregatePromise) -> int:
    """How many windows in a row are released with their own noise, from the first on; at most the horizon."""
    if promise.target is None:
        return promise.horizon
    loss, leak = promise.window_loss, promise.claim.leak
    return bisect_right(range(1, promise.horizon + 1), promise.target, key=lambda count: leak([loss] * count))


def topped_up(promise: AggregatePromise) -> float | None:
    """By how much the noise of the window after these grows; None where it is withheld, or where all fit."""
    fit, loss = fitting_windows(promise), promise.window_loss
    if promise.beyond != "top_up" or promise.target is None or fit == promise.horizon:
        return None
    left = promise.claim.next_loss([loss] * fit, promise.target)
    return loss / left if 0 < left <= loss <= left * MOST_NOISE else None
