"""One block of events, carried out: (user states, events, coins, policy) -> (releases, new user states). Nothing else
goes in.

    predict the belief -> describe the channel -> reserve its worst case -> draw with the offset's coins -> settle ->
    condition

The belief is one over the states of the model; the mechanism is given its sums over the states of each symbol. In a
model of order 1 the states are the symbols, and both are the same array. Proof: beliefs/contexts.md.

A prediction is one step of the model for each event or, by the clock, one for each interval of event time that has
begun since the user's last event: none within one interval or for a late event, and never more than `most_steps`.
Proof: beliefs/clock.md.

The result does not depend on how a partition was cut into blocks: every event reads its user's state from the stored
codes and writes it back to codes, also in the middle of a block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from beliefs.clock import at_rest, carry_over, steps_between
from beliefs.forward import (
    ChainArrays,
    condition_into,
    condition_states_into,
    marginal_into,
    normalise,
    predict_into,
    start_into,
)
from beliefs.ledger import charge_of, fits, spread_counts, window_of
from beliefs.native import kernel
from beliefs.rounding import add_units, log_units_up
from mechanisms import registry
from mechanisms.coins import Coins, pick
from mechanisms.contract import DRIFT_UNKNOWN, Floats, Integers, Workspace, drift_level, new_workspace
from mechanisms.sequence import forecast
from stream import drift as drifts
from stream.state import (
    CLOCK_HEAD_WORDS,
    HEAD_WORDS,
    STOPPED,
    Codes,
    Word,
    decode_belief,
    encode_belief,
    seal,
)

RELEASED, FORECAST, SUPPRESSED, REPLAYED = 0, 1, 2, 3
SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP = 0, 1, 2, 3

WATERMARK, UPPER, LOWER, CLOCK = int(Word.WATERMARK), int(Word.UPPER), int(Word.LOWER), int(Word.CLOCK)
WINDOW_UPPER, WINDOW_LOWER = int(Word.WINDOW_UPPER), int(Word.WINDOW_LOWER)
STEPS, WINDOW_AND_DRIFT = int(Word.STEPS), int(Word.WINDOW_AND_DRIFT)


class Policy(NamedTuple):
    """What is promised, as the kernel reads it. All amounts in units of 2^-40 nat, window and interval in milliseconds.

    An interval of 0 is one step for each event.
    """

    mechanism: int
    holds_epsilon: bool
    constants: Floats
    epsilon: int
    budget: int
    window: int
    when_spent: int
    model_tag: int
    interval: int = 0
    most_steps: int = 1


class Bench(NamedTuple):
    """Scratch space of one caller; nothing in it outlives one event.

    `belief` is over symbols, `ahead` and `posterior` over states; where these are the same, `ahead` is `belief`.
    """

    work: Workspace
    belief: Floats
    ahead: Floats
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


def new_bench(states: int, symbols: int | None = None) -> Bench:
    """For a model of so many states and symbols; without the second number they are the same."""
    symbols = states if symbols is None else symbols
    belief, posterior = np.zeros(symbols), np.zeros(states)
    ahead = belief if states == symbols else np.zeros(states)
    return Bench(new_workspace(symbols), belief, ahead, posterior, posterior.view(np.int64))


def advance(
    policy: Policy, chain: ChainArrays, bench: Bench, heads: Integers, codes: Codes, events: Events, coins: Coins
) -> Releases:
    """Carry out the events on `heads` and `codes`: the caller's own copies of the users' rows, which become the new
    ones.
    """
    words = CLOCK_HEAD_WORDS if policy.interval else HEAD_WORDS
    require(heads.shape[1] == words, "rows have a word for the clock where the model goes by one, and only there")
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
        drift = predict_user(policy, chain, bench, head, codes[user], events.time[i])
        open_budget_window(policy, head, events.time[i])
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
        _store(policy, chain, bench, head, codes[user], drift, flags, told)


@kernel
def predict_user(policy: Policy, chain: ChainArrays, bench: Bench, head: Integers, codes: Codes, time: int) -> int:
    """The belief about the next value, over states and over symbols; returns its drift."""
    drift = 0
    if head[STEPS] == 0:
        start_into(chain, bench.ahead)
        if policy.interval > 0:
            head[CLOCK] = time // policy.interval
    else:
        decode_belief(codes, bench.posterior_bits)
        drift = (head[WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN
        if policy.interval > 0:
            steps = steps_between(head[CLOCK], time // policy.interval, policy.most_steps)
            exact = _predict_steps(chain, bench, steps)
            head[CLOCK] = max(head[CLOCK], time // policy.interval)
            drift = drifts.after_steps(drift, steps, chain.contraction, chain.span) if exact else DRIFT_UNKNOWN
        else:
            predict_into(bench.posterior, chain, bench.ahead)
            drift = drifts.after_an_event(drift, head[STEPS], chain.contraction, chain.span)
    if bench.ahead.shape[0] != bench.belief.shape[0]:
        marginal_into(bench.ahead, chain.symbol_of, bench.belief)
    return drift


@kernel
def _predict_steps(chain: ChainArrays, bench: Bench, steps: int) -> bool:
    """From `bench.posterior`, so many steps on, into `bench.ahead`; False if a mass became too small on the way."""
    exact = True
    if steps == 0:
        for s in range(bench.ahead.shape[0]):
            bench.ahead[s] = bench.posterior[s]
        normalise(bench.ahead)
    for step in range(steps):
        if step > 0:
            if at_rest(bench.ahead, bench.posterior):
                break
            exact = carry_over(bench.ahead, bench.posterior) and exact
        predict_into(bench.posterior, chain, bench.ahead)
    return exact


@kernel
def open_budget_window(policy: Policy, head: Integers, time: int) -> None:
    window = window_of(time, policy.window)
    if window > (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) or head[STEPS] == 0:
        head[WINDOW_AND_DRIFT] = window
        head[WINDOW_UPPER] = 0
        head[WINDOW_LOWER] = 0


@kernel
def _decide(policy: Policy, bench: Bench, head: Integers, drift: int, flags: int, uncertified: Integers) -> int:
    """Describe the channel and reserve its worst case; public quantities only, no coin, no value."""
    if flags & STOPPED:
        return SUPPRESSED
    constants = policy.constants[drift_level(drift)]
    upper, lower, spread = registry.prepare(policy.mechanism, bench.belief, constants, bench.work)
    shift = drifts.in_units(drift)
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
    shift = drifts.in_units(drift)
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
def _store(
    policy: Policy, chain: ChainArrays, bench: Bench, head: Integers, codes: Codes, drift: int, flags: int, told: bool
) -> None:
    """The belief after the event, its drift, and the row's marks."""
    possible = True
    if not told:
        for s in range(bench.ahead.shape[0]):
            bench.posterior[s] = bench.ahead[s]
    elif bench.ahead.shape[0] == bench.belief.shape[0]:
        possible = condition_into(bench.belief, bench.work.likelihood, bench.posterior)
    else:
        possible = condition_states_into(bench.ahead, bench.work.likelihood, chain.symbol_of, bench.posterior)
    keep_belief(bench, head, codes, drift, possible)
    seal(head, codes, flags, policy.model_tag)


@kernel
def keep_belief(bench: Bench, head: Integers, codes: Codes, drift: int, possible: bool) -> None:
    """`bench.posterior` into the codes, and how far from the exact belief they may be."""
    exact = encode_belief(bench.posterior, bench.posterior_bits, codes) and possible
    kept = drifts.after_coding(drift, exact)
    head[WINDOW_AND_DRIFT] = (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) | (np.int64(kept) << 32)
