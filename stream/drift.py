"""How far the stored belief may have moved from the exact one: Hilbert's metric over states, in units of 2^-32 nat.

Proofs: beliefs/chain.md (one prediction), beliefs/contexts.md (several, and sums over states), beliefs/clock.md,
beliefs/listed.md, beliefs/learning/online.md (beliefs that began anywhere).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.leakage.robust import diameter_units
from beliefs.native import kernel
from beliefs.rounding import INFINITE, log_units_up
from mechanisms.contract import DRIFT_TO_UNITS, DRIFT_UNKNOWN

# Rounding of one event. Codes: every entry moves by at most 2^-26, so the metric by 2 * 2^-26 = 128 units, and one more
# for second-order terms. Doubles: (n + 16) relative errors of 2^-53 on either side of a ratio, which is below one unit
# up to a million states; the sums over the states of a symbol are of the same size, and the same unit covers both.
OF_CODES = 129
OF_DOUBLES = 1
OF_EVENT = OF_CODES + OF_DOUBLES
# The three divisions in a quotient of two ratios are off by less than four times 2^-53.
OF_RATIOS = 1.0 + 2.0**-50


PREDICTIONS_MOST = 127
"""As many as seven bits of a row's flags can count."""


class Settle(NamedTuple):
    """After so many predictions of a user's belief, whatever it was before them, it is within `drift` of the exact one.
    With 0 predictions that is never so, as far as can be counted.
    """

    predictions: int
    drift: int


def settle_of(contraction: int) -> Settle:
    """The first prediction brings any two beliefs within a chain's diameter; each one more leaves a share of that, and
    the rounding of an event. For chains of one step an event, without longer memories.
    """
    drift = -(-diameter_units(contraction) // DRIFT_TO_UNITS) + OF_DOUBLES
    for predictions in range(1, PREDICTIONS_MOST + 1):
        if drift + OF_CODES < DRIFT_UNKNOWN:
            return Settle(predictions, drift)
        drift = -(-(drift + OF_CODES) * contraction // (DRIFT_UNKNOWN + 1)) + OF_DOUBLES
    return Settle(0, DRIFT_UNKNOWN)


@kernel
def after_an_event(drift: int, events: int, contraction: int, span: int) -> int:
    """After the prediction that follows the user's event of this number.

    A span of several predictions is looked back upon whenever one is complete; see contexts.md for the minimum.
    """
    if drift == DRIFT_UNKNOWN:
        return DRIFT_UNKNOWN
    if span == 1:
        drift = _contracted(drift, contraction)
    elif events % span == 0:
        drift = min(drift, _contracted(drift, contraction) + span * OF_EVENT)
    return min(drift + OF_DOUBLES, DRIFT_UNKNOWN)


@kernel
def after_windows(drift: int, events: int, contraction: int, span: int, longest: int) -> int:
    """The same where events come in windows of at most `longest`, each kept once. A span may begin inside a window:
    then all of that window's rounding counts. Proof: mechanisms/sequence/window.md.
    """
    if drift == DRIFT_UNKNOWN:
        return DRIFT_UNKNOWN
    if events % span == 0:
        drift = min(drift, _contracted(drift, contraction) + span * (OF_EVENT + OF_DOUBLES) + longest * OF_DOUBLES)
    return min(drift + OF_DOUBLES, DRIFT_UNKNOWN)


@kernel
def after_steps(drift: int, steps: int, contraction: int, span: int) -> int:
    """After so many predictions in a row, with no release in between; none is one division by the sum."""
    for _ in range(steps // span):
        if drift == DRIFT_UNKNOWN:
            return DRIFT_UNKNOWN  # what is unknown stays so: it must not shrink
        drift = min(_contracted(drift, contraction) + span * OF_DOUBLES, DRIFT_UNKNOWN)
    return min(drift + max(steps % span, 1 - steps) * OF_DOUBLES, DRIFT_UNKNOWN)


@kernel
def after_coding(drift: int, exact: bool) -> int:
    return min(drift + OF_CODES, DRIFT_UNKNOWN) if exact else DRIFT_UNKNOWN


@kernel
def after_listing(drift: int, spread: float, exact: bool) -> int:
    """As `after_coding`, where what is not listed lies within a band whose ends differ by the factor `spread`: its
    logarithm more, rounded up. Proof: beliefs/listed.md.
    """
    if drift == DRIFT_UNKNOWN:
        return DRIFT_UNKNOWN
    width = log_units_up(spread * OF_RATIOS)
    if width >= DRIFT_UNKNOWN * DRIFT_TO_UNITS:
        return DRIFT_UNKNOWN
    return after_coding(min(drift + (width + DRIFT_TO_UNITS - 1) // DRIFT_TO_UNITS, DRIFT_UNKNOWN), exact)


@kernel
def in_units(drift: int) -> int:
    """In units of the ledger, 2^-40 nat."""
    return INFINITE if drift >= DRIFT_UNKNOWN else drift * DRIFT_TO_UNITS


@kernel
def _contracted(drift: int, contraction: int) -> int:
    """What survives, rounded up; 2^32 - 1 times 2^32, and 2^32 - 1 more, just fit 64 bits."""
    product = np.uint64(drift) * np.uint64(contraction) + np.uint64(DRIFT_UNKNOWN)
    return int(np.int64(product >> np.uint64(32)))
