"""The least noise with which nobody learns more than epsilon. Proof: calibration.md.

A leak never rises with the scale. For one adversary the scale is found by halving, always from above: what is returned
was measured to keep epsilon. For all of them the worst adversary at one scale sets the next one, until nobody is above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.chain_adversary import ChainAdversary
from beliefs.prior.gaussian import Sums, gaussian_leak, weakest_gaussian, worst_gaussian
from beliefs.prior.outward import least_above
from beliefs.prior.segment_laws import as_table
from beliefs.prior.worst import EXACT, SOUND, worst_of_table
from beliefs.prior.worst_chain import ChainSearch
from beliefs.simplex import Vector

WORST, WEAKEST = "worst", "weakest"
CLOSE = 2.0**-44
"""The scale is found up to this share."""

COARSE = 2.0**-10
"""So is one against adversaries whose leak is only bounded."""

LEAST = 2.0**-59
"""No scale of less than this share of the reach is looked at: there the leak would have 18 digits before the point."""

Leak = Callable[[float], float]


class Calibrated(NamedTuple):
    """`method` is `sound` where the scale suffices, but less might, as not every adversary could be looked at."""

    scale: float
    method: str


class Named(NamedTuple):
    """One adversary, or all who attack an attribute if `known` is left open."""

    attacked: int
    known: tuple[int, ...] | None


class Attack(NamedTuple):
    """What the worst adversary at some scale learns there, what he learns at any other, and how that is known."""

    nats: float
    leak: Leak
    method: str


def table_scale(law: TableLaw, query: Query, epsilon: float, adversary: str, named: Named | None = None) -> Calibrated:
    """Against the worst adversary, the worst of those who know nobody, or those that are named."""
    upper = least_above(sum(query.ranges, Fraction(0)) / Fraction(epsilon))
    if named is not None and named.known is not None:
        return Calibrated(_scale_against(Seen.by(law, query, named.attacked, named.known), epsilon), EXACT)
    if adversary == WEAKEST:
        tried = range(law.size) if named is None else [named.attacked]
        return Calibrated(max(_scale_against(Seen.by(law, query, each, ()), epsilon) for each in tried), EXACT)

    def worst(scale: float) -> Attack:
        found = worst_of_table(law, query, scale, only=None if named is None else named.attacked)
        return Attack(found.epsilon, Seen.by(law, query, found.attacked, found.known).leak, found.method)

    return against_all(worst, epsilon, upper)


def gaussian_scale(
    law: GaussianLaw, weights: Vector, epsilon: float, adversary: str, named: Named | None = None
) -> Calibrated:
    """A Gaussian leak is inverse to the scale."""
    sums, method = Sums(weights[None], np.ones(1)), EXACT
    if named is not None and named.known is not None:
        nats = gaussian_leak(law, sums, named.attacked, named.known)
    elif adversary == WEAKEST:
        nats = weakest_gaussian(law, sums)[0] if named is None else gaussian_leak(law, sums, named.attacked, ())
    else:
        found = worst_gaussian(law, sums, only=None if named is None else named.attacked)
        nats, method = found.epsilon, found.method
    scale = least_above(Fraction(nats) / Fraction(epsilon)) if math.isfinite(nats) else math.inf
    return Calibrated(scale, method)


def chain_scale(law: MarkovLaw, epsilon: float, adversary: str, named: Named | None = None) -> Calibrated:
    """Of a chain all adversaries are looked at, or those who know nobody, or one who is named with what he knows."""
    table = as_table(law)
    if table is not None:
        return table_scale(table, Query.of(table), epsilon, adversary, named)
    upper = least_above(Fraction(int(law.domain[-1]) - int(law.domain[0])) * law.length / Fraction(epsilon))
    if named is not None:
        if named.known is None:
            raise Invalid("attacked", "of a chain goes with the values that are known; leave it out for the worst one")
        return Calibrated(smallest(ChainAdversary(law, named.attacked, named.known).leak, epsilon, upper), EXACT)

    def worst(scale: float) -> Attack:
        search = ChainSearch(law, scale)
        nats, method, pair = search.weakest() if adversary == WEAKEST else search.worst()
        return Attack(nats, (lambda _: 0.0) if pair is None else search.of(pair), method)

    return against_all(worst, epsilon, upper)


def _scale_against(seen: Seen, epsilon: float) -> float:
    """No noise at all where the sum itself keeps epsilon."""
    if seen.unveiled() <= epsilon:
        return 0.0
    return smallest(seen.leak, epsilon, least_above(seen.reach / Fraction(epsilon)))


def smallest(leak: Leak, epsilon: float, upper: float) -> float:
    """The smallest scale that keeps epsilon, which `upper` does, or the least one that is looked at."""
    low, high = least_scale(epsilon, upper), upper
    if low == high or leak(low) <= epsilon:
        return low
    while low < high * 0.5:
        middle = math.sqrt(low) * math.sqrt(high) if low < high * 0.25 else low + 0.5 * (high - low)
        low, high = (low, middle) if leak(middle) <= epsilon else (middle, high)
    while high - low > CLOSE * high:
        middle = low + 0.5 * (high - low)
        low, high = (low, middle) if leak(middle) <= epsilon else (middle, high)
    return high


def least_scale(epsilon: float, upper: float) -> float:
    """Where to begin: `upper` itself if no smaller scale can be looked at."""
    least = upper * min(1.0, epsilon * LEAST)
    return least if 2.0**-1000 < least < math.inf else upper


def against_all(worst: Callable[[float], Attack], epsilon: float, upper: float) -> Calibrated:
    """Each worst adversary raises the scale to what he himself needs, until the next one is within epsilon."""
    scale = least_scale(epsilon, upper)
    if scale == upper:
        return Calibrated(upper, EXACT if upper == 0.0 else SOUND)
    found = worst(upper)
    if found.method == EXACT:
        scale = smallest(found.leak, epsilon, upper)
    while scale < upper:
        found = worst(scale)
        if found.nats <= epsilon:
            return Calibrated(scale if found.nats > 0.0 else 0.0, found.method)
        needed = smallest(found.leak, epsilon, upper)
        if found.method == SOUND or needed <= scale:
            return _between(worst, epsilon, scale, upper, found.method)
        scale = needed
    return Calibrated(upper, EXACT)


def _between(worst: Callable[[float], Attack], epsilon: float, low: float, high: float, method: str) -> Calibrated:
    """By halving: where leaks are only bounded, or where two adversaries are equal up to roundings."""
    room = COARSE if method == SOUND else CLOSE
    step = low * (1.0 + room)
    while step < high and worst(step).nats > epsilon:
        low, step = step, step + 2.0 * (step - low)
    high = min(step, high)
    while high - low > room * high:
        middle = low + 0.5 * (high - low)
        low, high = (low, middle) if worst(middle).nats <= epsilon else (middle, high)
    return Calibrated(high, method)
