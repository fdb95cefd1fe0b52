"""The release of a window's values all at once, nearly the best there is. Proof and algorithm: dual.md.

The channel over the sequences is a(y|x) = s p(y) + (1 - s) K(y|x), K being made of the answers to prices that climb the
dual. What keeps the promise is not how it was found: the ratios of the very whole numbers that are sampled are looked
at, and a channel that told too much would make way for one that tells nothing.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import TOTAL, Constant, Floats, outward
from mechanisms.sequence.dual_prices import BLIND, MASS, DualRoom, climb

LOWER, UPPER, CAP = int(Constant.LOWER), int(Constant.UPPER), int(Constant.CAP)

# Places in `room.counts`, which the prices need no more: released sequences; and which of them takes what is left over.
COUNT, HEIR = 0, 1

GRAIN = 1 << 10
"""Above the bases, rows are whole numbers of these: less than 2^52 of them, which a double holds exactly."""
MARGIN = 2.0**-28
"""How far from the bound the channel is made, for what grains and roundings may lift a ratio."""
RAREST = 2.0**-20
"""A sequence that would be released less often is not released."""
CUTS = 12


@kernel
def prepare(belief: Floats, constants: Floats, room: DualRoom) -> tuple[float, float, float]:
    climb(belief, constants, room)
    _to_channel(belief, room)
    cap = constants[CAP] * (1.0 - MARGIN)
    for _ in range(CUTS):
        _leave_out_rare(room)
        _cut(belief, cap, room)
    _dilute(cap, room)
    if not _to_integers(constants[LOWER] * (1.0 + MARGIN), room) or not _is_worth_it(room):
        return _constant_channel(room)
    upper, lower, spread = _worst(belief, room)
    return (upper, lower, spread) if max(upper, lower) <= constants[UPPER] else _constant_channel(room)


@kernel
def _to_channel(belief: Floats, room: DualRoom) -> None:
    """Divide by the sums of the rows; a row without mass stays empty and will be filled with draws from the law."""
    channel, law, sums, count = room.channel, room.law, room.sums, belief.shape[0]
    sums[:] = 0.0
    for y in range(count):
        for x in range(count):
            sums[x] += channel[y, x]
    for y in range(count):
        room.head[y] = y
        law[y] = 0.0
        for x in range(count):
            if channel[y, x] > 0.0:
                channel[y, x] /= sums[x]
                law[y] += belief[x] * channel[y, x]
    room.counts[COUNT] = count


@kernel
def _leave_out_rare(room: DualRoom) -> None:
    """The laws of the others sum to 1 again."""
    law, kept, total = room.law, 0, 0.0
    for i in range(room.counts[COUNT]):
        y = room.head[i]
        if law[y] >= RAREST:
            room.head[kept] = y
            kept += 1
            total += law[y]
    room.counts[COUNT] = kept
    for i in range(kept):
        law[room.head[i]] /= total


@kernel
def _cut(belief: Floats, cap: float, room: DualRoom) -> None:
    """What exceeds the cap is cut off, and what a row lacks then is drawn from the law; the law moves a little."""
    channel, law, sums, count = room.channel, room.law, room.sums, belief.shape[0]
    sums[:] = 0.0
    for i in range(room.counts[COUNT]):
        y = room.head[i]
        most = cap * law[y]
        for x in range(count):
            channel[y, x] = min(channel[y, x], most)
            sums[x] += channel[y, x]
    for i in range(room.counts[COUNT]):
        y = room.head[i]
        before = law[y]
        law[y] = 0.0
        for x in range(count):
            channel[y, x] += max(1.0 - sums[x], 0.0) * before
            law[y] += belief[x] * channel[y, x]


@kernel
def _dilute(cap: float, room: DualRoom) -> None:
    """Mix the channel with its law until the largest ratio is the cap."""
    channel, law = room.channel, room.law
    worst = 1.0
    for i in range(room.counts[COUNT]):
        y = room.head[i]
        largest = 0.0
        for x in range(channel.shape[1]):
            largest = max(largest, channel[y, x])
        worst = max(worst, largest / law[y])
    if worst > cap:
        blind = (worst - cap) / (worst - 1.0)
        for i in range(room.counts[COUNT]):
            y = room.head[i]
            for x in range(channel.shape[1]):
                channel[y, x] = (1.0 - blind) * channel[y, x] + blind * law[y]


@kernel
def _to_integers(share: float, room: DualRoom) -> bool:
    """Bases, and above them rows in whole grains; what is left of a row goes to the likeliest sequence, the heir.

    False where epsilon is too small for anything above the bases.
    """
    channel, law, count = room.channel, room.law, room.counts[COUNT]
    heir, rest = 0, TOTAL
    if not share < 1.0:
        return False
    for i in range(count):
        if law[room.head[i]] > law[room.head[heir]]:
            heir = i
        room.base[i] = int(share * law[room.head[i]] * TOTAL) + 1
        rest -= room.base[i]
    grains = rest // GRAIN
    if grains <= 0:
        return False
    room.counts[HEIR] = heir
    room.base[heir] += rest - grains * GRAIN
    left = room.sums
    left[:] = float(grains)
    for i in range(count):
        if i != heir:
            y = room.head[i]
            for x in range(channel.shape[1]):
                channel[y, x] = min(float(int(channel[y, x] * grains)), left[x])
                left[x] -= channel[y, x]
    for x in range(channel.shape[1]):
        channel[room.head[heir], x] = left[x]
    return True


@kernel
def _is_worth_it(room: DualRoom) -> bool:
    """Whether it costs less than always releasing the same; masses in 2^-32, rows in 2^-26, so below 2^62."""
    lists, cost = room.lists, 0
    for i in range(room.counts[COUNT]):
        y = room.head[i]
        for x in range(lists.shape[1]):
            units = room.base[i] + int(room.channel[y, x]) * GRAIN
            cost += lists[MASS, x] * room.wrong[y, x] * (units >> 36)
    blind, y = 0, _blindest(room)
    for x in range(lists.shape[1]):
        blind += lists[MASS, x] * room.wrong[y, x]
    return cost < blind << 26


@kernel
def _blindest(room: DualRoom) -> int:
    """The sequence to release if one has to be released without a look; the first of equals."""
    best = 0
    for y in range(room.lists.shape[1]):
        if room.lists[BLIND, y] < room.lists[BLIND, best]:
            best = y
    return best


@kernel
def _constant_channel(room: DualRoom) -> tuple[float, float, float]:
    room.counts[COUNT] = 1
    room.head[0] = _blindest(room)
    room.base[0] = TOTAL
    room.channel[room.head[0], :] = 0.0
    return 1.0, 1.0, 1.0


@kernel
def _ratios(i: int, belief: Floats, room: DualRoom) -> tuple[float, float, float]:
    grains = room.channel[room.head[i]]
    smallest, largest, mean = grains[0], grains[0], 0.0
    for x in range(belief.shape[0]):
        smallest, largest = min(smallest, grains[x]), max(largest, grains[x])
        mean += belief[x] * grains[x]
    if smallest == largest:
        return 1.0, 1.0, 1.0
    least, most = room.base[i] + int(smallest) * GRAIN, room.base[i] + int(largest) * GRAIN
    marginal, guard = room.base[i] + mean * GRAIN, outward(belief.shape[0])
    return most / marginal * guard, marginal / least * guard, most / least * guard


@kernel
def _worst(belief: Floats, room: DualRoom) -> tuple[float, float, float]:
    upper, lower, spread = 1.0, 1.0, 1.0
    for i in range(room.counts[COUNT]):
        one, two, three = _ratios(i, belief, room)
        upper, lower, spread = max(upper, one), max(lower, two), max(spread, three)
    return upper, lower, spread


@kernel
def row(x: int, room: DualRoom) -> None:
    """The whole numbers of a sequence's row into `room.row`, one for each that is released; their sum is TOTAL."""
    for i in range(room.counts[COUNT]):
        room.row[i] = room.base[i] + int(room.channel[room.head[i], x]) * GRAIN


@kernel
def column(i: int, belief: Floats, room: DualRoom) -> tuple[float, float, float]:
    """a(y|x) of the i-th released y for every x into `room.likelihood`; the ratios of this release."""
    for x in range(belief.shape[0]):
        room.likelihood[x] = float(room.base[i] + int(room.channel[room.head[i], x]) * GRAIN)
    return _ratios(i, belief, room)
