"""The ledger of one user: reserve the worst case before a coin is looked at, settle what the release really told.

Two counters, because they are both valid and neither bounds the other: `upper` sums max over x of log a(y|x)/p(y),
`lower` sums max over x of log p(y)/a(y|x), for the y that were released. For every sequence x of the user, log
P(y|x)/P(y) is the sum over the steps of log a(y_k|x_k)/p(y_k), hence at most `upper` and at least -`lower`. The
charge depends on released values only.

A budget bounds both counters, per window of event time or for ever. A window is an index, floor(event time / length),
and never goes back: an event that is late is charged to the window that its user has reached.
"""

from __future__ import annotations

from beliefs.native import kernel
from beliefs.rounding import INFINITE, add_units

FOREVER = 0


@kernel
def window_of(time: int, length: int) -> int:
    return time // length if length > 0 else 0


@kernel
def fits(upper: int, lower: int, reserve_upper: int, reserve_lower: int, budget: int) -> bool:
    """Whether a release whose worst case is the reserve may be looked at, given what the window has spent."""
    if budget >= INFINITE:
        return True
    return add_units(upper, reserve_upper) <= budget and add_units(lower, reserve_lower) <= budget


@kernel
def spread_counts(shift: int, epsilon: int) -> bool:
    """Whether the shift has reached half of epsilon (2 shift >= epsilon, written so that it cannot overflow)."""
    return shift > 0 and shift >= epsilon - shift


@kernel
def charge_of(log_ratio: int, log_spread: int, shift: int, epsilon: int) -> int:
    """What one side of a release costs when a reader's marginal is within exp(+-shift) of the computed one; in units.

    The shift is the drift of the stored belief and what is withheld for readers who believe something else
    (beliefs/leakage/robust.md). The cost is at most log_ratio + shift; whatever the belief, it is at most log_spread,
    the largest log ratio between two rows. The second is used once the shift reaches half of epsilon: from there on
    mechanisms are built for epsilon / 2, whose spread is at most epsilon.
    """
    return log_spread if spread_counts(shift, epsilon) else add_units(log_ratio, shift)
