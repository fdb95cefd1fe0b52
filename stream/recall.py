"""From a user's stored row to the belief about the next value, and from a belief back into the row."""

from __future__ import annotations

import numpy as np

from beliefs.clock import at_rest, carry_over, steps_between
from beliefs.forward import ChainArrays, marginal_into, normalise, predict_into, start_into
from beliefs.ledger import window_of
from beliefs.native import kernel
from mechanisms.contract import DRIFT_UNKNOWN, Integers
from stream import drift as drifts
from stream.policy import CLOCK, STEPS, WINDOW_AND_DRIFT, WINDOW_LOWER, WINDOW_UPPER, Bench, Policy
from stream.state import Codes, decode_belief, decode_listed, encode_belief, encode_listed


@kernel
def predict_user(policy: Policy, chain: ChainArrays, bench: Bench, head: Integers, codes: Codes, time: int) -> int:
    """The belief about the next value, over states and over symbols; returns its drift."""
    drift = 0
    if head[STEPS] == 0:
        start_into(chain, bench.ahead)
        if policy.interval > 0:
            head[CLOCK] = time // policy.interval
    else:
        _recall_belief(policy, chain, bench, codes)
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
def _recall_belief(policy: Policy, chain: ChainArrays, bench: Bench, codes: Codes) -> None:
    if policy.listed > 0:
        decode_listed(codes, chain.tail, bench.listing, bench.posterior, bench.posterior_bits)
    else:
        decode_belief(codes, bench.posterior_bits)


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
def keep_belief(
    policy: Policy, chain: ChainArrays, bench: Bench, head: Integers, codes: Codes, drift: int, possible: bool
) -> None:
    """`bench.posterior` into the codes, and how far from the exact belief they may be."""
    if policy.listed > 0:
        exact, spread = encode_listed(bench.posterior, bench.posterior_bits, chain.tail, bench.listing, codes)
        kept = drifts.after_listing(drift, spread, exact and possible)
    else:
        exact = encode_belief(bench.posterior, bench.posterior_bits, codes)
        kept = drifts.after_coding(drift, exact and possible)
    head[WINDOW_AND_DRIFT] = (head[WINDOW_AND_DRIFT] & DRIFT_UNKNOWN) | (np.int64(kept) << 32)
