"""Numbers of releases that are more than one value kept or not: windows of values, and costs of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.simplex import Vector
from mechanisms.sequence.distortion_value import distortion_value
from mechanisms.sequence.published_batch_value import published_batch_value, published_window_value
from mechanisms.sequence.tops_value import tops_value
from mechanisms.sequence.window_value import window_value
from stream.compute.accounts import chain_of

Result = Mapping[str, object]


def window(transition: Sequence[Vector], start: Vector, length: int, epsilon: float, *, delay: bool) -> Result:
    """The window mechanism: how much it keeps, and what it tells."""
    value = window_value(chain_of(transition, start), length, epsilon, delay=delay)
    return value._asdict()


def published_batch(transition: Sequence[Vector], start: Vector, length: int, epsilon: float, step: float) -> Result:
    """Algorithm 2 of the paper on whole windows, which is no optimum."""
    return published_batch_value(chain_of(transition, start), length, epsilon, step)._asdict()


def published_window(transition: Sequence[Vector], start: Vector, length: int, epsilon: float) -> Result:
    """The published response on whole windows, with what it really tells."""
    return {**published_window_value(chain_of(transition, start), length, epsilon)._asdict(), "guarantee": False}


def tops(
    stream: Vector, bound: float, epsilon: float, samples: int, quantile: float, smoothing: int, uniforms: Vector
) -> Result:
    """The threshold mechanism for numbers, with the noise given: for comparison, no release."""
    return tops_value(stream, bound, epsilon, samples, quantile, smoothing, uniforms)._asdict()


def distortion(prior: Vector, distortion: Sequence[Vector], epsilon: float) -> Result:
    """A bounded mechanism's expected cost, and a bound that none undercuts."""
    if len(distortion) != prior.size:
        raise Invalid("distortion", f"has {len(distortion)} rows, but prior has {prior.size} values")
    value = distortion_value(prior, np.array(distortion), epsilon)
    return {"cost": value.cost, "lower_bound": value.lower_bound}
