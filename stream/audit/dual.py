"""The channel over the sequences of a window, worked out a second time: from the climbed prices to the whole numbers of
each column. `dual.md` says what is worked out; it lies here sequence by sequence, not release by release.

    climb -> shares of each row -> cut to the cap, again and again -> dilute -> whole numbers, or always the same
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import CAP, CEILING, COVERED, WHOLE, Floats, roundings
from stream.audit.dual_prices import BLIND, HELD, Slate, climb

GRAIN = 2**10
LEAN = 2.0**-28
TOO_RARE = 2.0**-20
CUTS = 12


@kernel
def work_out(law: Floats, numbers: Floats, length: int, slate: Slate) -> tuple[float, float, float]:
    """The channel of this law; its worst ratios. `slate.law[y]` is 0 for what is never released."""
    count = law.shape[0]
    climb(law, numbers, length, slate)
    for y in range(count):
        slate.law[y] = 0.0
    for x in range(count):
        _share(slate.share[x * count : (x + 1) * count], law[x], slate)
    top = numbers[CAP] * (1.0 - LEAN)
    for _ in range(CUTS):
        _drop_rare(count, slate)
        _cut(law, top, slate)
    _dilute(count, top, slate)
    if _round_off(count, numbers[COVERED] * (1.0 + LEAN), slate) and _saves(count, slate):
        worst = 1.0, 1.0, 1.0
        for y in range(count):
            if slate.law[y] > 0.0:
                above, below, across = rate(y, law, slate)
                worst = max(worst[0], above), max(worst[1], below), max(worst[2], across)
        if worst[0] <= numbers[CEILING] and worst[1] <= numbers[CEILING]:
            return worst
    _always_the_same(count, slate)
    return 1.0, 1.0, 1.0


@kernel
def _share(row: Floats, mass: float, slate: Slate) -> None:
    """One row's shares of what was taken for it; a row for which nothing was taken stays empty."""
    total = 0.0
    for y in range(row.shape[0]):
        total += row[y]
    for y in range(row.shape[0]):
        if row[y] > 0.0:
            row[y] /= total
            slate.law[y] += mass * row[y]


@kernel
def _drop_rare(count: int, slate: Slate) -> None:
    total = 0.0
    for y in range(count):
        if slate.law[y] < TOO_RARE:
            slate.law[y] = 0.0
        else:
            total += slate.law[y]
    for y in range(count):
        slate.law[y] /= total


@kernel
def _cut(law: Floats, top: float, slate: Slate) -> None:
    """Row by row: nothing above `top` times the law, and what a row lacks then is drawn from the law."""
    count, before = law.shape[0], slate.before
    for y in range(count):
        before[y] = slate.law[y]
        slate.law[y] = 0.0
    for x in range(count):
        row, total = slate.share[x * count : (x + 1) * count], 0.0
        for y in range(count):
            row[y] = min(row[y], top * before[y])
            total += row[y]
        for y in range(count):
            row[y] += max(1.0 - total, 0.0) * before[y]
            slate.law[y] += law[x] * row[y]


@kernel
def _dilute(count: int, top: float, slate: Slate) -> None:
    most = 1.0
    for x in range(count):
        for y in range(count):
            if slate.law[y] > 0.0:
                most = max(most, slate.share[x * count + y] / slate.law[y])
    if most > top:
        drawn = (most - top) / (most - 1.0)
        for x in range(count):
            for y in range(count):
                place = x * count + y
                slate.share[place] = (1.0 - drawn) * slate.share[place] + drawn * slate.law[y]


@kernel
def _round_off(count: int, covered: float, slate: Slate) -> bool:
    """From here on `share` holds grains above the bases; False where there is no room for any."""
    if not covered < 1.0:
        return False
    heir, rest = 0, WHOLE
    for y in range(count):
        if slate.law[y] > slate.law[heir]:
            heir = y
    for y in range(count):
        slate.base[y] = int(covered * slate.law[y] * WHOLE) + 1 if slate.law[y] > 0.0 else 0
        rest -= slate.base[y]
    grains = rest // GRAIN
    if grains <= 0:
        return False
    slate.base[heir] += rest - grains * GRAIN
    for x in range(count):
        left = grains
        for y in range(count):
            if y != heir and slate.law[y] > 0.0:
                part = min(int(slate.share[x * count + y] * grains), left)
                slate.share[x * count + y] = part
                left -= part
        slate.share[x * count + heir] = left
    return True


@kernel
def units(x: int, y: int, count: int, slate: Slate) -> int:
    """The whole number of a row: y for x."""
    return int(slate.base[y] + int(slate.share[x * count + y]) * GRAIN)


@kernel
def _saves(count: int, slate: Slate) -> bool:
    """Whether it errs less than always releasing the same does."""
    least = _least_blind(count, slate)
    errs = same = 0
    for x in range(count):
        mass = slate.whole[HELD, x]
        same += mass * slate.wrong[x, least]
        for y in range(count):
            if slate.law[y] > 0.0:
                errs += mass * slate.wrong[x, y] * (units(x, y, count, slate) >> 36)
    return errs < same * 2**26


@kernel
def _least_blind(count: int, slate: Slate) -> int:
    least = 0
    for y in range(count):
        if slate.whole[BLIND, y] < slate.whole[BLIND, least]:
            least = y
    return least


@kernel
def _always_the_same(count: int, slate: Slate) -> None:
    same = _least_blind(count, slate)
    for y in range(count):
        slate.law[y] = 1.0 if y == same else 0.0
        slate.base[y] = WHOLE if y == same else 0
    for x in range(count):
        slate.share[x * count + same] = 0.0


@kernel
def rate(y: int, law: Floats, slate: Slate) -> tuple[float, float, float]:
    """What y tells: the largest of a/p, p/a and a/a over all rows, raised against rounding; and its column."""
    count = law.shape[0]
    low = high = slate.share[y]
    mean = 0.0
    for x in range(count):
        grains = slate.share[x * count + y]
        low, high = min(low, grains), max(high, grains)
        mean += law[x] * grains
        slate.column[x] = float(units(x, y, count, slate))
    if low == high:
        return 1.0, 1.0, 1.0
    least, most = slate.base[y] + int(low) * GRAIN, slate.base[y] + int(high) * GRAIN
    probability, raised = slate.base[y] + mean * GRAIN, roundings(count)
    return most / probability * raised, probability / least * raised, most / least * raised
