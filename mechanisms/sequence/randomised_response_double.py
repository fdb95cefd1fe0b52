"""Randomised response at twice epsilon, for comparison: what is allowed for any belief, not what one release promises.
Proof: randomised_response_double.md.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, Workspace
from mechanisms.sequence.response import admit, clear, respond, respond_column, respond_row

HOLDS_EPSILON = False
ROW_EPSILONS = 2.0

UPPER = int(Constant.UPPER)


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    clear(work)
    for x in range(belief.shape[0]):
        admit(x, work)
    return respond(belief, constants[UPPER] * constants[UPPER], work)


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    respond_row(x, work)


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    return respond_column(i, belief, work)
