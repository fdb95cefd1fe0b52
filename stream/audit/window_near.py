"""Which value is expected to be nearest to the true one, worked out a second time.

The values are divided into as many lots as there may be. For each lot's deputy the errors of all lots are added up,
each times the lot's weight; the least sum wins, and then the least of its lot's values, the first of equals both times.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import Floats
from stream.audit.lots import LOTS, PORTION, Nearby, divide, error_of


@kernel
def nearest(law: Floats, near: Nearby) -> int:
    near.figures[PORTION] = 0
    divide(law, near)
    chosen = 0
    for lot in range(1, near.figures[LOTS]):
        if _errors(near.deputy[lot], near) < _errors(near.deputy[chosen], near):
            chosen = lot
    best = near.deputy[chosen]
    for i in range(near.first[chosen], near.first[chosen] + near.size[chosen]):
        if _errors(near.members[i], near) < _errors(best, near):
            best = near.members[i]
    return int(best)


@kernel
def _errors(value: int, near: Nearby) -> int:
    total: int = 0
    for lot in range(near.figures[LOTS]):
        total += near.weight[lot] * error_of(lot, value, near)
    return total
