"""Numbers about many releases together, and about beliefs that are not the declared one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.leakage.losses import concentrated_bound
from beliefs.leakage.losses import path_losses as losses_of
from beliefs.leakage.path import path_bound, published_theorem_2
from beliefs.leakage.robust import chain_error_units, robust_epsilon, robust_leak
from beliefs.leakage.whole import Accounts, Following
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units, nats
from beliefs.score import Score, alarmed, evidence, new_score, observe
from beliefs.simplex import Vector
from beliefs.sliding import fits_sliding, turn
from mechanisms.sequence.noise_value import noise_value
from mechanisms.sequence.published_crr_value import likelihood_of
from mechanisms.sequence.top_k_value import top_k_value

Result = Mapping[str, object]
THEOREM_2 = "theorem2"
CRR = "crr"


def ledger(
    transition: Sequence[Vector],
    start: Vector,
    likelihoods: Sequence[Vector] = (),
    mechanism: str = "",
    epsilon: float = 0.0,
    released: Sequence[int] | None = None,
) -> Result:
    """What a sequence of releases told: release by release, summed, exactly, and about each value by itself."""
    following = Following(chain_of(transition, start))
    if released is None:
        for likelihood in likelihoods:
            following.add(likelihood)
    else:
        _follow_published(following, mechanism, epsilon, released)
    return _in_words(following.accounts())


def robust(epsilon: float, radius: float) -> Result:
    """The leak when the belief is off by a total variation, and the epsilon to build for."""
    return {"leakage": robust_leak(epsilon, radius), "design": robust_epsilon(epsilon, radius)}


def chain_error(transition: Sequence[Vector], error: float, epsilon: float) -> Result:
    """How far beliefs come apart under chains whose probabilities are within exp(+-error), and what to build for."""
    chain = chain_of(transition, np.full(len(transition), 1.0 / len(transition)))
    units = chain_error_units(error, chain.contraction, chain.span)
    distance = units / UNITS_PER_NAT if units < INFINITE else math.inf
    return {"distance": distance, "design": max(epsilon / 2.0, epsilon - distance)}


def path(times: int, epsilon: float, delta: float) -> Result:
    """For the sequence that really happened, with probability 1 - delta."""
    return {
        "basic": times * epsilon,
        "epsilon": path_bound(times, epsilon, delta),
        "concentrated": concentrated_bound(times, epsilon, delta),
        "sip": False,
    }


def path_losses(prior: Vector, channel: Sequence[Vector], times: int, delta: float) -> Result:
    """The same for releases through one channel, from its Renyi divergences and from the law of its losses."""
    if len(channel) != prior.size:
        raise Invalid("channel", f"has {len(channel)} rows, but prior has {prior.size} values")
    losses = losses_of(prior.tolist(), [row.tolist() for row in channel], times, delta)
    return {"upper": losses.upper._asdict(), "lower": losses.lower._asdict(), "sip": False}


def sliding(charges: Vector, events: int, budget: float) -> Result:
    """Which events a budget over so many events in a row lets in, if each tells what it may, and what windows hold."""
    ring = np.zeros(min(events, charges.size), dtype=np.int64)
    limit, allowed, spent = budget_units(budget), [], []
    for step, charge in enumerate(charges.tolist()):
        units = _units_up(charge)
        let_in = fits_sliding(ring, ring, step, units, units, limit)
        turn(ring, step, units if let_in else 0)
        allowed.append(bool(let_in))
        spent.append(nats(min(INFINITE, sum(ring.tolist()))))
    return {"allowed": allowed, "spent": spent, "largest": max(spent)}


def score(laws: Sequence[Vector], released: Sequence[int], alpha: float) -> Result:
    """How well releases fit the laws that a model predicted, and the evidence against it."""
    if len(released) != len(laws):
        raise Invalid("released", f"has {len(released)} entries for {len(laws)} laws")
    kept = new_score()
    for law, value in zip(laws, released, strict=True):
        if value >= law.size:
            raise Invalid("released", f"holds {value}, but a law has {law.size} values, counted from 0")
        observe(kept, law, law.size, value)
    return {
        "seen": float(kept[Score.SEEN]),
        "expected": float(kept[Score.EXPECTED]),
        "variance": float(kept[Score.VARIANCE]),
        "evidence": float(evidence(kept)),
        "alarm": bool(alarmed(kept, alpha)),
    }


def _units_up(amount: float) -> int:
    return min(INFINITE, math.ceil(Fraction(amount) * UNITS_PER_NAT))


def topk(prior: Vector, epsilon: float) -> Result:
    """The best mechanism that is epsilon-LDP for every belief."""
    value = top_k_value(prior, epsilon)
    return {"size": value.size, "accuracy": value.accuracy}


def noise(start: Vector, flip: float, epsilons: Vector) -> Result:
    """Example 1 of the paper, two binary steps."""
    if start.size != 2:
        raise Invalid("start", f"has {start.size} entries; the example has two values")
    if epsilons.size != 2:
        raise Invalid("epsilons", f"has {epsilons.size} entries; the example has two steps")
    value = noise_value(start.tolist(), flip, epsilons.tolist())
    return {**value._asdict(), "noise": list(value.noise)}


def published(formula: str, times: int, epsilon: float, delta: float) -> Result:
    """A formula as its paper prints it, which is no guarantee."""
    if formula != THEOREM_2:
        raise Invalid("formula", f"is not known; the one that is known here is {THEOREM_2}")
    return {"epsilon": published_theorem_2(times, epsilon, delta), "guarantee": False}


def chain_of(transition: Sequence[Vector], start: Vector) -> Chain:
    if transition[0].size != len(transition):
        raise Invalid("transition", f"has {len(transition)} rows of {transition[0].size} entries; it must be square")
    if start.size != len(transition):
        raise Invalid("start", f"has {start.size} entries, but transition has {len(transition)} rows")
    return Chain.from_dense(start, np.array(transition))


def _follow_published(following: Following, mechanism: str, epsilon: float, released: Sequence[int]) -> None:
    if mechanism != CRR:
        raise Invalid("mechanism", f"is not known; the one that can be followed by its name is {CRR}")
    for value in released:
        if value >= following.belief.size:
            raise Invalid("released", f"holds {value}, but there are {following.belief.size} values, counted from 0")
        following.add(likelihood_of(following.belief, epsilon, value), "released")


def _in_words(accounts: Accounts) -> Result:
    return {
        "steps": [[step.upper, step.lower] for step in accounts.steps],
        "total": accounts.total,
        "two_sided": accounts.counters.epsilon,
        "upper": accounts.whole.upper,
        "lower": accounts.whole.lower,
        "epsilon": accounts.whole.epsilon,
        "single": [leak.epsilon for leak in accounts.single],
        "next": accounts.following.tolist(),
    }
