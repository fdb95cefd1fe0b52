"""Every mechanism that a configuration may name: one line in the table, one line in each of the three dispatchers.

The dispatchers are compiled, so that a block of events runs through one native loop whichever mechanism it uses.
"""

from __future__ import annotations

from typing import NamedTuple

from beliefs.native import kernel
from mechanisms.contract import Floats, Workspace
from mechanisms.sequence import forecast, marginal_preserving, near, optimal, published_crr


class Mechanism(NamedTuple):
    code: int
    module: str
    holds_epsilon: bool  # False: the true leak may exceed epsilon; it is charged in full all the same


MECHANISMS: dict[str, Mechanism] = {
    "optimal": Mechanism(0, "mechanisms.sequence.optimal", optimal.HOLDS_EPSILON),
    "marginal_preserving": Mechanism(1, "mechanisms.sequence.marginal_preserving", marginal_preserving.HOLDS_EPSILON),
    "published_crr": Mechanism(2, "mechanisms.sequence.published_crr", published_crr.HOLDS_EPSILON),
    "forecast": Mechanism(3, "mechanisms.sequence.forecast", forecast.HOLDS_EPSILON),
    "near": Mechanism(4, "mechanisms.sequence.near", near.HOLDS_EPSILON),
}


@kernel
def prepare(code: int, belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    if code == 0:
        return optimal.prepare(belief, constants, work)
    if code == 1:
        return marginal_preserving.prepare(belief, constants, work)
    if code == 2:
        return published_crr.prepare(belief, constants, work)
    if code == 4:
        return near.prepare(belief, constants, work)
    return forecast.prepare(belief, constants, work)


@kernel
def row(code: int, x: int, belief: Floats, work: Workspace) -> None:
    if code == 0:
        optimal.row(x, belief, work)
    elif code == 1:
        marginal_preserving.row(x, belief, work)
    elif code == 2:
        published_crr.row(x, belief, work)
    elif code == 4:
        near.row(x, belief, work)
    else:
        forecast.row(x, belief, work)


@kernel
def column(code: int, i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    if code == 0:
        return optimal.column(i, belief, work)
    if code == 1:
        return marginal_preserving.column(i, belief, work)
    if code == 2:
        return published_crr.column(i, belief, work)
    if code == 4:
        return near.column(i, belief, work)
    return forecast.column(i, belief, work)
