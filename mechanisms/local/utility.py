"""How exact the frequencies are that come out of a local mechanism's reports: what one is chosen by."""

from __future__ import annotations

import math

from mechanisms.contract import Floats
from mechanisms.local.contract import Local


def noise_of(chosen: Local, law: Floats) -> float:
    """The sum of the variances of all values' frequencies, of one report; of n reports it is the n-th part.

    `law` is how the values are distributed; reports that depend on nothing leave infinite noise. What is estimated is
    the share among the people who reported: that they are a sample of others is not counted.
    """
    if chosen.level == 0.0:
        return math.inf
    counts = law if chosen.p is None or chosen.q is None else law * chosen.p + (1.0 - law) * chosen.q
    return math.fsum(chosen.estimate(counts, 1).variances.tolist())
