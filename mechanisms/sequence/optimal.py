"""The channel that keeps the most values unchanged under a two-sided bound, in closed form. Proof: optimal.md.

The channel is a(y|x) = e p(y) + c K(y|x). Released symbols ("taken", most likely first) keep themselves under K; at
most one more, z, is released rarely; one taken symbol may have to lend it some mass ("donor"); every other symbol,
impossible ones included, shares one row ("tail"). So a channel over n symbols is O(released symbols) integers:

    taken x:  base + rest at x            donor x:  base + (rest - lent) at x + lent at z
    z:        base + extra                others:   base + tail             rest = TOTAL - sum of base
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import TOTAL, Constant, Floats, Integers, Workspace, outward
from mechanisms.sequence.tournament import build, take_out

LOWER, REVEAL, UPPER, CAP, FLOOR, PAD = (int(place) for place in Constant)

# Places in work.size.
COUNT, TAKEN, DONOR, REST, LENT, TAIL_EXISTS = 0, 1, 2, 3, 4, 5
# work.scratch holds the marginals p(y), work.share the part of them that y's own mass does not bring.
HOLDS_EPSILON = True

PRUNE = 1.1641532182693481e-10
"""2^-33: a symbol that could be released only this rarely is not released. It costs at most 2^-33 of accuracy, and what
is left over after such a subtraction still has digits that mean something."""


@kernel
def _take(belief: Floats, constants: Floats, work: Workspace) -> int:
    """Step 1: take symbols while there is room for their whole marginal max(b, p*) and they beat the most likely one.

    Returns the next symbol, which was not taken, or -1. The slack keeps rounding in `room` from taking a symbol that
    does not fit; a symbol left out by it is released as z with the same marginal, so nothing jumps.
    """
    strength, winners = work.likelihood, work.order
    final = build(belief, strength, winners)
    lower, reveal, cap, floor = constants[LOWER], constants[REVEAL], constants[CAP], constants[FLOOR]
    most = belief[winners[final]]
    room = 1.0
    taken = 0
    any_left = True
    while any_left:
        x = winners[final]
        marginal = max(belief[x], floor)
        gain = reveal * min(1.0, cap * belief[x]) + lower * belief[x]
        if room - marginal < (taken + 4) * 2.220446049250313e-16 and taken > 0:
            break
        if gain <= lower * most:
            break
        work.head[taken] = x
        work.position[x] = taken
        work.scratch[taken] = marginal
        room -= marginal
        taken += 1
        any_left = take_out(strength, winners, x)
    work.size[TAKEN] = taken
    return winners[final] if any_left else -1


@kernel
def _rare_release(
    belief: Floats, constants: Floats, work: Workspace, z: int, left: float, others: float
) -> tuple[float, float, float, float]:
    """Step 2: how the mass `left` over goes to z, the next symbol: p(z), K(z|z), K(z|tail), K(z|donor), or all zero.

    `others` is the mass of what is neither taken nor z. Where all outsiders together have mass p*, they alone carry z;
    otherwise the last taken symbol lends `moved`, if that is worth more than giving everything to the most likely one.
    """
    lower, reveal, upper = constants[LOWER], constants[REVEAL], constants[UPPER]
    cap, floor = constants[CAP], constants[FLOOR]
    chance = belief[z]
    outside = chance + others
    most = lower * belief[work.head[0]]
    if left <= PRUNE or reveal * min(1.0, cap * chance) + lower * chance <= most:
        return 0.0, 0.0, 0.0, 0.0
    if outside >= floor:
        own = min(1.0, left * min(cap, 1.0 / chance))
        passing = 0.0
        if others > 0.0:
            passing = min(max((left - chance * own) / others, 0.0), own)
        return left, own, passing, 0.0
    donor = work.size[TAKEN] - 1
    lender = belief[work.head[donor]]
    kept = min(lender, floor)
    moved = left * (floor - outside) / (kept + outside - floor)
    loss = reveal * min(1.0, cap * lender) + lower * lender - upper * chance
    if upper * chance * left - moved * loss <= most * left:
        return 0.0, 0.0, 0.0, 0.0
    work.size[DONOR] = donor
    work.scratch[donor] -= moved
    work.share[donor] *= max(1.0 - cap * moved, 0.0)
    own = min(1.0, cap * (left + moved))
    return left + moved, own, own, min(moved * min(1.0, cap * lender) / lender, 1.0)


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    for i in range(work.size[COUNT]):
        work.position[work.head[i]] = -1
    z = _take(belief, constants, work)
    taken = work.size[TAKEN]
    symbols = belief.shape[0]
    deficits = 0.0
    for i in range(taken):
        work.share[i] = max(constants[FLOOR] - belief[work.head[i]], 0.0)
        deficits += work.share[i]
    others = 0.0
    for x in range(symbols):
        if work.position[x] < 0 and x != z:
            others += belief[x]
    outside = others + (belief[z] if z >= 0 else 0.0)
    left = max(outside - deficits, 0.0)  # 1 - (sum of p), without the cancellation
    work.size[DONOR] = -1
    rare, own, passing, lending = 0.0, 0.0, 0.0, 0.0
    if z >= 0:
        rare, own, passing, lending = _rare_release(belief, constants, work, z, left, others)
    count = taken
    if rare > 0.0:
        work.head[taken] = z
        work.position[z] = taken
        work.scratch[taken] = rare
        count += 1
    else:
        work.scratch[0] += left
        work.share[0] += left
    work.size[COUNT] = count
    work.size[TAIL_EXISTS] = 1 if symbols > count else 0
    if not _to_integers(constants, work, own, passing, lending):
        return _constant_channel(work)
    return _worst(belief, others if rare > 0.0 else outside, work)


@kernel
def _constant_channel(work: Workspace) -> tuple[float, float, float]:
    """Always the most likely symbol: what is left when epsilon is too small for one unit of anything else."""
    for i in range(1, work.size[COUNT]):
        work.position[work.head[i]] = -1
    work.size[COUNT] = 1
    work.size[TAKEN] = 1
    work.size[DONOR] = -1
    work.base[0] = TOTAL
    work.tail[0] = 0
    work.size[REST] = 0
    work.size[LENT] = 0
    return 1.0, 1.0, 1.0


@kernel
def _spread(rest: int, share: Floats, taken: int, row: Integers) -> None:
    """Split `rest` units over the taken symbols in proportion to `share`.

    The sum of the shares carries the rounding of `taken` additions: all of it at once would be too much for one symbol.
    So the divisor is never too small, and what the first round leaves, 2^-31 of it at most, is split like the whole.
    The last units, two for each symbol and one, go to the most likely one, whose cap M p(y) is at least 1.
    """
    total = 0.0
    for i in range(taken):
        total += share[i]
        row[i] = 0
    total *= outward(taken)
    left = rest
    if total > 0.0:
        for _ in range(2):
            divided = left
            for i in range(taken):
                part = int(divided * (share[i] / total))
                row[i] += part
                left -= part
    row[0] += left


@kernel
def _to_integers(constants: Floats, work: Workspace, own: float, passing: float, lending: float) -> bool:
    """The channel in units. False when the bases alone do not fit."""
    count, taken = work.size[COUNT], work.size[TAKEN]
    pad = constants[PAD]
    needed = 0.0
    for i in range(count):
        needed += constants[LOWER] * work.scratch[i] * TOTAL + pad + 1.0
    if not needed < TOTAL * (1.0 - 1.0e-12):
        return False
    rest = TOTAL
    for i in range(count):
        work.base[i] = int(constants[LOWER] * work.scratch[i] * TOTAL) + 1 + int(pad)
        rest -= work.base[i]
    work.size[REST] = rest
    work.size[LENT] = 0
    through_z, from_z = 0, 0
    if count > taken:
        through_z = min(int(rest * passing), rest)
        from_z = min(int(rest * own), rest)
        work.tail[taken] = through_z
        work.extra[taken] = from_z
        if work.size[DONOR] >= 0:
            work.size[LENT] = min(int(rest * lending), rest)
    _spread(rest - through_z, work.share, taken, work.tail)
    if count > taken:
        _spread(rest - from_z, work.share, taken, work.extra)
    return True


@kernel
def _marginal(i: int, belief: Floats, tail_mass: float, work: Workspace) -> float:
    """p(y) of the i-th released symbol in units, for the integers that are sampled; all terms are nonnegative."""
    count, taken = work.size[COUNT], work.size[TAKEN]
    rest, lent, donor = work.size[REST], work.size[LENT], work.size[DONOR]
    value: float = work.base[i] + tail_mass * work.tail[i]
    if count > taken:
        value += belief[work.head[taken]] * work.extra[i]
        if donor >= 0 and i == taken:
            value += belief[work.head[donor]] * lent
    if i < taken:
        value += belief[work.head[i]] * (rest - lent if i == donor else rest)
    return value


@kernel
def _extent(i: int, work: Workspace) -> tuple[int, int]:
    """The smallest and the largest a(y|x) over all x for the i-th released symbol, in units."""
    count, taken = work.size[COUNT], work.size[TAKEN]
    rest, lent, donor = work.size[REST], work.size[LENT], work.size[DONOR]
    base = work.base[i]
    smallest, largest = TOTAL, 0
    if i < taken:
        largest = base + (rest - lent if i == donor else rest)
        smallest = largest
    others = taken - (1 if i < taken else 0)
    if i == taken and donor >= 0:
        smallest, largest = min(smallest, base + lent), max(largest, base + lent)
        others -= 1
    if others > 0:
        smallest, largest = min(smallest, base), max(largest, base)
    if count > taken:
        smallest, largest = min(smallest, base + work.extra[i]), max(largest, base + work.extra[i])
    if work.size[TAIL_EXISTS] == 1:
        smallest, largest = min(smallest, base + work.tail[i]), max(largest, base + work.tail[i])
    return smallest, largest


@kernel
def _ratios(i: int, marginal: float, symbols: int, work: Workspace) -> tuple[float, float, float]:
    smallest, largest = _extent(i, work)
    if smallest == largest:
        return 1.0, 1.0, 1.0
    guard = outward(symbols)
    return largest / marginal * guard, marginal / smallest * guard, largest / smallest * guard


@kernel
def _worst(belief: Floats, tail_mass: float, work: Workspace) -> tuple[float, float, float]:
    upper, lower, spread = 1.0, 1.0, 1.0
    for i in range(work.size[COUNT]):
        marginal = _marginal(i, belief, tail_mass, work)
        work.scratch[i] = marginal
        one, two, three = _ratios(i, marginal, belief.shape[0], work)
        upper, lower, spread = max(upper, one), max(lower, two), max(spread, three)
    return upper, lower, spread


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    count, taken = work.size[COUNT], work.size[TAKEN]
    place = work.position[x]
    for i in range(count):
        work.row[i] = work.base[i]
    if 0 <= place < taken:
        work.row[place] += work.size[REST]
        if place == work.size[DONOR]:
            work.row[place] -= work.size[LENT]
            work.row[taken] += work.size[LENT]
    elif place == taken:
        for i in range(count):
            work.row[i] += work.extra[i]
    else:
        for i in range(count):
            work.row[i] += work.tail[i]


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    count, taken = work.size[COUNT], work.size[TAKEN]
    base = work.base[i]
    common = float(base + work.tail[i])
    for x in range(belief.shape[0]):
        work.likelihood[x] = common
    for place in range(taken):
        work.likelihood[work.head[place]] = float(base)
    donor = work.size[DONOR]
    if i < taken:
        work.likelihood[work.head[i]] = float(base + work.size[REST] - (work.size[LENT] if i == donor else 0))
    elif donor >= 0:
        work.likelihood[work.head[donor]] = float(base + work.size[LENT])
    if count > taken:
        work.likelihood[work.head[taken]] = float(base + work.extra[i])
    return _ratios(i, work.scratch[i], belief.shape[0], work)
