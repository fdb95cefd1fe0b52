"""Frequencies of values from counts of support, without bias, and how far they may be off. Proof: estimate.md."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from mechanisms.contract import Floats


class Estimate(NamedTuple):
    """Of each value; frequencies may be below 0 or above 1, because whatever is cut off becomes bias."""

    frequencies: Floats
    variances: Floats

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Normal intervals around each frequency, of that confidence for each value by itself."""
        if not 0.0 < confidence < 1.0:
            raise Invalid("confidence", "must be above 0 and below 1")
        reach = NormalDist().inv_cdf(0.5 + confidence / 2.0) * np.sqrt(self.variances)
        return self.frequencies - reach, self.frequencies + reach


def from_support(counts: Floats, reports: int, p: float, q: float) -> Estimate:
    """`counts[v]` of the reports support v: the value's own with chance p, each other one with chance q."""
    if p == q:
        raise Invalid("epsilon", "is 0: reports do not depend on values, so nothing can be estimated")
    frequencies = (counts / reports - q) / (p - q)
    clipped = np.clip(frequencies, 0.0, 1.0)
    apart = reports * (p - q)
    return Estimate(frequencies, q * (1.0 - q) / (apart * (p - q)) + clipped * (1.0 - p - q) / apart)


def squared_error(frequencies: Floats, truth: Floats) -> float:
    """The sum of squared errors, relative to the sum of the squared true frequencies."""
    return math.fsum(((frequencies - truth) ** 2).tolist()) / math.fsum((truth**2).tolist())
