"""The threshold mechanism for streams of numbers, offline and for comparison only. Proof, and what it is not:
tops_value.md.

Three phases: the first samples are released with noise for the whole range, and a quantile of what was released is the
threshold; later values are cut at it and released with less noise; a moving mean smooths what was released. The noise
comes in as uniform numbers, one a value.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.simplex import Vector, plain_sum


class TopsValue(NamedTuple):
    threshold: float
    released: list[float]
    smoothed: list[float]
    distance: float
    """the mean distance of a smoothed value from the true one"""


def tops_value(
    stream: Vector, bound: float, epsilon: float, samples: int, quantile: float, smoothing: int, uniforms: Vector
) -> TopsValue:
    """`stream` holds numbers from 0 to `bound`; `smoothing` is the length of the mean, 1 for none."""
    _check(stream, bound, epsilon, samples, uniforms)
    noise = laplace(uniforms)
    first = stream[:samples] + noise[:samples] * (bound / epsilon)
    threshold = min(bound, max(0.0, quantile_of(first, quantile)))
    later = np.minimum(stream[samples:], threshold) + noise[samples:] * (threshold / epsilon)
    released = np.concatenate([first, later])
    smoothed = smooth(released, smoothing, bound)
    return TopsValue(
        threshold, released.tolist(), smoothed.tolist(), plain_sum(np.abs(smoothed - stream)) / float(stream.size)
    )


def laplace(uniforms: Vector) -> Vector:
    """The quantiles of Laplace's law of scale 1 at numbers strictly between 0 and 1."""
    return np.array([math.log(2.0 * u) if u < 0.5 else -math.log(2.0 * (1.0 - u)) for u in uniforms.tolist()])


def quantile_of(values: Vector, share: float) -> float:
    """The smallest value that at least this share of all do not exceed."""
    ordered = np.sort(values, kind="stable")
    return float(ordered[min(values.size - 1, max(0, math.ceil(share * values.size) - 1))])


def smooth(released: Vector, length: int, bound: float) -> Vector:
    """The mean of the last `length` releases, or of all where there are fewer, brought back into the range."""
    sums = np.concatenate([[0.0], np.add.accumulate(released)])
    ends = np.arange(1, released.size + 1)
    starts = np.maximum(ends - length, 0)
    means: Vector = (sums[ends] - sums[starts]) / (ends - starts)
    return np.minimum(np.maximum(means, 0.0), bound)


def _check(stream: Vector, bound: float, epsilon: float, samples: int, uniforms: Vector) -> None:
    if not bound > 0.0:
        raise Invalid("bound", "must be above 0")
    if not epsilon > 0.0:
        raise Invalid("epsilon", "must be above 0: without it the noise has no end")
    if stream.size == 0 or float(stream.min()) < 0.0 or float(stream.max()) > bound:
        raise Invalid("stream", f"must hold numbers from 0 to the bound, {bound:g}")
    if not 1 <= samples <= stream.size:
        raise Invalid("samples", f"must be from 1 to the {stream.size} values of the stream")
    if uniforms.size != stream.size:
        raise Invalid("uniforms", f"has {uniforms.size} numbers; a stream of {stream.size} values needs as many")
    if not bool(((uniforms > 0.0) & (uniforms < 1.0)).all()):
        raise Invalid("uniforms", "must lie strictly between 0 and 1")
