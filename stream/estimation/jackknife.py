"""How far an estimate may be off, from the estimates without each group of users in turn. Why: channel.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from statistics import NormalDist
from typing import Final

import numpy as np

from stream.audit.amounts import Floats

GROUPS: Final = 32
CHAIN_GROUPS: Final = 8
"""A chain is learnt anew without each of its groups, so it has fewer; eight of them make one of these."""
LEAST_GROUPS: Final = 6
"""With fewer the quantile below is off by more than a tenth, and so is nearly every interval."""


def group_of(key: bytes) -> int:
    """A user's group, the same for ever, and for nobody's choosing but by other keys."""
    return blake2b(key, digest_size=1).digest()[0] % GROUPS


def spread_without(left_out: Sequence[Floats]) -> Floats | None:
    """The variance of an estimate, from those without each group; None where there are too few groups."""
    count = len(left_out)
    if count < LEAST_GROUPS:
        return None
    several = np.array(left_out)
    found: Floats = (count - 1) / count * ((several - several.mean(axis=0)) ** 2).sum(axis=0)
    return found


def reach_of(confidence: float, groups: int) -> float:
    """Student's quantile with one degree of freedom less than groups: how many standard errors an interval reaches.

    By the first four terms of its expansion in 1/freedom (Fisher and Cornish), right to a hundredth from 5 on.
    """
    z, freedom = NormalDist().inv_cdf(0.5 + confidence / 2.0), groups - 1
    terms = (
        z,
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))
