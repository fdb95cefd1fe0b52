"""The channel of one position of a window: the optimal one; or, where a workspace has a distance, the one that is near.

Both are given the floor 0 and the ceiling that is left, and both keep it: window.md.
"""

from __future__ import annotations

import numpy as np

from beliefs.distance import EQUAL
from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, NearWorkspace, Workspace, nearby_of
from mechanisms.sequence import near, optimal
from mechanisms.sequence.cells import cheapest_for_all, lay_out_all
from mechanisms.sequence.forecast import most_likely

LOWER, REVEAL, UPPER, CAP, FLOOR, PAD = (int(place) for place in Constant)


@kernel
def describe(cap: float, value: int, belief: Floats, constants: Floats, work: Workspace) -> None:
    """The channel of this ceiling, and the value's row of it."""
    constants[LOWER], constants[REVEAL] = 0.0, 1.0
    constants[UPPER], constants[CAP], constants[FLOOR] = cap, cap, 1.0 / cap
    constants[PAD] = np.ceil((2.0 * cap + 1.0) / (cap - 1.0)) + 1.0
    _describe(nearby_of(work), value, belief, constants, work)


@kernel
def column(chosen: int, belief: Floats, work: Workspace) -> None:
    """How likely each value gives what was chosen, into `work.likelihood`."""
    _column(nearby_of(work), chosen, belief, work)


@kernel
def best_to_show(law: Floats, work: Workspace) -> int:
    """The likeliest value; where there is a distance, the one that is expected to be nearest to the true one."""
    return _best_to_show(nearby_of(work), law)


# Where the first argument is known to be None, what it leads to is not compiled at all.


@kernel
def _describe(nearby: NearWorkspace | None, value: int, belief: Floats, constants: Floats, work: Workspace) -> None:
    if nearby is not None:
        near.prepare(belief, constants, nearby)
        near.row(value, belief, nearby)
    else:
        optimal.prepare(belief, constants, work)
        optimal.row(value, belief, work)


@kernel
def _column(nearby: NearWorkspace | None, chosen: int, belief: Floats, work: Workspace) -> None:
    if nearby is not None:
        near.column(chosen, belief, nearby)
    else:
        optimal.column(chosen, belief, work)


@kernel
def _best_to_show(nearby: NearWorkspace | None, law: Floats) -> int:
    if nearby is not None:
        return _nearest(law, nearby)
    return most_likely(law)


@kernel
def _nearest(law: Floats, work: NearWorkspace) -> int:
    if work.distance.kind == EQUAL:
        return most_likely(law)
    lay_out_all(law, work)
    return cheapest_for_all(work)
