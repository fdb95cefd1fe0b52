"""Reports of several levels about one field, as one estimate; weighted sums of frequencies. Proof: pooled.md.

Weights are functions of how many reports there are of each level, and of the mechanisms: never of what was reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from mechanisms.contract import Floats
from mechanisms.local.estimate import Estimate
from mechanisms.local.inverted import NAMED, SET, Inverted

Pooling = Literal["precision", "shares"]
"""`precision`: least variance, for levels that people reach whatever their value is; `shares`: each report alike."""


class Level(NamedTuple):
    """All reports of one level: how they are inverted, how many there are, and the frequencies by them alone.

    `again` is the sum over users of the square of their number of reports, less the number of all: 0 if each report is
    another user's. It matters where bits are kept. `squares` are those of weighted sums, where they are measured.
    """

    of: Inverted
    reports: int
    frequencies: Floats
    again: int = 0
    squares: Floats | None = None


class Sum(NamedTuple):
    """A weighted sum of frequencies, and how far it may be off."""

    estimate: float
    variance: float


def weights_of(levels: Sequence[Level], pooling: Pooling) -> Floats:
    """Of each level's estimate, 1 in all."""
    return shares_of([(level.reports, level.of.others) for level in levels], pooling)


def shares_of(told: Sequence[tuple[int, float]], pooling: Pooling) -> Floats:
    """Of so many reports each, and what the noise of one of them is at a value that nobody has."""
    raw = [reports / (1.0 if pooling == "shares" else noise) for reports, noise in told]
    return np.array(raw) / math.fsum(raw)


def pooled(levels: Sequence[Level], weights: Floats, slots: int = 1, empty: int | None = None) -> Estimate:
    """Frequencies among slots, of which each list has so many; `empty` is the place of the slot without a value."""
    frequencies = np.zeros(levels[0].frequencies.shape)
    for weight, level in zip(weights.tolist(), levels, strict=True):
        frequencies += weight * level.frequencies
    law = np.clip(frequencies, 0.0, 1.0 / slots)
    spread = law * (1.0 - 1.0 / slots)
    if empty is not None:
        law[empty] = min(max(float(frequencies[empty]), 0.0), 1.0)
        spread[empty] = law[empty] * (1.0 - law[empty])
    variances = np.zeros(law.shape)
    for weight, level in zip(weights.tolist(), levels, strict=True):
        of, n = level.of, level.reports
        noise = of.others + law * (of.own - of.others) + spread
        variances += weight * weight * (noise / n + of.kept * level.again / n / n)
    return Estimate(frequencies, variances)


def pooled_sum(levels: Sequence[Level], weights: Floats, coefficients: Floats, law: Floats, row: int = 0) -> Sum:
    """The sum of coefficients times frequencies, whose noise is that of people who follow `law`; `row` says which of
    the measured squares are those of these coefficients.
    """
    estimate = variance = 0.0
    for weight, level in zip(weights.tolist(), levels, strict=True):
        of, n = level.of, level.reports
        estimate += weight * math.fsum((coefficients * level.frequencies).tolist())
        noise = math.fsum((law * noise_of_sum(of, coefficients)).tolist())
        if level.squares is not None:
            told = math.fsum((coefficients**2 * level.frequencies).tolist())
            noise = max(noise, float(level.squares[row]) / n - told)
        repeated = of.kept * math.fsum((coefficients**2).tolist()) * level.again
        variance += weight * weight * (noise / n + repeated / n / n)
    return Sum(estimate, variance)


def noise_of_sum(of: Inverted, coefficients: Floats) -> Floats:
    """The variance of one report's sum, given each value; where entries hang together in a way that has to be measured,
    as if they did not.
    """
    squares, total = math.fsum((coefficients**2).tolist()), math.fsum(coefficients.tolist())
    if of.ties == NAMED:
        mean = of.low * total + of.span * coefficients
        named: Floats = (of.low * squares + of.span * coefficients**2 - mean**2) / of.span**2
        return np.maximum(named, 0.0)
    if of.ties == SET:
        return _noise_of_sets(of, coefficients, squares, total)
    apart: Floats = squares * of.others + coefficients**2 * (of.own - of.others)
    return apart


def _noise_of_sets(of: Inverted, coefficients: Floats, squares: float, total: float) -> Floats:
    """The own value is in the set with chance p; the others are drawn from all others without putting them back."""
    others, p = of.cells - 1, of.low + of.span
    mean = (total - coefficients) / others
    scatter = np.maximum((squares - coefficients**2) / others - mean**2, 0.0)
    drawn = math.fsum(
        chance * many * (others - many) / max(others - 1, 1) for chance, many in ((p, of.size - 1), (1.0 - p, of.size))
    )
    found: Floats = (drawn * scatter + p * (1.0 - p) * (coefficients - mean) ** 2) / of.span**2
    return found


def levels_apart(levels: Sequence[Level]) -> float | None:
    """How likely levels are at least as far from the first as they are, if all are about the same people: a bound.

    The largest distance of a value in standard errors, with its chance taken as often as there are distances.
    """
    if len(levels) < 2:
        return None
    first, *others = levels
    law = np.clip(first.frequencies, 0.0, 1.0)
    largest = 0.0
    for level in others:
        noises = [(each.of.others + law * (each.of.own - each.of.others)) / each.reports for each in (first, level)]
        scores = np.abs(first.frequencies - level.frequencies) / np.sqrt(noises[0] + noises[1])
        largest = max(largest, float(scores.max()))
    return min(1.0, law.size * len(others) * math.erfc(largest / math.sqrt(2.0)))
