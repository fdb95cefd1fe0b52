"""Beliefs whose beginning nobody knows, worked out a second time: after how many predictions it no longer matters.

One prediction brings any two beliefs within 2 ln((1 + c)/(1 - c)) of one another in Hilbert's metric, c being what a
relative error keeps of itself; each further one leaves c of that and adds the rounding of an event. A drift can be
written down once it is below 1 nat. That takes so many predictions, 127 at most, or else it is never known.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

from beliefs.native import kernel
from stream.audit.amounts import DRIFT_STEP_UNITS, DRIFT_UNKNOWN, UNITS, Integers
from stream.audit.book import DRIFT, NEVER, STEPS, UNSETTLED, Rules

_OF_KEPT, _OF_DOUBLES = 129, 1
_MOST = 127
_WHOLE = 1 << 32


def settling(contraction: int) -> tuple[int, int]:
    """The number of predictions and the drift after them; 0 predictions where that is never known."""
    if contraction >= _WHOLE:
        return 0, DRIFT_UNKNOWN
    with localcontext() as context:
        context.prec = 80
        apart = 2 * (Decimal(_WHOLE + contraction).ln() - Decimal(_WHOLE - contraction).ln()) * UNITS
        units = math.ceil(apart + Decimal("1e-9"))
    drift = -(-units // DRIFT_STEP_UNITS) + _OF_DOUBLES
    for predictions in range(1, _MOST + 1):
        if drift + _OF_KEPT < DRIFT_UNKNOWN:
            return predictions, drift
        drift = -(-((drift + _OF_KEPT) * contraction) // _WHOLE) + _OF_DOUBLES
    return 0, DRIFT_UNKNOWN


@kernel
def come_to_rest(rules: Rules, user: Integers, fine: bool) -> None:
    """After an event, one prediction fewer is left. A belief that may be anything begins anew; `fine` is False where
    its numbers could not be kept.
    """
    left = max(user[UNSETTLED] - 1, 0) if user[STEPS] > 0 else 0
    if not fine or (user[DRIFT] == DRIFT_UNKNOWN and left == 0):
        left = rules.settle
    user[UNSETTLED] = 0 if rules.settle == NEVER else left
