"""Randomised response on a set of symbols in whole units: what the locally private mechanisms share. Proof:
randomised_response.md.

A symbol of the set keeps itself with HIGH units and becomes each other one of the set with LOW; whatever is outside is
released as one of the set, all alike. Only two numbers are kept, so a channel over n symbols costs no table:

    LOW = floor(TOTAL / (E + k - 1)) + 1,    HIGH = TOTAL - (k - 1) LOW,    outside: TOTAL / k, the first units more.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import TOTAL, Floats, Workspace, outward

# Places in work.size. HIGH is 0 where all rows are alike. work.base holds the row of whatever is outside.
COUNT, LOW, HIGH = 0, 1, 2
# work.scratch[0] is the mass outside.


@kernel
def clear(work: Workspace) -> None:
    for i in range(work.size[COUNT]):
        work.position[work.head[i]] = -1
    work.size[COUNT] = 0


@kernel
def admit(x: int, work: Workspace) -> None:
    place = work.size[COUNT]
    work.head[place] = x
    work.position[x] = place
    work.size[COUNT] = place + 1


@kernel
def respond(belief: Floats, bound: float, work: Workspace) -> tuple[float, float, float]:
    """Build the channel on the symbols that were admitted, with rows that differ by at most `bound`."""
    count = work.size[COUNT]
    for i in range(count):
        work.base[i] = TOTAL // count + (1 if i < TOTAL % count else 0)
    low = int(TOTAL / (bound + (count - 1.0))) + 1
    # A bound of 1 allows no difference, not even that of rounding. With k units between them, every entry of the row
    # outside lies between LOW and HIGH.
    if bound <= 1.0 or count == 1 or TOTAL - count * low < count:
        work.size[HIGH] = 0
        return 1.0, 1.0, 1.0
    work.size[LOW] = low
    work.size[HIGH] = TOTAL - (count - 1) * low
    outside = 0.0
    for x in range(belief.shape[0]):
        if work.position[x] < 0:
            outside += belief[x]
    work.scratch[0] = outside
    upper, lower, spread = 1.0, 1.0, 1.0
    for i in range(count):
        one, two, three = _ratios(i, belief, work)
        upper, lower, spread = max(upper, one), max(lower, two), max(spread, three)
    return upper, lower, spread


@kernel
def _ratios(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    low, high = work.size[LOW], work.size[HIGH]
    if high == 0:
        return 1.0, 1.0, 1.0
    marginal = low + belief[work.head[i]] * (high - low) + work.scratch[0] * (work.base[i] - low)
    guard = outward(belief.shape[0])
    return high / marginal * guard, marginal / low * guard, high / low * guard


@kernel
def respond_row(x: int, work: Workspace) -> None:
    place = work.position[x]
    if work.size[HIGH] == 0 or place < 0:
        for i in range(work.size[COUNT]):
            work.row[i] = work.base[i]
    else:
        for i in range(work.size[COUNT]):
            work.row[i] = work.size[LOW]
        work.row[place] = work.size[HIGH]


@kernel
def respond_column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    alike = work.size[HIGH] == 0
    outside, low = float(work.base[i]), float(work.size[LOW])
    for x in range(belief.shape[0]):
        work.likelihood[x] = outside if alike or work.position[x] < 0 else low
    if not alike:
        work.likelihood[work.head[i]] = float(work.size[HIGH])
    return _ratios(i, belief, work)
