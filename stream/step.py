"""One block of events, carried out: (user states, events, coins, policy) -> (releases, new user states). Nothing else
goes in.

    predict the belief -> describe the channel -> reserve its worst case -> draw with the offset's coins -> settle ->
    condition

The result does not depend on how a partition was cut into blocks: every event reads its user's state from the stored
codes and writes it back to codes, also in the middle of a block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.distance import Distance
from beliefs.forward import ChainArrays, condition_into, predict_into, start_into
from beliefs.ledger import charge_of, fits, spread_counts, window_of
from beliefs.native import kernel
from beliefs.rounding import INFINITE, add_units, log_units_up
from mechanisms import registry
from mechanisms.coins import Coins, pick
from mechanisms.contract import DRIFT_TO_UNITS, DRIFT_UNKNOWN, Floats, Integers, Workspace, drift_level, new_workspace
from mechanisms.sequence import forecast
from stream.state import STOPPED, Codes, Word, decode_belief, encode_belief, seal

RELEASED, FORECAST, SUPPRESSED, REPLAYED = 0, 1, 2, 3
SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP = 0, 1, 2, 3

# Rounding of one event in Hilbert's metric, in drift units of 2^-32 nat. Codes: every entry moves by at most 2^-26,
# so the metric by 2 * 2^-26 = 128 units, and one more for second-order terms. Doubles: (n + 16) relative errors of
# 2^-53 on either side of a ratio, which is below one unit up to a million symbols.
DRIFT_OF_CODES = 129
DRIFT_OF_DOUBLES = 1

WATERMARK, UPPER, LOWER = int(Word.WATERMARK), int(Word.UPPER), int(Word.LOWER)
WINDOW_UPPER, WINDOW_LOWER = int(Word.WINDOW_UPPER), int(Word.WINDOW_LOWER)
STEPS, WINDOW_AND_DRIFT = int(Word.STEPS), int(Word.WINDOW_AND_DRIFT)


class Policy(NamedTuple):
    """What is promised, as the kernel reads it. All amounts in units of 2^-40 nat, the window in milliseconds."""

    mechanism: int
    holds_epsilon: bool
    constants: Floats
    epsilon: int
    budget: int
    window: int
    when_spent: int
    model_tag: int


class Bench(NamedTuple):
    """Scratch space of one caller; nothing in it outlives one event."""

    work: Workspace
    belief: Floats
    posterior: Floats
    posterior_bits: Integers


class Events(NamedTuple):
    """Parallel arrays, in offset order; `slot` is the user's row in the states."""

    slot: Integers
    offset: Integers
    time: Integers
    symbol: Integers


class Releases(NamedTuple):
    """Parallel to the events. `symbol` is -1 where nothing is released; `step` counts the user's events."""

    symbol: Integers
    outcome: NDArray[np.int8]
    upper: Integers
    lower: Integers
    step: Integers
    uncertified: Integers


def new_bench(symbols: int, distance: Distance | None = None) -> Bench:
    posterior = np.zeros(symbols)
    return Bench(new_workspace(symbols, distance), np.zeros(symbols), posterior, posterior.view(np.int64))


def advance(
    policy: Policy, chain: ChainArrays, bench: Bench, heads: Integers, codes: Codes, events: Events, coins: Coins
) -> Releases:
    """Carry out the events on `heads` and `codes`: the caller's own copies of the users' rows, which become the new
    ones.
    """
    count = events.slot.shape[0]
    releases = Releases(
        symbol=np.full(count, -1, dtype=np.int64),
        outcome=np.zeros(count, dtype=np.int8),
        upper=np.zeros(count, dtype=np.int64),
        lower=np.zeros(count, dtype=np.int64),
        step=np.zeros(count, dtype=np.int64),
        uncertified=np.zeros(1, dtype=np.int64),
    )
    _advance_all(policy, chain, bench, heads, codes, events, coins, releases)
    return releases


@kernel
def _advance_all(
    policy: Policy,
    chain: ChainArrays,
    bench: Bench,
    heads: Integers,
    codes: Codes,
    events: Events,
    coins: Coins,
    releases: Releases,
) -> None:
    for i in range(events.slot.shape[0]):
        user = events.slot[i]
        head = heads[user]
        if events.offset[i] <= head[WATERMARK]:
            releases.outcome[i] = REPLAYED
            continue
        drift = _predict_user(chain, bench, head, codes[user])
        _open_window(policy, head, events.time[i])
        head[WATERMARK] = events.offset[i]
        head[STEPS] += 1
        releases.step[i] = head[STEPS]
        flags = (head[0] >> 8) & STOPPED
        outcome = _decide(policy, bench, head, drift, flags, releases.uncertified)
        if outcome == SUPPRESSED and policy.when_spent == SPENT_STOP:
            flags = STOPPED
        releases.outcome[i] = outcome
        told = False
        if outcome == RELEASED:
            _release(policy, bench, head, drift, events.symbol[i], coins[i, 0], i, releases)
            told = True
        elif outcome == FORECAST:
            _forecast(policy, bench, coins[i, 1], i, releases)
        _store(policy, bench, head, codes[user], drift, flags, told)


@kernel
def _predict_user(chain: ChainArrays, bench: Bench, head: Integers, codes: Codes) -> int:
    """The belief about the next value, into `bench.belief`; returns its drift."""
    if head[STEPS] == 0:
        start_into(chain, bench.belief)
        return 0
    decode_belief(codes, bench.posterior_bits)
    predict_into(bench.posterior, chain, bench.belief)
    drift = (head[WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN
    if drift == DRIFT_UNKNOWN:
        return DRIFT_UNKNOWN
    product = np.uint64(drift) * np.uint64(chain.contraction) + np.uint64(DRIFT_UNKNOWN)
    return min(int(product >> np.uint64(32)) + DRIFT_OF_DOUBLES, DRIFT_UNKNOWN)


@kernel
def _open_window(policy: Policy, head: Integers, time: int) -> None:
    window = window_of(time, policy.window)
    if window > (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) or head[STEPS] == 0:
        head[WINDOW_AND_DRIFT] = window
        head[WINDOW_UPPER] = 0
        head[WINDOW_LOWER] = 0


@kernel
def _drift_units(drift: int) -> int:
    return INFINITE if drift >= DRIFT_UNKNOWN else drift * DRIFT_TO_UNITS


@kernel
def _decide(policy: Policy, bench: Bench, head: Integers, drift: int, flags: int, uncertified: Integers) -> int:
    """Describe the channel and reserve its worst case; public quantities only, no coin, no value."""
    if flags & STOPPED:
        return SUPPRESSED
    constants = policy.constants[drift_level(drift)]
    upper, lower, spread = registry.prepare(policy.mechanism, bench.belief, constants, bench.work)
    shift = _drift_units(drift)
    widest = log_units_up(spread) if spread_counts(shift, policy.epsilon) else 0
    reserve_upper = charge_of(log_units_up(upper), widest, shift, policy.epsilon)
    reserve_lower = charge_of(log_units_up(lower), widest, shift, policy.epsilon)
    if policy.holds_epsilon and max(reserve_upper, reserve_lower) > policy.epsilon:
        uncertified[0] += 1
        return FORECAST
    if fits(head[WINDOW_UPPER], head[WINDOW_LOWER], reserve_upper, reserve_lower, policy.budget):
        return RELEASED
    return FORECAST if policy.when_spent <= SPENT_DRAW else SUPPRESSED


@kernel
def _release(
    policy: Policy, bench: Bench, head: Integers, drift: int, symbol: int, coin: int, i: int, releases: Releases
) -> None:
    work = bench.work
    registry.row(policy.mechanism, symbol, bench.belief, work)
    chosen = pick(work.row, work.size[0], coin)
    upper, lower, spread = registry.column(policy.mechanism, chosen, bench.belief, work)
    shift = _drift_units(drift)
    widest = log_units_up(spread) if spread_counts(shift, policy.epsilon) else 0
    charge_upper = charge_of(log_units_up(upper), widest, shift, policy.epsilon)
    charge_lower = charge_of(log_units_up(lower), widest, shift, policy.epsilon)
    head[UPPER] = add_units(head[UPPER], charge_upper)
    head[LOWER] = add_units(head[LOWER], charge_lower)
    head[WINDOW_UPPER] = add_units(head[WINDOW_UPPER], charge_upper)
    head[WINDOW_LOWER] = add_units(head[WINDOW_LOWER], charge_lower)
    releases.symbol[i] = work.head[chosen]
    releases.upper[i] = charge_upper
    releases.lower[i] = charge_lower


@kernel
def _forecast(policy: Policy, bench: Bench, coin: int, i: int, releases: Releases) -> None:
    work = bench.work
    work.size[forecast.DRAW] = 1 if policy.when_spent == SPENT_DRAW else 0
    forecast.prepare(bench.belief, policy.constants[0], work)
    forecast.row(0, bench.belief, work)
    releases.symbol[i] = work.head[pick(work.row, work.size[0], coin)]


@kernel
def _store(policy: Policy, bench: Bench, head: Integers, codes: Codes, drift: int, flags: int, told: bool) -> None:
    """The belief after the event, its drift, and the row's marks."""
    possible = True
    if told:
        possible = condition_into(bench.belief, bench.work.likelihood, bench.posterior)
    else:
        for x in range(bench.belief.shape[0]):
            bench.posterior[x] = bench.belief[x]
    exact = encode_belief(bench.posterior, bench.posterior_bits, codes) and possible
    drift = min(drift + DRIFT_OF_CODES, DRIFT_UNKNOWN) if exact else DRIFT_UNKNOWN
    head[WINDOW_AND_DRIFT] = (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) | (np.int64(drift) << 32)
    seal(head, codes, flags, policy.model_tag)
