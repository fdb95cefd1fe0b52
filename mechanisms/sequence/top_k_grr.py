"""Randomised response on the likeliest symbols, as many as keep the most values unchanged. Proof: top_k_grr.md.

The set is found without sorting. With k symbols of mass B, E B/(E + k - 1) is kept; a symbol is worth taking exactly
when its belief is above the price B/(E - 1 + k) of a place. From the whole support on, each pass prices the set and
keeps what is above its price, until nothing leaves: the price only rises, and a handful of passes is enough.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, Workspace
from mechanisms.sequence.forecast import most_likely
from mechanisms.sequence.response import admit, clear, respond, respond_column, respond_row

HOLDS_EPSILON = True
ROW_EPSILONS = 1.0

UPPER = int(Constant.UPPER)


@kernel
def price_of_a_place(belief: Floats, bound: float) -> float:
    """The price at which the symbols above it are the best set; its order of operations decides the bits."""
    price, taken = 0.0, -1
    while True:
        mass, count = 0.0, 0
        for x in range(belief.shape[0]):
            if belief[x] > price:
                mass += belief[x]
                count += 1
        dearer = mass / ((bound - 1.0) + count)
        if count == taken or not dearer > price:
            return price
        price, taken = dearer, count


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    clear(work)
    price = price_of_a_place(belief, constants[UPPER])
    for x in range(belief.shape[0]):
        if belief[x] > price:
            admit(x, work)
    if work.size[0] == 0:  # equal beliefs where epsilon is too small to tell them apart: the first of them
        admit(most_likely(belief), work)
    return respond(belief, constants[UPPER], work)


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    respond_row(x, work)


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    return respond_column(i, belief, work)
