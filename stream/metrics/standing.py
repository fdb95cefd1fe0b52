"""How the users stand, as it may be shown: read from bins towards more leakage, and without groups below the floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from beliefs.rounding import INFINITE, units_up
from mechanisms.contract import DRIFT_UNITS_PER_NAT, DRIFT_UNKNOWN
from stream.metrics.bins import (
    LIFETIME_BINS,
    Bucket,
    Integers,
    above,
    at_least,
    coarse,
    lifetime_edges,
    lifetime_index,
    quantile,
    share_edges,
    without_small_groups,
)
from stream.metrics.meter import SIDES, Meter, MeterSettings
from stream.metrics.witness import Account, Monitor

QUANTILES: Final = (("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("1", 1.0))
PERCENTILES: Final = (("50", 0.5), ("90", 0.9), ("99", 0.99))

_SHARE_EDGES: Final = share_edges()
_LIFETIME_EDGES: Final = lifetime_edges()
_SHOWN_SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
# Octaves from 1/64 nat to 65,536 nats.
_SHOWN_LIFETIMES: Final = tuple(2.0**octave for octave in range(-6, 17))


@dataclass(frozen=True, slots=True)
class Distribution:
    """Over users. `percentiles` and `maximum` are absent while fewer users than the floor are tracked."""

    buckets: list[Bucket]
    sum: float
    percentiles: dict[str, float]
    maximum: float | None


@dataclass(frozen=True, slots=True)
class AccountsShown:
    """How many users' accounts are kept, and by the name of each amount its quantiles: upper edges of fine bins."""

    users: int
    quantiles: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Standing:
    """`spent` is absent for a policy without a budget; counts below the floor are 0; `monitor` and `accounts` are
    absent while they speak of fewer users than the floor.
    """

    tracked: int
    near: int
    at_budget: int
    stopped: int
    state_bytes: int
    spent: Distribution | None
    lifetime: dict[str, Distribution]
    monitor: Monitor | None
    accounts: AccountsShown | None
    drift: float | None
    """Nats; infinite where it is not known, absent while fewer users than the floor are tracked."""


def standing(meter: Meter) -> Standing:
    settings = meter.settings
    users = meter.all_users()
    floor = settings.small_count_floor

    def shown(count: int) -> int:
        return count if count >= floor else 0

    tracked = shown(users.tracked)
    return Standing(
        tracked=tracked,
        near=shown(at_least(users.shares, _SHARE_EDGES, settings.near_share)),
        at_budget=shown(above(users.shares, _SHARE_EDGES, full_share(settings))),
        stopped=shown(users.stopped),
        state_bytes=tracked * settings.row_bytes,
        spent=_distribution(users.shares, _SHARE_EDGES, _SHOWN_SHARES, floor) if settings.budgeted else None,
        lifetime={
            side: _distribution(counts, _LIFETIME_EDGES, _SHOWN_LIFETIMES, floor)
            for side, counts in zip(SIDES, (users.lifetime_upper, users.lifetime_lower), strict=True)
        },
        monitor=None if meter.witness is None or not tracked else meter.witness.monitor(),
        accounts=_accounts([] if meter.witness is None else meter.witness.accounts(), floor),
        drift=_drift(meter.largest_drift) if tracked else None,
    )


def _drift(units: int) -> float:
    return math.inf if units >= DRIFT_UNKNOWN else units / DRIFT_UNITS_PER_NAT


def _accounts(found: Sequence[Account], floor: int) -> AccountsShown | None:
    if len(found) < floor:
        return None
    quantiles: dict[str, dict[str, float]] = {}
    for name in Account._fields:
        units = np.array([units_up(getattr(account, name)) for account in found], dtype=np.float64)
        counts = np.bincount(lifetime_index(units), minlength=LIFETIME_BINS)
        quantiles[name] = {label: quantile(counts, _LIFETIME_EDGES, share) for label, share in QUANTILES}
    return AccountsShown(len(found), quantiles)


def full_share(settings: MeterSettings) -> float:
    """The spent share above which one release at epsilon no longer fits, on the side where that comes first."""
    budgets = [budget for budget in (settings.upper_budget, settings.lower_budget) if budget < INFINITE]
    return min((float(Fraction(budget - settings.epsilon, budget)) for budget in budgets), default=1.0)


def _distribution(counts: Integers, edges: Sequence[float], wanted: Sequence[float], floor: int) -> Distribution:
    buckets = without_small_groups(coarse(counts, edges, wanted), floor)
    if not buckets[-1].cumulative:
        return Distribution(buckets, 0.0, {}, None)
    # Adding up edges instead of amounts keeps the sum as coarse as the bins and never too low.
    total = math.fsum(count * edge for count, edge in zip(counts.tolist(), edges, strict=True) if count)
    percentiles = {name: quantile(counts, edges, share) for name, share in PERCENTILES}
    return Distribution(buckets, total, percentiles, quantile(counts, edges, 1.0))
