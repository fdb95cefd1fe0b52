"""What a pipeline will do to the events that its own model expects, computed by the very step that releases them.

Users are simulated whose values follow the model's chain, and their events go through `stream.step` with the pipeline's
policy. Values and coins come from a fixed public keystream, so the same settings always give the same figures; none of
the pipeline's keys is used.
"""

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.chain import Chain
from beliefs.distance import EQUAL, Distance, cost
from beliefs.forward import chain_arrays
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.coins import Coins, keystream
from mechanisms.sequence.dual_prices import ROUNDS
from stream.policy import FORECAST, RELEASED, Events, Policy, Releases, new_bench
from stream.promise import WindowRules
from stream.state import codes_of, head_words, new_users
from stream.step import advance
from stream.windows.rehearse import Rehearsed, rehearse

Integers = NDArray[np.int64]

DAY_MS: Final = 86_400_000
MOST_USERS: Final = 256
MOST_EVENTS_OF_A_DAY: Final = 20_000
MOST_MOVES: Final = 100_000

_VALUES: Final = hashlib.sha256(b"sottovoce explain: values").digest()
_COINS: Final = hashlib.sha256(b"sottovoce explain: coins").digest()
_LARGEST_UNIT: Final = 2.0**53
_FEWEST_USERS: Final = 4
_MOST_PAIRS: Final = 200_000_000


@dataclass(frozen=True, slots=True)
class Expectation:
    """Averages over the simulated events. Leakage in nats; an amount that is infinite stays so. A release is one event,
    or one window of so many values on average; `wait_ms` is how long a value waits for its window's end.
    """

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
    values_per_release: float
    wait_ms: float
    distance: float | None = None


class Drawn(NamedTuple):
    """So many events of so many users, all users' first ones first, and the coins of each."""

    events: Events
    coins: Coins
    users: int
    steps: int


class Promised(NamedTuple):
    """What of a promise decides the figures."""

    policy: Policy
    windows: WindowRules | None = None
    distance: Distance | None = None


def without_budget(promise: Promised, chain: Chain, spacing: int = DAY_MS) -> Expectation:
    """What releases do when the budget never runs out; by the clock and in windows their distance in time matters."""
    unlimited = promise._replace(policy=promise.policy._replace(budget=INFINITE))
    longest = int(_moves(promise.policy, 2, spacing)[0])
    events = max(10, min(100, MOST_MOVES // max(longest, 1)))
    return _simulate(unlimited, chain, events, spacing)


def one_day(promise: Promised, chain: Chain, events_per_day: int) -> Expectation:
    """What happens to one user's first day of so many events, evenly spaced."""
    events = min(events_per_day, MOST_EVENTS_OF_A_DAY)
    return _simulate(promise, chain, events, DAY_MS // max(events_per_day, 1))


def _users(chain: Chain, steps: int) -> int:
    """As many users as a second or so of work allows: a step costs about as much as the chain has transitions."""
    work = 40_000_000 // (steps * (400 + int(chain.data.shape[0]) + 8 * int(chain.tail.shape[0])))
    return max(_FEWEST_USERS, min(MOST_USERS, work))


def _most_events(windows: WindowRules | None, symbols: int) -> int:
    """Windows through one channel take long: a second or so of work, in pairs of sequences that are looked at."""
    if windows is None or not windows.dual:
        return MOST_USERS * MOST_EVENTS_OF_A_DAY
    pairs = ROUNDS * int(symbols ** (2 * windows.events))
    return windows.events * max(_FEWEST_USERS, _MOST_PAIRS // pairs)


def _simulate(promise: Promised, chain: Chain, steps: int, spacing: int) -> Expectation:
    most = _most_events(promise.windows, chain.symbols)
    steps = min(steps, max(most // _FEWEST_USERS, 1))
    reached = int(_moves(promise.policy, steps, spacing).sum())
    drawn = draw(promise.policy, chain, min(_users(chain, reached + 1), most // steps), steps, spacing)
    rehearsed = carry_out(promise, chain, drawn)
    summary = _summary(rehearsed, drawn.events, drawn.users, steps)
    if promise.distance is None:
        return summary
    return replace(summary, distance=mean_distance(promise.distance, rehearsed.releases, drawn.events))


def draw(policy: Policy, chain: Chain, users: int, steps: int, spacing: int, batch: int = 0) -> Drawn:
    """Users whose values follow the chain, an event each `spacing` milliseconds; each batch has users of its own."""
    reached = np.concatenate([[0], np.cumsum(_moves(policy, steps, spacing))]).astype(np.int64)
    values = chain.symbol_of[_states(chain, users, _numbers(policy, steps, spacing), batch)[:, reached]]
    order = np.arange(users * steps, dtype=np.int64)
    events = Events(slot=order % users, offset=order, time=(order // users) * spacing, symbol=values.T.reshape(-1))
    return Drawn(events, keystream(_COINS, batch << 32, users * steps), users, steps)


def carry_out(promise: Promised, chain: Chain, drawn: Drawn) -> Rehearsed:
    """What the pipeline's own step releases for these events."""
    policy, (events, coins, users, _) = promise.policy, drawn
    if promise.windows is not None:
        return rehearse(policy, promise.windows, chain_arrays(chain), events, coins, promise.distance)
    width = codes_of(chain.size, policy.listed)
    heads, codes = new_users(users, width, head_words(policy.interval > 0, policy.sliding))
    bench = new_bench(chain.size, chain.symbols, promise.distance, listed=policy.listed > 0)
    releases = advance(policy, chain_arrays(chain), bench, heads, codes, events, coins)
    return Rehearsed(releases, events.slot.shape[0], np.zeros_like(events.slot))


def mean_distance(distance: Distance, releases: Releases, events: Events) -> float | None:
    """How far the released values are from the true ones on average; None where all errors count alike."""
    shown = np.flatnonzero(releases.symbol >= 0)
    if distance.kind == EQUAL or shown.size == 0:
        return None
    pairs = zip(events.symbol[shown].tolist(), releases.symbol[shown].tolist(), strict=True)
    return float(sum(cost(distance, x, y) for x, y in pairs) / shown.size * distance.unit)


def _moves(policy: Policy, events: int, spacing: int) -> Integers:
    """How many steps the model takes before each event but the first."""
    if not policy.interval:
        return np.ones(events - 1, dtype=np.int64)
    index = np.arange(events, dtype=np.int64) * spacing // policy.interval
    return np.minimum(np.diff(index), policy.most_steps)


def _numbers(policy: Policy, events: int, spacing: int) -> Integers:
    """The number of each step that the model takes, the first event's included; of a long silence the last steps."""
    if not policy.interval:
        return np.arange(events, dtype=np.int64)
    moves = _moves(policy, events, spacing)
    reached = np.arange(1, events, dtype=np.int64) * spacing // policy.interval
    return np.concatenate([[0], *(np.arange(now - k + 1, now + 1) for now, k in zip(reached, moves, strict=True))])


def _states(chain: Chain, users: int, numbers: Integers, batch: int) -> Integers:
    """Paths of the chain, one row a user, by steps of these numbers."""
    steps = numbers.shape[0]
    uniform = _uniform(users * steps, batch << 32).reshape(users, steps)
    start = np.cumsum(chain.start)
    tail = np.cumsum(chain.tail)
    paths = np.zeros((users, steps), dtype=np.int64)
    for user in range(users):
        state = _place(start, uniform[user, 0])
        paths[user, 0] = state
        for step in range(1, steps):
            state = _following(chain, tail, state, int(numbers[step]), uniform[user, step])
            paths[user, step] = state
    return paths


def _following(chain: Chain, tail: NDArray[np.float64], state: int, number: int, point: float) -> int:
    """The state that a point in [0, 1) leads to with the step of this number."""
    columns, probabilities = chain.named(state, number)
    left = float(chain.left[state]) if chain.has_tail else 0.0
    if left > 0.0 and point >= 1.0 - left:
        return _place(tail, (point - (1.0 - left)) / left)
    return int(columns[_place(np.cumsum(probabilities), point / (1.0 - left))])


def _place(sums: NDArray[np.float64], point: float) -> int:
    """The index that a point in [0, 1) falls on; one with no probability is never chosen."""
    place = int(np.searchsorted(sums, point * sums[-1], side="right"))
    return min(place, int(sums.shape[0]) - 1)


def _uniform(count: int, first: int) -> NDArray[np.float64]:
    words = keystream(_VALUES, first, (count + 7) // 8).reshape(-1)[:count]
    return (words >> np.uint64(11)).astype(np.float64) / _LARGEST_UNIT


def _summary(rehearsed: Rehearsed, events: Events, users: int, steps: int) -> Expectation:
    releases = rehearsed.releases
    same = (releases.symbol == events.symbol).astype(np.float64).reshape(steps, users).mean(axis=0)
    told = releases.outcome == RELEASED
    count = users * steps
    length = count / rehearsed.windows
    released = max(float(told.sum()) / length, 1.0)
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
        values_per_release=length,
        wait_ms=float(rehearsed.waits.mean()),
    )


def _nats(units: Integers) -> NDArray[np.float64]:
    return np.where(units >= INFINITE, np.inf, units / UNITS_PER_NAT)
