"""What a secret loses through all other attributes together. Proof: joint.md.

`laws` has the secret's values along axis 0 and one axis for each neighbour: P(all neighbours | secret).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import LINEAR_UP_TO, Matrix, bound, roundings, sum_of, upwards
from beliefs.correlation.checked import require_laws, require_level

_LEAST = math.ulp(0.0)
"""Where laws differ, a leak that is lost in roundings is still none of 0: with this its roundings are added."""


def joint_leak(laws: Matrix, epsilons: Sequence[float]) -> float:
    """Exactly, when every neighbour goes through randomised response of its own epsilon; rounded up."""
    for epsilon in epsilons:
        require_level(epsilon, "epsilons")
    require_laws(flat(laws))
    if len(epsilons) != laws.ndim - 1:
        raise Invalid("epsilons", f"are {len(epsilons)}, but there are {laws.ndim - 1} neighbours")
    most = sum_of(epsilons)
    if _alike(laws):
        return 0.0
    if most <= LINEAR_UP_TO:
        return upwards(max(_spread(laws, epsilons), _LEAST), _roundings(laws), most)
    terms = roundings(_roundings(laws), most) * laws.ndim
    return upwards(max(_spread_of_logs(laws, epsilons), _LEAST), terms, most)


def channels_leak(laws: Matrix, channels: Sequence[Matrix]) -> float:
    """Exactly, when every neighbour goes through a channel of its own; rounded up."""
    require_laws(flat(laws))
    if _alike(laws) or all(_alike(channel) for channel in channels):
        return 0.0
    seen = laws
    for axis, channel in enumerate(channels, 1):
        moved = np.moveaxis(seen, axis, -1)
        outputs = [(moved * channel[:, output]).sum(axis=-1) for output in range(channel.shape[1])]
        seen = np.moveaxis(np.stack(outputs, axis=-1), -1, axis)
    highest, lowest = seen.max(axis=0), seen.min(axis=0)
    possible = highest > 0.0
    with np.errstate(divide="ignore"):
        spread = np.log(highest[possible]) - np.log(lowest[possible])
    return upwards(max(float(spread.max()), _LEAST), _roundings(laws))


def in_total(own: float, leak: float) -> float:
    """What a secret loses by its own report and through others; the sum is rounded up."""
    return math.nextafter(own + leak, math.inf) if leak > 0.0 else own


def group_bound(laws: Matrix, level: float) -> float:
    """What any mechanisms of these levels in sum lose at most: all neighbours count as one attribute."""
    return min(level, bound(flat(laws), level).epsilon)


def flat(laws: Matrix) -> Matrix:
    """All neighbours as one attribute, whose values are their combinations."""
    return laws.reshape(laws.shape[0], -1) if laws.size else np.zeros((0, 0))


def _alike(rows: Matrix) -> bool:
    return bool((rows == rows[0]).all())


def _spread(laws: Matrix, epsilons: Sequence[float]) -> float:
    seen = laws
    for axis, epsilon in enumerate(epsilons, 1):
        low = math.exp(-epsilon)
        seen = low * seen.sum(axis=axis, keepdims=True) + (-math.expm1(-epsilon)) * seen
    highest, lowest = seen.max(axis=0), seen.min(axis=0)
    possible = highest > 0.0
    # Near 1 the logarithm of a ratio is taken of the difference from 1.
    return float(np.log1p((highest[possible] - lowest[possible]) / lowest[possible]).max())


def _spread_of_logs(laws: Matrix, epsilons: Sequence[float]) -> float:
    with np.errstate(divide="ignore"):
        seen = np.log(laws)
        for axis, epsilon in enumerate(epsilons, 1):
            whole = np.logaddexp.reduce(seen, axis=axis, keepdims=True)
            seen = np.logaddexp(whole - epsilon, seen + np.log(-np.expm1(-epsilon)))
    highest, lowest = seen.max(axis=0), seen.min(axis=0)
    possible = highest > -math.inf
    return float((highest[possible] - lowest[possible]).max())


def _roundings(laws: Matrix) -> int:
    """Each contraction adds the values of one axis."""
    return sum(laws.shape) + 8 * laws.ndim
