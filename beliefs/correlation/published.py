"""Formulas as they were published, which are wrong or no bound: for comparison, not for promises. See published.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, log_ratios
from beliefs.correlation.outputs import channel_leak, response_leak
from beliefs.correlation.tables import conditional_of, margin

STEPS_MAX = 100_000

Leak = Callable[[Matrix, float], float]


def algorithm_1(conditional: Matrix, channel: Matrix) -> float:
    """Compares rows of the channel where the definition compares columns."""
    return channel_leak(conditional, channel.T)


def equation_6(weights: Matrix, epsilons: Sequence[float]) -> float:
    """Adds what each neighbour tells by itself: below the truth where neighbours tell more together."""
    pairs = [conditional_of(margin(weights, 0, axis)).laws for axis in range(1, weights.ndim)]
    return math.fsum(response_leak(laws, epsilon) for laws, epsilon in zip(pairs, epsilons, strict=True))


def algorithm_3(weights: Matrix, leak: Leak, total: float, step: float) -> float:
    """Raises the budget until the limit is broken, and returns one step more."""
    count = weights.ndim
    pairs = [
        [conditional_of(margin(weights, secret, other)).laws for other in range(count) if other != secret]
        for secret in range(count)
    ]
    budget = total / count
    for _ in range(STEPS_MAX):
        told = max(budget + math.fsum(leak(laws, budget) for laws in neighbours) for neighbours in pairs)
        budget += step
        if told >= total:
            return budget
    raise Invalid("step", f"is too small: the limit is not reached within {STEPS_MAX} steps")


def relaxation(conditional: Matrix, epsilon: float, delta: float) -> float | None:
    """f*: delta times the chance of the set that the printed greedy ends with, or None where it never assigns it."""
    best, chance = 0.0, None
    for first in conditional:
        for second in conditional:
            taken = _greedy(first, second, epsilon)
            leak = float(log_ratios(first[taken].sum(), second[taken].sum(), epsilon))
            if leak > best:
                best, chance = leak, float(first[taken].sum())
    return None if chance is None else delta * chance


def _greedy(first: Matrix, second: Matrix, epsilon: float) -> list[int]:
    """Takes values while their ratio is at least that of the set so far, equal ones included."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(first > 0.0, np.log(first) - np.log(second), -math.inf)
    taken: list[int] = []
    for place in np.argsort(-ratios, kind="stable").tolist():
        reached = log_ratios(first[taken].sum(), second[taken].sum(), epsilon)
        if ratios[place] == -math.inf or ratios[place] < reached:
            break
        taken.append(place)
    return taken
