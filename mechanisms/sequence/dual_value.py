"""How much of a window `dual` keeps, and how much the best mechanism under the same bound may keep at most.

The second is a certificate: prices that are wrong make it larger, never smaller than the truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.checks import require
from beliefs.simplex import Vector
from mechanisms.contract import TOTAL, constants_of
from mechanisms.sequence import dual
from mechanisms.sequence.distortion_value import bound_at
from mechanisms.sequence.dual_prices import BEST, WORTH, DualRoom


class DualValue(NamedTuple):
    """Expected shares of a window's values that are shown as they are."""

    agreement: float
    most: float

    @property
    def gap(self) -> float:
        """At most by this share of the best is less kept than could be."""
        return (self.most - self.agreement) / self.most


def dual_value(law: Vector, units: int, epsilon: float, room: DualRoom) -> DualValue:
    """For sequences of this law: the channel is built for `units`, the best one may use all of epsilon."""
    require(units > 0, "an epsilon that is worth something")
    dual.prepare(law, np.array(constants_of(units)), room)
    agreement = 0.0
    for i in range(int(room.counts[dual.COUNT])):
        dual.column(i, law, room)
        right = 1.0 - room.wrong[room.head[i]] / room.length
        agreement += float((law * room.likelihood * right).sum()) / TOTAL
    # The prices are those of whole places; what is rounded off a place is so much less in all of them.
    prices = room.lists[BEST] / (WORTH // room.length * room.length)
    costs = room.wrong / room.length
    return DualValue(agreement, 1.0 - bound_at(law, costs, epsilon, prices))
