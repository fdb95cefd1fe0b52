"""What a model with a tail loses by listing few entries of a belief, worked out before anything is released.

The belief looked at is the one about a user's second value of whom nothing is known: the start, one step of the model
on. Of it as many entries are left out as are listed, so that the ratios to the tail of what remains lie as close
together as they can; the logarithm of their largest quotient is what listing adds to the drift of that belief
(beliefs/listed.md). Other beliefs lose something like it at each event, and the model forgets what its contraction
leaves out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.chain import CONTRACTION_ONE, Chain
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN, LEVEL_UNKNOWN, design_units

FIRST_LISTED = 2
"""The user's event behind which a belief is listed that has mixed rows; the one before is the start itself."""
EVENTS_MAX = 1_000
NO_LOSS = 1e-6
"""Nats: a thousand events of it are a thousandth of a nat; rounding alone stays far below."""


class Loss(NamedTuple):
    """`named` states stand in some row, `nats` are added to the drift at each event; `half_from` is the user's event
    from which releases are made for half of epsilon, if that comes within EVENTS_MAX events.
    """

    named: int
    nats: float
    half_from: int | None


def loss_of(chain: Chain, listed: int, epsilon_units: int, shift: int) -> Loss | None:
    """None where all entries are kept, or nothing is lost."""
    if listed == 0:
        return None
    nats = narrowest_band(chain, listed)
    if nats < NO_LOSS:
        return None
    return Loss(int(np.unique(chain.indices).size), nats, _half_from(chain, nats, epsilon_units, shift))


def narrowest_band(chain: Chain, listed: int) -> float:
    """In nats; infinite if what remains must hold something impossible beside something possible."""
    ratios = np.sort(_second_belief(chain) / chain.tail)
    width = ratios.size - listed
    if width <= 1:
        return 0.0
    low, high = ratios[: listed + 1], ratios[width - 1 :]
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = np.where(high > 0.0, high / low, 1.0)
    return float(np.log(quotients.min()))


def _second_belief(chain: Chain) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    masses = np.repeat(chain.start, np.diff(chain.indptr)) * chain.data
    named = np.bincount(chain.indices, masses, minlength=chain.size)
    return named + float(chain.start @ chain.left) * chain.tail


def _half_from(chain: Chain, nats: float, epsilon_units: int, shift: int) -> int | None:
    half, drift = design_units(epsilon_units, LEVEL_UNKNOWN), 0.0
    for event in range(FIRST_LISTED, EVENTS_MAX):
        drift = drift * (chain.contraction / CONTRACTION_ONE) + nats
        units = min(math.ceil(drift * DRIFT_UNITS_PER_NAT), DRIFT_UNKNOWN) if math.isfinite(drift) else DRIFT_UNKNOWN
        level = LEVEL_UNKNOWN if units == DRIFT_UNKNOWN else units.bit_length()
        if design_units(epsilon_units, level, shift) <= half:
            return event + 1
    return None


def in_words(loss: Loss, listed: int) -> str:
    """What an operator is told."""
    when = (
        f"from about a user's event {loss.half_from} on" if loss.half_from else "of a user with many events, not all,"
    )
    band = "without bound" if math.isinf(loss.nats) else f"within a factor of {math.exp(loss.nats):.3g}"
    drift = (
        "which leaves nothing certain" if math.isinf(loss.nats) else f"which adds about {loss.nats:.2g} nat an event"
    )
    done = "releases are made for half of epsilon" if loss.half_from else "releases are made for less than epsilon"
    return (
        f"rows name {loss.named} values, more than the {listed} that are listed of a belief: the others are known only "
        f"{band}, {drift} to its drift, so {when} {done}. No release tells more for it; to lose nothing, list more, or "
        "name in all rows together no more values than are listed"
    )
