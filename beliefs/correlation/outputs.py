"""What a secret loses through the outputs of one given mechanism. Proof: outputs.md.

A mechanism is known here by its outputs only: a channel of its own, or the sets S of values for which some output is
e^epsilon times likelier than for the others. `any` set makes the loss the bound itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix, bound, log_ratios, roundings, upwards
from beliefs.correlation.checked import require_laws, require_level

SINGLETONS, SIZED, ANY, GROUPS = "singletons", "sized", "any", "groups"


class Sets(NamedTuple):
    """The sets that outputs stand for: single values, all of one size, any, or those of a partition of the values."""

    family: str
    size: int = 1
    groups: tuple[tuple[int, ...], ...] = ()


def sets_leak(conditional: Matrix, sets: Sets, epsilon: float) -> float:
    """The loss through a mechanism of that level whose outputs stand for these sets; rounded up."""
    if sets.family == ANY:
        return bound(conditional, epsilon).epsilon
    if sets.family == GROUPS:
        return response_leak(_merged(conditional, sets.groups), epsilon)
    if sets.family == SINGLETONS or sets.size == 1:
        return response_leak(conditional, epsilon)
    return _sized_leak(conditional, sets.size, epsilon)


def response_leak(conditional: Matrix, epsilon: float) -> float:
    """Randomised response: of each value, the likeliest secret against the least likely one."""
    require_laws(conditional)
    require_level(epsilon)
    if math.isinf(epsilon):
        return bound(conditional, epsilon).epsilon
    highest, lowest = conditional.max(axis=0), conditional.min(axis=0)
    return upwards(float(log_ratios(highest, lowest, epsilon).max()), roundings(2, epsilon), epsilon)


def repeated_leak(conditional: Matrix, epsilon: float, times: int) -> float:
    """One value through randomised response so many times: exactly what one report at times x epsilon loses."""
    return response_leak(conditional, times * epsilon)


def channel_leak(conditional: Matrix, channel: Matrix) -> float:
    """The largest logarithm of the ratio of an output's chances under two secrets; infinite where one of two is 0."""
    if bool((conditional == conditional[0]).all()) or bool((channel == channel[0]).all()):
        return 0.0
    seen = through(conditional, channel)
    highest, lowest = seen.max(axis=0), seen.min(axis=0)
    possible = highest > 0.0
    with np.errstate(divide="ignore"):
        spread = np.log(highest[possible]) - np.log(lowest[possible])
    # Where laws differ, a leak that is lost in roundings is still none of 0.
    return upwards(max(float(spread.max()), math.ulp(0.0)), 2 * channel.shape[0])


def through(conditional: Matrix, channel: Matrix) -> Matrix:
    """P(output | secret): the product of the two matrices, summed from the first value on."""
    seen = np.zeros((conditional.shape[0], channel.shape[1]))
    for value in range(channel.shape[0]):
        seen += conditional[:, value, None] * channel[value]
    return seen


def level_of(channel: Matrix) -> float:
    """The epsilon of a channel by itself."""
    return channel_leak(np.eye(channel.shape[0]), channel)


def _merged(conditional: Matrix, groups: tuple[tuple[int, ...], ...]) -> Matrix:
    """The law of the groups; each is a sum from its first value on."""
    return np.stack([np.add.accumulate(conditional[:, list(group)], axis=1)[:, -1] for group in groups], axis=1)


def _sized_leak(conditional: Matrix, size: int, epsilon: float) -> float:
    """Raises one level: against it the best set of a pair holds the `size` largest g - h g'."""
    level = 0.0
    while True:
        higher = max(_best_of_size(conditional, law, size, level, epsilon) for law in conditional)
        if not higher > level:
            return upwards(level, roundings(2 * size, epsilon), epsilon)
        level = higher


def _best_of_size(conditional: Matrix, law: Matrix, size: int, level: float, epsilon: float) -> float:
    with np.errstate(divide="ignore", over="ignore"):
        gains = law - np.exp(level + np.log(conditional))
    # A gain of -infinity is in no set that attains a level of more than 600: its own e^level g' is above e^600 g.
    chosen = np.argpartition(-gains, size - 1, axis=1)[:, :size]
    inside = law[chosen].sum(axis=1)
    against = np.take_along_axis(conditional, chosen, axis=1).sum(axis=1)
    return float(log_ratios(inside, against, epsilon).max())
