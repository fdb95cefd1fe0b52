"""Randomised response on the whole alphabet: epsilon-locally private, with no use for a belief. Proof:
randomised_response.md.
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
        admit(x, work)
    return respond(belief, constants[UPPER], work)


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    respond_row(x, work)


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    return respond_column(i, belief, work)
