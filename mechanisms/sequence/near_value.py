"""What an error costs on average under `near`, and what it costs at least under any mechanism with the same bound.

The second is a certificate: prices that are wrong make it smaller, never larger than the truth.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from beliefs.checks import require
from beliefs.distance import Distance, cost
from beliefs.simplex import Vector
from mechanisms.contract import TOTAL, constants_of, new_near_workspace
from mechanisms.sequence import near
from mechanisms.sequence.distortion_value import distortion_value

SYMBOLS_MAX: Final = 128
"""Beyond, the certificate takes more than some seconds."""


class NearValue(NamedTuple):
    """Expected costs, in the distance's own measure."""

    cost: float
    least: float

    @property
    def gap(self) -> float:
        """At most by this share of the least is the cost above it."""
        if self.least > 0.0:
            return self.cost / self.least - 1.0
        return 0.0 if self.cost == 0.0 else np.inf


def near_value(belief: Vector, distance: Distance, units: int, epsilon: float) -> NearValue:
    """For one release under this belief: the channel is built for `units`, the best one may use all of epsilon."""
    require(units > 0, "an epsilon that is worth something")
    size = belief.shape[0]
    costs = np.array([[cost(distance, x, y) for y in range(size)] for x in range(size)]) * distance.unit
    law, work = belief / belief.sum(), new_near_workspace(size, distance)
    near.prepare(law, np.array(constants_of(units)), work)
    mean = 0.0
    for x in np.flatnonzero(law).tolist():
        near.row(x, law, work)
        count = int(work.size[near.COUNT])
        mean += float(law[x] * (work.row[:count] / TOTAL * costs[x, work.head[:count]]).sum())
    return NearValue(mean, distortion_value(law, costs, epsilon).lower_bound)
