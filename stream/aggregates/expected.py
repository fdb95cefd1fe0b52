"""What the gate will make of windows, and how near noise leaves their numbers: known in advance, as nobody's data
matters to either.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

from stream.aggregates.ledger import MOST_NOISE
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.query import Query
from stream.aggregates.release import CONFIDENCE, CONFIDENCE_OF_A_PART


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


def right_within(query: Query) -> float:
    """How far a count, a sum or a cell is from the truth at most, with 95 %, in the unit of its field."""
    return float(query.noise[0].interval(CONFIDENCE) * Fraction(query.grid))


def mean_within(query: Query, users: int) -> float | None:
    """How far a mean over so many users is from the truth at most, with 95 %, for the worst mean; None where the noise
    is larger than they are.

    Sum and count are each right to their margins S and N with 97.5 %; of users n with a mean m above the centre the
    quotient is within (S + |m| N)/(n - N) of m, and |m| is at most half of the range.
    """
    summed, counted = (noise.interval(CONFIDENCE_OF_A_PART) for noise in query.noise)
    if users <= counted:
        return None
    far = max(query.most - query.centre, query.centre - query.least)
    return float(Fraction(summed + far * counted, users - counted) * Fraction(query.grid))
