"""From a user's stored row to the belief about the next value, and from a belief back into the row."""

from __future__ import annotations

import numpy as np

from beliefs.clock import at_rest, carry_over, steps_between
from beliefs.forward import ChainArrays, marginal_into, normalise, predict_at, start_into
from beliefs.ledger import window_of
from beliefs.listed import Listing
from beliefs.native import kernel, part_of_caller
from beliefs.rounding import add_units
from mechanisms.contract import DRIFT_UNKNOWN, Floats, Integers
from stream import drift as drifts
from stream import rings
from stream.drift import Settle
from stream.policy import CLOCK, LOWER, STEPS, UPPER, WINDOW_AND_DRIFT, WINDOW_LOWER, WINDOW_UPPER, Bench, Policy
from stream.state import UNSETTLED_BIT, Codes, decode_belief, decode_listed, encode_belief, encode_listed, unsettled


@part_of_caller
def predict_user(policy: Policy, chain: ChainArrays, bench: Bench, head: Integers, codes: Codes, time: int) -> int:
    """The belief about the next value, over states and over symbols; returns its drift."""
    drift = 0
    if head[STEPS] == 0:
        start_into(chain, bench.ahead)
        drift = _of_a_start(policy.settle)
        if policy.interval > 0:
            head[CLOCK] = time // policy.interval
    else:
        _recall_belief(bench.listing, chain.tail, codes, bench.posterior, bench.posterior_bits)
        drift = (head[WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN
        if policy.interval > 0:
            steps = steps_between(head[CLOCK], time // policy.interval, policy.most_steps)
            exact = _predict_steps(chain, bench, steps, time // policy.interval - steps + 1)
            head[CLOCK] = max(head[CLOCK], time // policy.interval)
            drift = drifts.after_steps(drift, steps, chain.contraction, chain.span) if exact else DRIFT_UNKNOWN
        else:
            predict_at(bench.posterior, chain, head[STEPS], bench.ahead)
            drift = drifts.after_an_event(drift, head[STEPS], chain.contraction, chain.span)
            drift = _settled(policy.settle, head, drift)
    if bench.ahead.shape[0] != bench.belief.shape[0]:
        marginal_into(bench.ahead, chain.symbol_of, bench.belief)
    return drift


# Where the first argument is known to be None, these are nothing.


@part_of_caller
def _of_a_start(settle: Settle | None) -> int:
    return 0 if settle is None else DRIFT_UNKNOWN


@part_of_caller
def _settled(settle: Settle | None, head: Integers, drift: int) -> int:
    """The drift after a prediction: where it was the last that had to be made, what is known of it by then."""
    if settle is None:
        return drift
    return settle.drift if unsettled(head) == 1 else drift


@part_of_caller
def left_to_settle(settle: Settle | None, head: Integers, exact: bool) -> int:
    """After an event: how many predictions are still to be made until the drift is known; in the bits of the flags. A
    belief whose drift is unknown, or that could not be kept, may be anything, and all of them are still to be made.
    """
    if settle is None:
        return 0
    left = 0
    if head[STEPS] > 1:
        left = max(unsettled(head) - 1, 0)
    unknown = ((head[WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN) == DRIFT_UNKNOWN
    if not exact or (unknown and left == 0):
        left = settle.predictions
    return left << UNSETTLED_BIT


@part_of_caller
def _recall_belief(
    listing: Listing | None, tail: Floats, codes: Codes, posterior: Floats, posterior_bits: Integers
) -> None:
    if listing is not None:
        decode_listed(codes, tail, listing, posterior, posterior_bits)
    else:
        decode_belief(codes, posterior_bits)


@kernel
def _predict_steps(chain: ChainArrays, bench: Bench, steps: int, first: int) -> bool:
    """From `bench.posterior`, so many steps on, into `bench.ahead`; `first` is the number of the first one. False if a
    mass became too small on the way.
    """
    exact = True
    if steps == 0:
        for s in range(bench.ahead.shape[0]):
            bench.ahead[s] = bench.posterior[s]
        normalise(bench.ahead)
    for step in range(steps):
        if step > 0:
            if chain.phases == 1 and at_rest(bench.ahead, bench.posterior):
                break
            exact = carry_over(bench.ahead, bench.posterior) and exact
        predict_at(bench.posterior, chain, first + step, bench.ahead)
    return exact


@part_of_caller
def open_budget_window(policy: Policy, head: Integers, time: int) -> None:
    """What the window of the user's next event has spent already, in its two words."""
    _open(policy.sliding, policy.window, head, time)


@part_of_caller
def _open(sliding: int | None, length: int, head: Integers, time: int) -> None:
    if sliding is not None:
        rings.turn_both(head, sliding, 1, False)
        head[WINDOW_AND_DRIFT] &= ~DRIFT_UNKNOWN  # no index
    else:
        window = window_of(time, length)
        if window > (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) or head[STEPS] == 0:
            head[WINDOW_AND_DRIFT] = window
            head[WINDOW_UPPER] = 0
            head[WINDOW_LOWER] = 0


@part_of_caller
def charge_user(sliding: int | None, head: Integers, upper: int, lower: int) -> None:
    """What was told by the user's latest event, or by the window of values that ended with it."""
    head[UPPER] = add_units(head[UPPER], upper)
    head[LOWER] = add_units(head[LOWER], lower)
    head[WINDOW_UPPER] = add_units(head[WINDOW_UPPER], upper)
    head[WINDOW_LOWER] = add_units(head[WINDOW_LOWER], lower)
    if sliding is not None:
        rings.charge_both(head, sliding, upper, lower)


@part_of_caller
def take_steps(sliding: int | None, head: Integers, count: int, carries: bool) -> None:
    """The user's next events, of which nothing has been told so far. With `carries` they go on with the window of
    values that the event before them belongs to, and its charge is theirs.
    """
    if sliding is not None:
        rings.turn_both(head, sliding, count, carries)
    head[STEPS] += count


@part_of_caller
def keep_belief(chain: ChainArrays, bench: Bench, head: Integers, codes: Codes, drift: int, possible: bool) -> bool:
    """`bench.posterior` into the codes, and how far from the exact belief they may be. False if they say nothing of it
    but which values are possible.
    """
    kept, exact = _keep(bench.listing, chain.tail, bench.posterior, bench.posterior_bits, codes, drift, possible)
    head[WINDOW_AND_DRIFT] = (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) | (np.int64(kept) << 32)
    return exact


@part_of_caller
def _keep(
    listing: Listing | None,
    tail: Floats,
    posterior: Floats,
    posterior_bits: Integers,
    codes: Codes,
    drift: int,
    possible: bool,
) -> tuple[int, bool]:
    """Answers the drift after it, and whether every number could be kept."""
    if listing is not None:
        exact, spread = encode_listed(posterior, posterior_bits, tail, listing, codes)
        return drifts.after_listing(drift, spread, exact and possible), exact and possible
    exact = encode_belief(posterior, posterior_bits, codes)
    return drifts.after_coding(drift, exact and possible), exact and possible
