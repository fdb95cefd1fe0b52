"""Randomised response on the values that the releases so far leave possible. Proof: temporal_ldp.md.

The set is the support of the belief, which is computed from releases and never from past values. A value outside it is
released as one of the set, all alike.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, Workspace
from mechanisms.sequence.response import admit, clear, respond, respond_column, respond_row

HOLDS_EPSILON = True
ROW_EPSILONS = 1.0

UPPER = int(Constant.UPPER)


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    clear(work)
    for x in range(belief.shape[0]):
        if belief[x] > 0.0:
            admit(x, work)
    return respond(belief, constants[UPPER], work)


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    respond_row(x, work)


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    return respond_column(i, belief, work)
