"""What all releases together tell: about the whole sequence of values, and about each value by itself. Proof: whole.md.

The counters of the ledger add the worst of each release as if one path of values could be the worst for all of them.
Here the paths are those of the chain, so the answer is the definition's, exactly, in one pass over the transitions a
release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from beliefs.chain import Chain
from beliefs.checks import Invalid, require
from beliefs.leakage.sequence import Leak
from beliefs.simplex import Vector, normalised, plain_sum

_HALF_PLACE = 2.0**-53
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Accounts:
    """All leaks in nats, rounded up.

    `steps` is each release about its own value; `whole` is the sequence, exactly; `single` is each value, given all
    releases, earlier and later; `following` is the belief about the next value.
    """

    steps: list[Leak]
    whole: Leak
    single: list[Leak]
    following: Vector

    @property
    def counters(self) -> Leak:
        """The ledger's two sums."""
        return Leak(_sum_up([step.upper for step in self.steps]), _sum_up([step.lower for step in self.steps]))

    @property
    def total(self) -> float:
        """The sum of the larger sides, which is what Theorem 1 of the paper adds."""
        return _sum_up([step.epsilon for step in self.steps])


class Following:
    """The accounts of a growing sequence; a release costs one pass over the chain's transitions."""

    def __init__(self, chain: Chain, start: Vector | None = None) -> None:
        """`start` is the belief about the first value, where it is not that of the chain: what was known before."""
        require(not chain.has_tail and chain.phases == 1, "a chain without a tail and phases")
        self._from = np.repeat(np.arange(chain.size), np.diff(chain.indptr))
        self._to, self._weights = chain.indices, chain.data
        self.belief = chain.start if start is None else normalised(start)
        self._prior = self.belief
        self._best = np.where(self.belief > 0, 0.0, -np.inf)
        self._worst = np.where(self.belief > 0, 0.0, np.inf)
        self._log_probability = 0.0
        self.steps: list[Leak] = []
        self._likelihoods: list[Vector] = []
        self._filtered: list[Vector] = []
        self._priors: list[Vector] = []

    def add(self, likelihood: Vector, field: str = "likelihoods") -> None:
        """One more release, which has probability `likelihood[x]` when the value is x; `field` names it in an error."""
        if likelihood.shape != self.belief.shape:
            raise Invalid(field, f"has {likelihood.size} entries, but the chain has {self.belief.size} values")
        joint = self.belief * likelihood
        chance = plain_sum(joint)
        if not chance > 0:
            raise Invalid(field, "rules out everything that is possible: such a release cannot have happened")
        scores = _log(likelihood)
        log_chance = math.log(chance)
        possible = scores[self.belief > 0]
        slack = self._slack(1, float(np.abs(possible[np.isfinite(possible)]).max(initial=0.0)) + abs(log_chance))
        self.steps.append(_leak(float(possible.max()) - log_chance, log_chance - float(possible.min()), slack))
        self._best = self._best + scores
        # Where no path leads, the worst is infinite and stays so, whatever the score.
        self._worst = np.add(self._worst, scores, out=np.full_like(scores, np.inf), where=self._worst < np.inf)
        self._log_probability += log_chance
        self._likelihoods.append(likelihood)
        self._filtered.append(joint / chance)
        self._priors.append(self._prior)
        self._move()

    def accounts(self) -> Accounts:
        """Of everything added so far, one release at least."""
        return Accounts(self.steps, self._whole(), self._single(), self.belief)

    def _move(self) -> None:
        """The next value: the belief, and the best and the worst path that leads to it."""
        self._ended = (self._best, self._worst)
        size = self.belief.size
        self.belief = normalised(_through(self._filtered[-1], self._from, self._to, self._weights, size))
        self._prior = normalised(_through(self._prior, self._from, self._to, self._weights, size))
        best, worst = np.full(size, -np.inf), np.full(size, np.inf)
        np.maximum.at(best, self._to, self._best[self._from])
        np.minimum.at(worst, self._to, self._worst[self._from])
        self._best, self._worst = best, worst

    def _whole(self) -> Leak:
        best, worst = float(self._ended[0].max()), float(self._ended[1].min())
        size = max(abs(each) for each in (best, worst, self._log_probability) if math.isfinite(each))
        slack = self._slack(len(self.steps), size)
        return _leak(best - self._log_probability, self._log_probability - worst, slack)

    def _single(self) -> list[Leak]:
        """Forward and backward: the posterior of each value, given all releases, against its prior."""
        backward = np.ones_like(self.belief)
        leaks: list[Leak] = []
        for filtered, prior, likelihood in zip(
            reversed(self._filtered), reversed(self._priors), reversed(self._likelihoods), strict=True
        ):
            posterior = normalised(filtered * backward)
            possible = prior > 0
            ratios = _log(posterior[possible]) - np.log(prior[possible])
            slack = self._slack(2 * len(self.steps), float(np.abs(ratios[np.isfinite(ratios)]).max(initial=1.0)))
            leaks.append(_leak(float(ratios.max()), -float(ratios.min()), slack))
            seen = likelihood * backward
            backward = _through(seen, self._to, self._from, self._weights, self.belief.size)
            peak = float(backward.max())
            backward = backward / peak if peak > 0 else backward
        return leaks[::-1]

    def _slack(self, steps: int, size: float) -> float:
        """More than all roundings: a step adds 2n + 4 of them to a product of nonnegative numbers, and each logarithm
        or sum of logarithms is off by at most its own last places.
        """
        places = steps * (2 * self.belief.size + 8) + 8 + 8 * steps * max(1.0, size)
        return places * _HALF_PLACE


def follow(chain: Chain, likelihoods: Sequence[Vector]) -> Accounts:
    """The accounts of a whole sequence of releases."""
    following = Following(chain)
    for likelihood in likelihoods:
        following.add(likelihood)
    return following.accounts()


def _through(mass: Vector, sources: Integers, targets: Integers, weights: Vector, size: int) -> Vector:
    return np.bincount(targets, mass[sources] * weights, minlength=size).astype(np.float64)


def _log(values: Vector) -> Vector:
    with np.errstate(divide="ignore"):
        logs: Vector = np.log(values)
    return logs


def _leak(upper: float, lower: float, slack: float) -> Leak:
    """Neither side is negative: some value becomes at least as likely as it was, and some at most as likely."""
    return Leak(max(0.0, upper + slack), max(0.0, lower + slack))


def _sum_up(amounts: Sequence[float]) -> float:
    total = math.fsum(amounts)
    return total if math.isinf(total) else math.nextafter(total, math.inf)
