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

from beliefs.checks import require
from beliefs.forward import ChainArrays, condition_into, condition_states_into
from beliefs.ledger import charge_of, fits, spread_counts
from beliefs.native import kernel, part_of_caller
from beliefs.rounding import add_units, log_units_up
from mechanisms import registry
from mechanisms.coins import Coins, pick
from mechanisms.contract import Floats, Integers, NearWorkspace, drift_level
from mechanisms.sequence import forecast
from mechanisms.sequence.two_budget import Rising, left_of, level_within
from stream import drift as drifts
from stream.policy import (
    FORECAST,
    RELEASED,
    REPLAYED,
    SPENT_DRAW,
    SPENT_STOP,
    STEPS,
    SUPPRESSED,
    WATERMARK,
    WINDOW_LOWER,
    WINDOW_UPPER,
    Bench,
    Events,
    Policy,
    Releases,
    new_releases,
)
from stream.recall import charge_user, keep_belief, left_to_settle, open_budget_window, predict_user
from stream.state import STOPPED, Codes, codes_of, head_words, seal


def advance(
    policy: Policy, chain: ChainArrays, bench: Bench, heads: Integers, codes: Codes, events: Events, coins: Coins
) -> Releases:
    """Carry out the events on `heads` and `codes`: the caller's own copies of the users' rows, which become the new
    ones.
    """
    words = head_words(policy.interval > 0, policy.sliding)
    require(heads.shape[1] == words, "rows have words for the clock and for a sliding budget, and only where they are")
    near_by = isinstance(bench.work, NearWorkspace)
    require(near_by or policy.mechanism != registry.NEAR, "a mechanism that looks at a distance is given one")
    width = codes_of(bench.posterior.shape[0], policy.listed)
    require(codes.shape[1] == width, "rows list as many entries of a belief as the policy says")
    require((bench.listing is not None) == (policy.listed > 0), "there is room to list entries where they are listed")
    require(policy.listed == 0 or chain.tail.shape[0] > 0, "entries are listed beside a tail, and only there")
    plain = policy.interval == 0 and chain.span == 1 and chain.phases == 1 and chain.tail.shape[0] == 0
    require(policy.settle is None or plain, "beliefs settle in chains of order 1 that go event by event")
    count = events.slot.shape[0]
    releases = new_releases(count)
    carry_out_all(policy, chain, bench, heads, codes, events, coins, releases)
    return releases


@kernel
def carry_out_all(
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
def carry_out_one(
    policy: Policy,
    chain: ChainArrays,
    bench: Bench,
    heads: Integers,
    codes: Codes,
    events: Events,
    coins: Coins,
    releases: Releases,
    i: int,
) -> None:
    """The i-th event alone. What it was released with stays on the bench."""
    one = Events(events.slot[i : i + 1], events.offset[i : i + 1], events.time[i : i + 1], events.symbol[i : i + 1])
    its = Releases(
        releases.symbol[i : i + 1],
        releases.outcome[i : i + 1],
        releases.upper[i : i + 1],
        releases.lower[i : i + 1],
        releases.step[i : i + 1],
        releases.uncertified,
    )
    carry_out_all(policy, chain, bench, heads, codes, one, coins[i : i + 1], its)


@kernel
def weigh_outputs(policy: Policy, bench: Bench, symbol: int, law: Floats) -> int:
    """`law` becomes the weights, under the belief, of what the event on the bench might have released; answers the
    place of what it did release.
    """
    work, released = bench.work, 0
    for place in range(work.size[0]):
        registry.column(policy.mechanism, place, bench.belief, work)
        law[place] = 0.0
        for x in range(bench.belief.shape[0]):
            law[place] += bench.belief[x] * work.likelihood[x]
        if work.head[place] == symbol:
            released = place
    return released


@part_of_caller
def _decide(policy: Policy, bench: Bench, head: Integers, drift: int, flags: int, uncertified: Integers) -> int:
    """Describe the channel and reserve its worst case; public quantities only, no coin, no value."""
    if flags & STOPPED:
        return SUPPRESSED
    shift = add_units(drifts.in_units(drift), policy.shift)
    level = _level(policy.rising, head, shift, policy.epsilon, policy.budget)
    upper, lower, spread = _prepare(policy.rising, policy, bench, level, drift_level(drift))
    widest = log_units_up(spread) if spread_counts(shift, policy.epsilon) else 0
    reserve_upper = charge_of(log_units_up(upper), widest, shift, policy.epsilon)
    reserve_lower = charge_of(log_units_up(lower), widest, shift, policy.epsilon)
    most_upper = _most_upwards(policy.rising, policy.epsilon, level)
    if policy.holds_epsilon and (reserve_upper > most_upper or reserve_lower > policy.epsilon):
        uncertified[0] += 1
        return FORECAST
    if fits(head[WINDOW_UPPER], head[WINDOW_LOWER], reserve_upper, reserve_lower, policy.budget):
        return RELEASED
    return FORECAST if policy.when_spent <= SPENT_DRAW else SUPPRESSED


# Where the first argument is known to be None, these are nothing: see `Policy.rising`.


@part_of_caller
def _level(rising: Rising | None, head: Integers, shift: int, epsilon: int, budget: int) -> int:
    """How far a release may go upwards. Where the spread is what counts it is built for half of epsilon either way."""
    if rising is None:
        return 0
    if spread_counts(shift, epsilon):
        return 0
    return level_within(rising.levels, left_of(budget, head[WINDOW_UPPER]))


@part_of_caller
def _prepare(rising: Rising | None, policy: Policy, bench: Bench, level: int, drift: int) -> tuple[float, float, float]:
    if rising is None:
        return registry.prepare(policy.mechanism, bench.belief, policy.constants[drift], bench.work)
    return registry.prepare(policy.mechanism, bench.belief, rising.constants[level, drift], bench.work)


@part_of_caller
def _most_upwards(rising: Rising | None, epsilon: int, level: int) -> int:
    if rising is None:
        return epsilon
    most: int = rising.levels[level]
    return most


@part_of_caller
def _release(
    policy: Policy, bench: Bench, head: Integers, drift: int, symbol: int, coin: int, i: int, releases: Releases
) -> None:
    work = bench.work
    registry.row(policy.mechanism, symbol, bench.belief, work)
    chosen = pick(work.row, work.size[0], coin)
    upper, lower, spread = registry.column(policy.mechanism, chosen, bench.belief, work)
    shift = add_units(drifts.in_units(drift), policy.shift)
    widest = log_units_up(spread) if spread_counts(shift, policy.epsilon) else 0
    charge_upper = charge_of(log_units_up(upper), widest, shift, policy.epsilon)
    charge_lower = charge_of(log_units_up(lower), widest, shift, policy.epsilon)
    charge_user(policy.sliding, head, charge_upper, charge_lower)
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


@part_of_caller
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
    exact = keep_belief(chain, bench, head, codes, drift, possible)
    flags |= left_to_settle(policy.settle, head, exact)
    seal(head, codes, flags, policy.model_tag, policy.listed > 0)
