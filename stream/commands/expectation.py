"""What a pipeline will do to the events that its own model expects, computed by the very step that releases them.

Users are simulated whose values follow the model's chain, and their events go through `stream.step` with the pipeline's
policy. Values and coins come from a fixed public keystream, so the same settings always give the same figures; none of
the pipeline's keys is used.
"""

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beliefs.chain import Chain
from beliefs.distance import EQUAL, Distance, cost
from beliefs.forward import chain_arrays
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.coins import keystream
from stream.state import HEAD_WORDS
from stream.step import FORECAST, RELEASED, Events, Policy, Releases, advance, new_bench

Integers = NDArray[np.int64]

DAY_MS: Final = 86_400_000
MOST_USERS: Final = 256
MOST_EVENTS_OF_A_DAY: Final = 20_000

_VALUES: Final = hashlib.sha256(b"sottovoce explain: values").digest()
_COINS: Final = hashlib.sha256(b"sottovoce explain: coins").digest()
_LARGEST_UNIT: Final = 2.0**53


@dataclass(frozen=True, slots=True)
class Expectation:
    """Averages over the simulated events. Leakage in nats; an amount that is infinite stays so."""

    users: int
    events: int
    agreement: float
    agreement_error: float
    released: float
    forecast: float
    suppressed: float
    upper_per_event: float
    lower_per_event: float
    upper_per_user: float
    lower_per_user: float
    largest: float
    distance: float | None = None


def without_budget(policy: Policy, chain: Chain, distance: Distance | None = None) -> Expectation:
    """What single releases do when the budget never runs out."""
    users, steps = _size(chain, 100)
    return _simulate(policy._replace(budget=INFINITE), chain, distance, users, steps, DAY_MS)


def one_day(policy: Policy, chain: Chain, events_per_day: int, distance: Distance | None = None) -> Expectation:
    """What happens to one user's first day of so many events, evenly spaced."""
    users, steps = _size(chain, min(events_per_day, MOST_EVENTS_OF_A_DAY))
    return _simulate(policy, chain, distance, users, steps, DAY_MS // max(events_per_day, 1))


def _size(chain: Chain, steps: int) -> tuple[int, int]:
    """As many users as a second or so of work allows: a step costs about as much as the chain has transitions."""
    work = 40_000_000 // (steps * (400 + int(chain.data.shape[0])))
    return max(4, min(MOST_USERS, work)), steps


def _simulate(
    policy: Policy, chain: Chain, distance: Distance | None, users: int, steps: int, spacing: int
) -> Expectation:
    values = _values(chain, users, steps)
    states = np.zeros((users, HEAD_WORDS), dtype=np.int64)
    states[:, 1] = -1  # no offset has been carried out yet
    codes = np.zeros((users, chain.size), dtype=np.uint32)
    order = np.arange(users * steps, dtype=np.int64)
    events = Events(slot=order % users, offset=order, time=(order // users) * spacing, symbol=values.T.reshape(-1))
    bench, coins = new_bench(chain.size, distance), keystream(_COINS, 0, users * steps)
    releases = advance(policy, chain_arrays(chain), bench, states, codes, events, coins)
    summary = _summary(releases, events, users, steps)
    return summary if distance is None else replace(summary, distance=mean_distance(distance, releases, events))


def mean_distance(distance: Distance, releases: Releases, events: Events) -> float | None:
    """How far the released values are from the true ones on average; None where all errors count alike."""
    shown = np.flatnonzero(releases.symbol >= 0)
    if distance.kind == EQUAL or shown.size == 0:
        return None
    pairs = zip(events.symbol[shown].tolist(), releases.symbol[shown].tolist(), strict=True)
    return float(sum(cost(distance, x, y) for x, y in pairs) / shown.size * distance.unit)


def _values(chain: Chain, users: int, steps: int) -> Integers:
    """Paths of the chain, one row a user."""
    uniform = _uniform(users * steps).reshape(users, steps)
    start = np.cumsum(chain.start)
    rows = {state: chain.row(state) for state in range(chain.size)}
    sums = {state: np.cumsum(probabilities) for state, (_, probabilities) in rows.items()}
    values = np.zeros((users, steps), dtype=np.int64)
    for user in range(users):
        state = _place(start, uniform[user, 0])
        values[user, 0] = state
        for step in range(1, steps):
            state = int(rows[state][0][_place(sums[state], uniform[user, step])])
            values[user, step] = state
    return values


def _place(sums: NDArray[np.float64], point: float) -> int:
    """The index that a point in [0, 1) falls on; one with no probability is never chosen."""
    place = int(np.searchsorted(sums, point * sums[-1], side="right"))
    return min(place, int(sums.shape[0]) - 1)


def _uniform(count: int) -> NDArray[np.float64]:
    words = keystream(_VALUES, 0, (count + 7) // 8).reshape(-1)[:count]
    return (words >> np.uint64(11)).astype(np.float64) / _LARGEST_UNIT


def _summary(releases: Releases, events: Events, users: int, steps: int) -> Expectation:
    same = (releases.symbol == events.symbol).astype(np.float64).reshape(steps, users).mean(axis=0)
    told = releases.outcome == RELEASED
    count, released = users * steps, max(int(told.sum()), 1)
    upper, lower = _nats(releases.upper[told]), _nats(releases.lower[told])
    return Expectation(
        users=users,
        events=count,
        agreement=float(same.mean()),
        agreement_error=float(same.std() / math.sqrt(users)),
        released=float(told.mean()),
        forecast=float((releases.outcome == FORECAST).mean()),
        suppressed=float((releases.symbol < 0).mean()),
        upper_per_event=float(upper.sum() / released),
        lower_per_event=float(lower.sum() / released),
        upper_per_user=float(upper.sum() / users),
        lower_per_user=float(lower.sum() / users),
        largest=float(max(upper.max(initial=0.0), lower.max(initial=0.0))),
    )


def _nats(units: Integers) -> NDArray[np.float64]:
    return np.where(units >= INFINITE, np.inf, units / UNITS_PER_NAT)
