"""A window's arithmetic, worked out a second time: what its channels say about each of its values.

A coin with the share e = exp(-epsilon) decides in secret whether the channels see the user's values or a stranger's. In
the world where they see the user's own, what a channel gave is evidence: a factor K(o|x)/p(o) for each value x of its
position, and for all states that end with it. The law of a position's state is then what comes forth from the positions
before it, times what comes back from those behind it. Both are kept for all positions, and after each factor all that
it changes is worked out anew.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from beliefs.native import kernel
from stream.audit import near, optimal
from stream.audit.amounts import (
    CAP,
    CEILING,
    COVERED,
    DRIFT_UNKNOWN,
    FULL,
    LEVELS,
    PAD,
    REVEALED,
    WHOLE,
    Floats,
    Integers,
    built_for,
    exponential,
    log_units,
)
from stream.audit.book import Desk
from stream.audit.channel import COLUMN, PLACE
from stream.audit.law import Law, by_value, share_out
from stream.audit.window_book import DRAWN, FIRST_CAP, LEAN, LONGEST, SHARE, Cut, Strip, Windows
from stream.audit.window_near import nearest
from stream.audit.window_steps import go_back, go_on, go_on_blindly

LEAST_CAP = 1.0 + 2.0**-20
_OUTWARD = 1.0 + 2.0**-50


def windows_of(
    cut: Cut, law: Law, epsilon: int, shift: int = 0, most_steps: int = 1, *, with_distance: bool = False
) -> Windows:
    """From the public settings and model; epsilon and the shift in units, and the most steps between two values."""
    states = law.start.shape[0]
    ends = np.repeat(np.arange(states), np.diff(law.first))
    by_row = np.argsort(law.before, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(law.before, minlength=states))]).astype(np.int64)
    units = np.array([built_for(epsilon, level, shift) for level in range(LEVELS)], dtype=np.int64)
    lengths = [LONGEST] if cut.natural else list(range(1, cut.events + 1))
    plans = np.zeros((LEVELS, LONGEST + 1, 3))
    for level, amount in enumerate(units.tolist()):
        if amount > 0:
            plans[level, lengths] = _plans_of(amount, lengths, states, most_steps)
    orders = np.zeros((LONGEST + 1, LONGEST), dtype=np.int64)
    for length in lengths:
        orders[length, :length] = order_of(length)
    return Windows(cut, law, first, ends[by_row], law.chance[by_row], units, plans, orders, with_distance)


def _plans_of(units: int, lengths: list[int], states: int, most_steps: int) -> list[tuple[float, float, float]]:
    """The coin's share in whole units of 2^-62, rounded up, and the cap 1 + e^epsilon; both lean to the safe side."""
    cap = 1.0 + float(exponential(units))
    share = WHOLE / exponential(units)
    plans = []
    for length in lengths:
        worn = max(1.0, length * most_steps / 16.0)
        lean = length * ((states + 32) * 2.0**-48 * worn + cap * states * 2.0**-60)
        covered = min(math.ceil(share * (1 + Fraction(lean))), WHOLE)
        plans.append((covered / WHOLE, cap * (1.0 - lean), lean))
    return plans


def order_of(length: int) -> list[int]:
    """Which position comes when: always the middle of the longest run of those that are left, the first of equals."""
    left, order = [True] * length, []
    for _ in range(length):
        longest = start = run = 0
        for place in range(length):
            run = run + 1 if left[place] else 0
            if run > longest:
                longest, start = run, place - run + 1
        order.append(start + (longest - 1) // 2)
        left[order[-1]] = False
    return order


@kernel
def look_blindly(law: Law, ahead: Floats, length: int, strip: Strip) -> int:
    """The law of each position before the window; answers how often the last one may have rounded."""
    rounded = 1
    for at in range(length):
        if at == 0:
            for x in range(ahead.shape[0]):
                strip.blind[0, x] = ahead[x]
            share_out(strip.blind[0])
            continue
        steps = strip.steps[at]
        fine = go_on_blindly(law, strip.blind[at - 1], steps, strip.spare, strip.blind[at])
        rounded = min(rounded + max(steps, 1), DRIFT_UNKNOWN) if fine else DRIFT_UNKNOWN
    return rounded


@kernel
def forget(windows: Windows, ahead: Floats, length: int, strip: Strip) -> None:
    """No channel has said anything yet."""
    for at in range(length):
        for x in range(strip.told.shape[1]):
            strip.told[at, x] = 1.0
    pass_forth(windows.law, ahead, 0, length, strip)
    pass_back(windows, length - 1, length, strip)


@kernel
def pass_forth(law: Law, ahead: Floats, start: int, length: int, strip: Strip) -> None:
    """What comes forth, from the position on whose factor has changed; the first one's is not shared out."""
    for at in range(start, length):
        mass = strip.forth[at]
        if at == 0:
            for x in range(ahead.shape[0]):
                mass[x] = ahead[x] * strip.told[0, law.ends[x]]
            continue
        go_on(law, strip.forth[at - 1], strip.steps[at], strip.spare, mass)
        for x in range(ahead.shape[0]):
            mass[x] *= strip.told[at, law.ends[x]]
        share_out(mass)


@kernel
def pass_back(windows: Windows, start: int, length: int, strip: Strip) -> None:
    """What comes back, from the position on whose factor has changed; the last one's is not shared out."""
    for at in range(start, -1, -1):
        if at < start:
            go_back(windows, strip.tail[at + 1], strip.steps[at + 1], strip.spare, strip.back[at])
        mass = strip.tail[at]
        if at == length - 1:
            for x in range(mass.shape[0]):
                mass[x] = strip.told[at, windows.law.ends[x]]
            continue
        for x in range(mass.shape[0]):
            mass[x] = strip.back[at, x] * strip.told[at, windows.law.ends[x]]
        share_out(mass)


@kernel
def meet(at: int, length: int, strip: Strip) -> None:
    """The law of this position, with all that was told, into `strip.own`."""
    for x in range(strip.own.shape[0]):
        strip.own[x] = strip.forth[at, x]
        if at + 1 < length:
            strip.own[x] *= strip.back[at, x]
    share_out(strip.own)


@kernel
def ask(windows: Windows, belief: Floats, cap: float, desk: Desk, strip: Strip) -> None:
    """Work out the channel of this cap for this law over values."""
    channel, numbers = desk.channel, strip.numbers
    numbers[COVERED], numbers[REVEALED], numbers[CEILING], numbers[CAP] = 0.0, 1.0, cap, cap
    numbers[FULL], numbers[PAD] = 1.0 / cap, math.ceil((2.0 * cap + 1.0) / (cap - 1.0)) + 1.0
    if windows.near:
        near.work_out(belief, numbers, desk.nearby, channel)
    else:
        optimal.work_out(belief, numbers, channel)


@kernel
def answer(windows: Windows, belief: Floats, place: int, desk: Desk) -> float:
    """The column of the value at this place of the channel, and its probability under the law, in its units."""
    channel, law = desk.channel, 0.0
    if windows.near:
        near.write_column(place, desk.nearby, channel)
    else:
        optimal.write_column(place, channel)
    for x in range(belief.shape[0]):
        law += belief[x] * float(channel.units[COLUMN, x])
    return law


@kernel
def hear(windows: Windows, drawn: int, cap: float, desk: Desk, strip: Strip, told: Floats) -> tuple[float, float]:
    """What the channel of this cap says by giving `drawn` for the law `strip.shown`, as a factor for each value; its
    largest and its smallest. Both are 0 where the channel cannot give that.
    """
    belief, channel = strip.asked, desk.channel
    for x in range(belief.shape[0]):
        belief[x] = strip.shown[x]
    if not 0 <= drawn < belief.shape[0]:
        return 0.0, 0.0
    ask(windows, belief, cap, desk, strip)
    place = channel.units[PLACE, drawn]
    if place < 0:
        return 0.0, 0.0
    law = answer(windows, belief, place, desk)
    most, least = 0.0, np.inf
    for x in range(belief.shape[0]):
        told[x] = float(channel.units[COLUMN, x]) / law
        most, least = max(most, told[x]), min(least, told[x])
    return most, least


@kernel
def mix(share: float, blind: Floats, own: Floats, mixed: Floats) -> None:
    """What is believed when the coin is not known."""
    for x in range(mixed.shape[0]):
        mixed[x] = share * blind[x] + (1.0 - share) * own[x]


@kernel
def likeliest(law: Law, states: Floats, strip: Strip) -> int:
    """The likeliest value, the first of equals."""
    by_value(law, states, strip.shown)
    best = 0
    for x in range(1, strip.shown.shape[0]):
        if strip.shown[x] > strip.shown[best]:
            best = x
    return best


@kernel
def to_show(windows: Windows, desk: Desk, states: Floats, strip: Strip) -> int:
    """The value that a release shows: the likeliest, or, beside a distance, the one that is expected to be nearest."""
    if not windows.near:
        return likeliest(windows.law, states, strip)
    by_value(windows.law, states, strip.shown)
    return nearest(strip.shown, desk.nearby)


@kernel
def told_units(plan: Floats, highest: float, lowest: float) -> tuple[int, int]:
    """What the factors' extreme products tell once the coin is mixed in, upward and downward."""
    share, lean = plan[SHARE], 1.0 + plan[LEAN]
    above = share + (1.0 - share) * highest * lean
    below = (share + (1.0 - share) * lowest) / lean
    return log_units(above * _OUTWARD), log_units(_OUTWARD / below)


@kernel
def replay(
    windows: Windows, plan: Floats, events: Integers, desk: Desk, strip: Strip, length: int
) -> tuple[float, float]:
    """A whole window: its factors from what its channels gave, and the extremes; 0 and 0 where they cannot have given
    that.
    """
    ahead = desk.states
    forget(windows, ahead, length, strip)
    cap, highest, lowest = plan[FIRST_CAP], 1.0, 1.0
    for turn in range(length):
        at = windows.orders[length, turn]
        drawn = events[strip.rows[at], DRAWN]
        if cap < LEAST_CAP:
            if drawn >= 0:
                return 0.0, 0.0
            continue
        meet(at, length, strip)
        by_value(windows.law, strip.own, strip.shown)
        most, least = hear(windows, drawn, cap, desk, strip, strip.told[at])
        if most == 0.0:
            return 0.0, 0.0
        cap, highest, lowest = cap / most, highest * most, lowest * least
        pass_forth(windows.law, ahead, at, length, strip)
        pass_back(windows, at, length, strip)
    return highest, lowest
