"""A release with a small expected cost, for any costs, and a bound below which no release can go. Proof: distortion.md.

The prices climb the dual by momentum on a soft minimum that hardens; the answers of the knapsacks on the way, averaged,
are a channel, and `repair` makes it keep the promise.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.simplex import Vector, normalised, plain_sum
from mechanisms.sequence.repair import repair

Table = npt.NDArray[np.float64]

ROUNDS = 4_000
_CHECK_EVERY = 25
_CUTS = 12
_STRIDE = 0.3
_GAP_WANTED = 0.002
_HARDEST = 2.0**-12
"""The softness at the end, as a share of the largest cost."""
_ROUNDING = 2.0**-45


class DistortionValue(NamedTuple):
    cost: float
    lower_bound: float
    channel: list[Vector]


class _Problem:
    def __init__(self, prior: Vector, costs: Table, epsilon: float) -> None:
        self.prior = normalised(prior)
        self.epsilon = epsilon
        self.covered, self.revealed = math.exp(-epsilon), -math.expm1(-epsilon)
        self.costs = costs
        self.cap = 1.0 + math.exp(min(epsilon, 700.0))
        self.room = self.prior * self.cap
        self.blind = self.covered * (self.prior[:, None] * costs).sum(axis=0)

    def knapsacks(self, prices: Vector) -> tuple[Vector, Table]:
        """For each release its reduced cost, and the law below M b that attains it, as columns."""
        reduced = self.revealed * self.costs - prices[:, None]
        order = np.argsort(reduced, axis=0, kind="stable")
        room = self.room[order]
        before = np.cumsum(room, axis=0) - room
        filled = np.clip(1.0 - before, 0.0, room)
        laws = np.empty_like(reduced)
        np.put_along_axis(laws, order, filled, axis=0)
        return self.blind + (laws * reduced).sum(axis=0), laws

    def bound(self, prices: Vector, least: float) -> float:
        """Nothing costs less, whatever the prices are; `least` is the least reduced cost."""
        scale = float(self.costs.max(initial=0.0))
        return plain_sum(self.prior * prices) + least - _ROUNDING * scale * prices.size

    def cost_of(self, channel: Table) -> float:
        return plain_sum(self.prior * (channel * self.costs).sum(axis=1))

    def repaired(self, joint: Table) -> tuple[float, list[Vector]]:
        """A channel from a table of masses that are nearly b(x) K(y|x), and its cost.

        What a row has too much is scaled down, what exceeds the cap is cut off, and what is missing then is filled with
        draws from the law. That moves the law a little, so it is done some times; only the rest is left to `repair`,
        which dilutes all rows for the sake of the worst.
        """
        prior = np.maximum(self.prior, np.finfo(np.float64).tiny)[:, None]
        channel = joint / np.maximum(joint.sum(axis=1, keepdims=True), prior)
        law = normalised((self.prior[:, None] * channel).sum(axis=0))
        for _ in range(_CUTS):
            channel = np.minimum(channel, self.cap * law)
            channel += np.maximum(1.0 - channel.sum(axis=1, keepdims=True), 0.0) * law
            law = normalised((self.prior[:, None] * channel).sum(axis=0))
        made = repair(self.prior, list(channel), self.epsilon).channel
        return self.cost_of(np.array(made)), made


def distortion_value(prior: Vector, costs: Table, epsilon: float) -> DistortionValue:
    """`costs[x, y]` is what it costs to release y for x."""
    problem = _Problem(prior, costs, epsilon)
    blind = int(np.argmin((problem.prior[:, None] * costs).sum(axis=0)))
    constant = np.zeros_like(costs)
    constant[:, blind] = 1.0
    best = DistortionValue(problem.cost_of(constant), 0.0, list(constant))
    scale = float(costs.max(initial=0.0))
    return best if scale == 0.0 else _ascend(problem, best, scale)


def bound_at(prior: Vector, costs: Table, epsilon: float, prices: Vector) -> float:
    """What any mechanism costs at least, by the certificate of these prices."""
    problem = _Problem(prior, costs, epsilon)
    return max(0.0, problem.bound(prices, float(problem.knapsacks(prices)[0].min())))


def _ascend(problem: _Problem, best: DistortionValue, scale: float) -> DistortionValue:
    prices = momentum = np.zeros_like(problem.prior)
    joint, weight_of_all = np.zeros_like(problem.costs), 0.0
    for step in range(1, ROUNDS + 1):
        softness = scale * max(_HARDEST, 1.0 / (4.0 + step))
        reduced, laws = problem.knapsacks(momentum)
        bound = problem.bound(momentum, float(reduced.min()))
        best = best._replace(lower_bound=max(best.lower_bound, bound))
        weights = np.exp((reduced.min() - reduced) / softness)
        weights /= weights.sum()
        joint += step**3 * laws * weights  # late answers are better
        weight_of_all += step**3
        slope = problem.prior - (laws * weights).sum(axis=1)
        following = momentum + _STRIDE * softness * slope / np.maximum(problem.prior, 1.0 / (4.0 * prices.size))
        momentum = following + (step - 1.0) / (step + 2.0) * (following - prices)
        prices = following
        if step % _CHECK_EVERY == 0:
            cost, channel = problem.repaired(joint / weight_of_all)
            if cost < best.cost:
                best = DistortionValue(cost, best.lower_bound, channel)
            if best.cost - best.lower_bound <= _GAP_WANTED * best.cost:
                break
    return best
