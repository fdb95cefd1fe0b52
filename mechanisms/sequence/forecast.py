"""Epsilon 0: a release that is a function of the belief alone. Proof: forecast.md beside this file.

`work.size[DRAW]` chooses between the most likely value (0) and a draw from the belief (1). Every row is the same, so
all ratios are exactly 1 and nothing is learnt.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import TOTAL, Floats, Workspace

HOLDS_EPSILON = True

# Places in work.size. DRAW belongs to the caller, who sets it once; no mechanism writes it.
COUNT, DRAW = 0, 15


@kernel
def most_likely(belief: Floats) -> int:
    """Equal beliefs by index, so that all replicas agree."""
    most = 0
    for x in range(1, belief.shape[0]):
        if belief[x] > belief[most]:
            most = x
    return most


@kernel
def draw_from_belief(belief: Floats, work: Workspace) -> None:
    """One row for every x: the belief in whole units, rounded down; what is left over goes to the most likely symbol.

    Other mechanisms become this channel where their epsilon is too small for a single unit of anything else.
    """
    most = most_likely(belief)
    count = 0
    place = 0
    left = TOTAL
    for x in range(belief.shape[0]):
        # A belief's doubles may sum to a little more than 1, hence the cap.
        part = min(int(belief[x] * TOTAL), left)
        left -= part
        if x == most:
            place = count
        if part > 0 or x == most:
            work.head[count] = x
            work.base[count] = part
            count += 1
    work.base[place] += left
    work.size[COUNT] = count


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:  # noqa: ARG001 - the shape that all share
    for i in range(work.size[COUNT]):
        work.position[work.head[i]] = -1
    if work.size[DRAW] == 0:
        work.size[COUNT] = 1
        work.head[0] = most_likely(belief)
        work.base[0] = TOTAL
    else:
        draw_from_belief(belief, work)
    return 1.0, 1.0, 1.0


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    for i in range(work.size[COUNT]):
        work.row[i] = work.base[i]


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    for x in range(belief.shape[0]):
        work.likelihood[x] = float(work.base[i])
    return 1.0, 1.0, 1.0
