"""Mechanisms side by side on the same values: what each keeps, and what it tells, counted in every way there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.distance import Distance
from beliefs.forward import chain_arrays
from beliefs.leakage.whole import Accounts, Following
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.coins import Coins, keystream
from stream.commands.expectation import Drawn, Promised, carry_out
from stream.planning.points import Floats, Integers, costs_of, half_width
from stream.planning.sample import Sample
from stream.policy import RELEASED, Events, new_bench
from stream.state import new_users
from stream.step import advance

EXACT_USERS: Final = 20
EXACT_EVENTS: Final = 200
EXACT_SYMBOLS: Final = 256
_COINS: Final = bytes(range(32))
"""Public: what is compared here is released to nobody."""


@dataclass(frozen=True)
class Exactly:
    """Of the first users, and of each at most the first events: the two counters, and what all releases together tell
    about the whole sequence and about the worst single value. Means and the most, in nats.
    """

    users: int
    counters: float
    whole: float
    whole_most: float
    single_most: float


@dataclass(frozen=True)
class Side:
    """One mechanism. Leakage in nats; `upper` and `lower` are the two counters of a user, on average, `counters_most`
    the larger of them for the user who has most; `total` adds the larger side of each release instead.
    """

    name: str
    notion: str
    windows: str
    agreement: float
    agreement_error: float
    distance: float | None
    distance_error: float
    per_event: float
    largest: float
    upper: float
    lower: float
    counters_most: float
    total: float
    exact: Exactly | None


def side_of(
    name: str, notion: str, windows: str, promised: Promised, chain: Chain, distance: Distance | None, sample: Sample
) -> Side:
    events = sample.events
    coins = keystream(_COINS, 0, events.slot.shape[0])
    releases = carry_out(promised, chain, Drawn(events, coins, sample.users, 0)).releases
    same = (releases.symbol == events.symbol).astype(np.float64)
    upper, lower = (_nats(np.where(releases.outcome == RELEASED, side, 0)) for side in (releases.upper, releases.lower))
    by_user = [np.bincount(events.slot, weights=side, minlength=sample.users) for side in (upper, lower)]
    larger = np.maximum(upper, lower)
    far = None if distance is None else _far(distance, chain, events.symbol, releases.symbol)
    return Side(
        name=name,
        notion=notion,
        windows=windows,
        agreement=float(same.mean()),
        agreement_error=error_by_user(same, events.slot, sample.users),
        distance=None if far is None else float(far.mean()),
        distance_error=0.0 if far is None else error_by_user(far, events.slot, sample.users),
        per_event=float(max(upper.mean(), lower.mean())),
        largest=float(larger.max()),
        upper=float(by_user[0].mean()),
        lower=float(by_user[1].mean()),
        counters_most=float(np.maximum(*by_user).max()),
        total=float(larger.sum() / sample.users),
        exact=_exactly(promised, chain, sample, coins),
    )


def error_by_user(values: Floats, users: Integers, count: int) -> float:
    """Half of an interval of 95 % for the mean over events, users being independent of each other and events not."""
    residues = np.bincount(users, weights=values - values.mean(), minlength=count)
    return half_width((residues * count / values.shape[0]).tolist())


def _nats(units: Integers) -> Floats:
    return np.where(units >= INFINITE, np.inf, units / UNITS_PER_NAT)


def _far(distance: Distance, chain: Chain, true: Integers, shown: Integers) -> Floats:
    table = costs_of(distance, chain.symbols)
    return np.asarray(np.where(shown >= 0, table[true, np.maximum(shown, 0)], table.max()), dtype=np.float64)


def _exactly(promised: Promised, chain: Chain, sample: Sample, coins: Coins) -> Exactly | None:
    plain = chain.size == chain.symbols <= EXACT_SYMBOLS and not chain.has_tail and chain.phases == 1
    if promised.windows is not None or promised.policy.interval or not plain:
        return None
    found = []
    for user in range(min(sample.users, EXACT_USERS)):
        following = Following(chain)
        try:
            for likelihood in _likelihoods(promised, chain, sample.events, coins, user):
                following.add(likelihood)
        except Invalid:
            return None  # a release that the model calls impossible, which nothing can be worked out from
        found.append(following.accounts())
    return Exactly(
        users=len(found),
        counters=sum(each.counters.epsilon for each in found) / len(found),
        whole=sum(each.whole.epsilon for each in found) / len(found),
        whole_most=max(each.whole.epsilon for each in found),
        single_most=max(map(_worst_single, found)),
    )


def _worst_single(accounts: Accounts) -> float:
    return max((leak.epsilon for leak in accounts.single), default=0.0)


def _likelihoods(promised: Promised, chain: Chain, events: Events, coins: Coins, user: int) -> Iterator[Floats]:
    """Of each release of one user, how likely it was for each value: as the step that released it says."""
    arrays, bench = chain_arrays(chain), new_bench(chain.size, chain.symbols, promised.distance)
    heads, codes = new_users(1, chain.size)
    for place in np.flatnonzero(events.slot == user)[:EXACT_EVENTS]:
        one = slice(int(place), int(place) + 1)
        event = Events(np.zeros(1, dtype=np.int64), events.offset[one], events.time[one], events.symbol[one])
        releases = advance(promised.policy, arrays, bench, heads, codes, event, coins[one])
        told = releases.outcome[0] == RELEASED
        yield bench.work.likelihood.copy() if told else np.ones(chain.size)
