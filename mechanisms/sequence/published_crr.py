"""The correlated randomised response as its paper prints it, with its true two-sided leak. Proof: published_crr.md.

K is the identity and p the belief: x is released with probability c, otherwise a draw from the belief. The lower side
is epsilon; the upper side is log(e + c / belief(x)), above epsilon as soon as a belief is below 1 / (exp(epsilon) + 1),
and infinite for a value the model calls impossible. It is here for figures and comparison and is charged what it really
leaks.
"""

from __future__ import annotations

from math import inf

from beliefs.native import kernel
from mechanisms.contract import TOTAL, Constant, Floats, Workspace, outward
from mechanisms.sequence.forecast import draw_from_belief

HOLDS_EPSILON = False

LOWER = int(Constant.LOWER)
REVEAL = int(Constant.REVEAL)
COUNT, REST = 0, 1


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    symbols = belief.shape[0]
    for i in range(work.size[COUNT]):
        work.position[work.head[i]] = -1
    rest = TOTAL
    for x in range(symbols):
        work.head[x] = x
        # Rounded up, so that no base is below e belief(x): the lower side then never exceeds epsilon.
        work.base[x] = int(constants[LOWER] * belief[x] * TOTAL) + 1 if belief[x] > 0.0 else 0
        rest -= work.base[x]
    work.size[COUNT] = symbols
    work.size[REST] = rest
    if rest <= 0 or constants[REVEAL] == 0.0:  # epsilon is 0, or too small for one unit
        work.size[REST] = 0
        draw_from_belief(belief, work)
        return 1.0, 1.0, 1.0
    upper, lower, spread = 1.0, 1.0, 1.0
    for i in range(symbols):
        one, two, three = _ratios(i, belief, work)
        upper, lower, spread = max(upper, one), max(lower, two), max(spread, three)
    return upper, lower, spread


@kernel
def _ratios(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    symbols = belief.shape[0]
    base, rest = work.base[i], work.size[REST]
    if symbols == 1 or rest == 0:
        return 1.0, 1.0, 1.0
    if base == 0:
        return inf, inf, inf
    marginal = base + belief[i] * rest
    guard = outward(symbols)
    return (base + rest) / marginal * guard, marginal / base * guard, (base + rest) / base * guard


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    for i in range(work.size[COUNT]):
        work.row[i] = work.base[i]
    work.row[x] += work.size[REST]


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    for x in range(belief.shape[0]):
        work.likelihood[x] = float(work.base[i])
    work.likelihood[work.head[i]] = float(work.base[i] + work.size[REST])
    return _ratios(i, belief, work)
