"""What a secret loses through randomised responses under any law within the radii, in whole units. Proof: account.md.

Reports of the neighbours make a column: a weight for each combination of their values, largest where all values are
those named. Against one output only the pattern matters in which a combination misses what was named; so the chances
of the patterns under each value of the secret are found once, and moved from pattern to pattern by the radii.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.correlation.response_units import Axis, farthest, through
from beliefs.native import kernel
from beliefs.rounding import log_units_up
from beliefs.simplex import Vector


class Patterns(NamedTuple):
    """Of one neighbour: `members` says of each output and each pattern which values it holds, `levels` what a value of
    each pattern weighs, `most` and `least` the largest and the smallest weight that some value has, by output.
    """

    members: Matrix
    levels: Vector
    most: Vector
    least: Vector


def patterns_of(axis: Axis, low: float, lower: float) -> Patterns:
    """`low` and `lower` are what a value weighs that is in another class, or in another group, than the one named."""
    members, levels = np.ones((1, 1, len(axis.classes))), np.ones(1)
    for units, weight, named in ((axis.fine, low, axis.classes), (axis.coarse, lower, axis.groups)):
        if units:
            inside = np.array([[each == one for each in named] for one in sorted(set(named))], dtype=np.float64)
            members = _product(members, np.stack([inside, 1.0 - inside], axis=1))
            levels = np.multiply.outer(levels, np.array([1.0, weight])).ravel()
    there = members.any(axis=2)
    most = np.where(there, levels, 0.0).max(axis=1)
    least = np.where(there, levels, 1.0).min(axis=1)
    return Patterns(members, levels, most, least)


def _product(members: Matrix, split: Matrix) -> Matrix:
    """Outputs and patterns of both: what is in one and in the other."""
    both = members[:, None, :, None, :] * split[None, :, None, :, :]
    outputs, others, patterns, more, values = both.shape
    found: Matrix = both.reshape(outputs * others, patterns * more, values)
    return found


def cells_of(axis: Axis) -> int:
    """Outputs times patterns of one neighbour."""
    fine = 2 * len(set(axis.classes)) if axis.fine else 1
    return fine * (2 * len(set(axis.groups)) if axis.coarse else 1)


def moved_leak(weights: Matrix, margin: Vector, secret: int, neighbours: Sequence[Patterns], radii: Vector) -> int:
    """Units, rounded up; exact for the worst of all laws within the radii. INFINITE where a value may be ruled out."""
    if weights.shape[secret] == 1:
        return 0
    chances, levels = _chances(weights, margin, secret, neighbours)
    most, least = np.ones(1), np.ones(1)
    for each in neighbours:
        most, least = np.multiply.outer(most, each.most).ravel(), np.multiply.outer(least, each.least).ravel()
    # What sums of so many positive terms may be off by, of themselves; and sums that are at most 1, by themselves.
    slack = (4 * (sum(weights.shape) + levels.size) + 32 * weights.ndim + 128) * 2.0**-53
    room = (2 * sum(weights.shape) + levels.size + 16) * 2.0**-53
    highs, lows = np.empty(margin.size), np.empty(margin.size)
    ratio = float(_widest(chances, np.minimum(1.0, radii + room), levels, most, least, highs, lows))
    return log_units_up(ratio * (1.0 + slack))


def _chances(weights: Matrix, margin: Vector, secret: int, neighbours: Sequence[Patterns]) -> tuple[Matrix, Vector]:
    """Of every pattern of every output under each value of the secret, the patterns by falling weight."""
    cells, levels = np.ascontiguousarray(np.moveaxis(weights, secret, 0)), np.ones(1)
    for place, each in enumerate(neighbours, 1):
        cells = through(cells, place, each.members.reshape(-1, each.members.shape[2]))
        levels = np.multiply.outer(levels, each.levels).ravel()
    split = [size for each in neighbours for size in each.members.shape[:2]]
    apart = cells.reshape(margin.size, *split)
    outputs, patterns = range(1, 2 * len(neighbours), 2), range(2, 2 * len(neighbours) + 1, 2)
    turned = np.transpose(apart, (0, *outputs, *patterns)).reshape(margin.size, -1, levels.size)
    order = np.argsort(-levels, kind="stable")
    found: Matrix = np.ascontiguousarray(turned[:, :, order] / margin[:, None, None])
    return found, levels[order]


@kernel
def _widest(
    chances: Matrix, radii: Vector, levels: Vector, most: Vector, least: Vector, highs: Vector, lows: Vector
) -> float:
    """The largest ratio of one output's chances under two secrets, each as large or as small as its radius allows."""
    widest = 1.0
    for output in range(chances.shape[1]):
        for secret in range(chances.shape[0]):
            highs[secret] = _raised(chances[secret, output], radii[secret], levels, most[output])
            lows[secret] = _lowered(chances[secret, output], radii[secret], levels, least[output])
        widest = max(widest, farthest(highs, lows))
    return widest


@kernel
def _raised(chances: Vector, radius: float, levels: Vector, most: float) -> float:
    """As much as the radius allows goes from the least weights to the largest."""
    left, chance = radius, 0.0
    for pattern in range(levels.size - 1, -1, -1):
        moved = min(left, chances[pattern])
        left -= moved
        chance += (chances[pattern] - moved) * levels[pattern]
    return chance + (radius - left) * most


@kernel
def _lowered(chances: Vector, radius: float, levels: Vector, least: float) -> float:
    """As much as the radius allows goes from the largest weights to the least."""
    left, chance = radius, 0.0
    for pattern in range(levels.size):
        moved = min(left, chances[pattern])
        left -= moved
        chance += (chances[pattern] - moved) * levels[pattern]
    return chance + (radius - left) * least
