"""The marginal-preserving mechanism, worked out a second time from its definition.

A value with a belief of at least p* (the window) keeps itself. The others have arcs on a circle, as long as their
beliefs, one after the other; a value moves to a uniform point of its own arc and from there to a uniform point at most
half a window away, and the value is released whose arc holds that point. So what x gives to y is a difference of one
distribution function, that of a sum of two uniform laws, at the two ends of y's arc, on every turn of the circle that x
can reach. Beside it, every value gets a base from everybody.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import COVERED, FULL, PAD, WHOLE, Floats, roundings
from stream.audit.channel import BASE, COLUMN, PLACE, RARE, TAIL, VALUE, Channel, admit, drawn, empty, likeliest, rate

REST, ROUND, WINDOW = 1, 2, 3
STAYS = -1
CIRCLE = 2**60
STEP = 2**10
SLACK = 2**14
UNITS_OF_ARC = 4


@kernel
def work_out(belief: Floats, numbers: Floats, channel: Channel) -> tuple[float, float, float]:
    """Answers bounds on all ratios. `channel.units[TAIL]` holds the arcs' lengths, `channel.units[RARE]` where they
    begin.
    """
    empty(channel)
    if not (_arcs(belief, numbers, channel) and _bases(belief, numbers, channel)):
        drawn(belief, channel)
        channel.size[REST] = 0
        for x in range(belief.shape[0]):
            channel.units[RARE, x] = STAYS
        return 1.0, 1.0, 1.0
    above = below = across = 1.0
    if channel.size[0] > 1:
        for i in range(channel.size[0]):
            one, two, three = _bounds(i, belief, channel)
            above, below, across = max(above, one), max(below, two), max(across, three)
    return above, below, across


@kernel
def _arcs(belief: Floats, numbers: Floats, channel: Channel) -> bool:
    """False when the circle is shorter than the window, which no law allows."""
    window = 2 * (int(numbers[FULL] * (CIRCLE // 2)) + 1)
    narrow = narrow_values = 0
    least = -1
    for x in range(belief.shape[0]):
        arc = int(belief[x] * CIRCLE)
        channel.units[TAIL, x] = arc
        if arc < window:
            narrow, narrow_values = narrow + arc, narrow_values + 1
        elif least < 0 or arc < channel.units[TAIL, least]:
            least = x
    joins = least if narrow_values > 0 and narrow < window else -1
    end = 0
    for x in range(belief.shape[0]):
        channel.units[RARE, x] = STAYS
        if channel.units[TAIL, x] < window or x == joins:
            channel.units[RARE, x] = end
            end += channel.units[TAIL, x]
    channel.size[ROUND], channel.size[WINDOW] = end, window
    return narrow_values == 0 or end >= window


@kernel
def _bases(belief: Floats, numbers: Floats, channel: Channel) -> bool:
    symbols = belief.shape[0]
    padding = numbers[PAD] * (SLACK + UNITS_OF_ARC * symbols)
    needed = 0.0
    for x in range(symbols):
        needed += numbers[COVERED] * belief[x] * WHOLE + padding + 1.0
    if not needed < WHOLE * (1.0 - 1.0e-9):
        return False
    likely = likeliest(belief, channel)
    rest = WHOLE
    for x in range(symbols):
        if channel.units[TAIL, x] > 0:
            i = admit(x, channel)
            channel.units[BASE, i] = int(numbers[COVERED] * belief[x] * WHOLE) + 1 + int(padding)
            rest -= channel.units[BASE, i]
    channel.units[BASE, channel.units[PLACE, likely]] += rest % STEP
    channel.size[REST] = rest - rest % STEP
    return True


@kernel
def _bounds(i: int, belief: Floats, channel: Channel) -> tuple[float, float, float]:
    """What no entry of the i-th column can exceed, from its arc alone."""
    y, rest, base = channel.units[VALUE, i], channel.size[REST], float(channel.units[BASE, i])
    mean = belief[y] * rest
    if channel.units[RARE, y] == STAYS:
        slack = 0.0
        largest = base + rest
    else:
        slack = float(SLACK + UNITS_OF_ARC * belief.shape[0])
        largest = base + min(rest, rest * (channel.units[TAIL, y] / channel.size[WINDOW]) + slack)
    raised = roundings(belief.shape[0]) * roundings(belief.shape[0])
    return (
        largest / (base + max(mean - slack, 0.0)) * raised,
        (base + mean + slack) / base * raised,
        largest / base * raised,
    )


@kernel
def _foot(s: int, short: int, long: int, rest: int) -> int:
    return int(0.5 * rest * (s / short) * (s / long))


@kernel
def _within(s: int, arc: int, channel: Channel) -> int:
    """How much of the rest lies less than `s` behind the first point that an arc of this length reaches."""
    window: int = channel.size[WINDOW]
    rest: int = channel.size[REST]
    short, long = min(arc, window), max(arc, window)
    beyond = arc + window - s
    if s <= 0:
        return 0
    if beyond <= 0:
        return rest
    if s < short:
        return _foot(s, short, long, rest)
    if beyond < short:
        return rest - _foot(beyond, short, long, rest)
    least = _foot(short, short, long, rest) if short > 0 else 0
    return min(max(int(rest * ((2 * s - short) / (2.0 * long))), least), rest - least)


@kernel
def _given(x: int, y: int, channel: Channel) -> int:
    if channel.units[RARE, x] == STAYS:
        return channel.size[REST] if x == y else 0
    if channel.units[RARE, y] == STAYS:
        return 0
    arc, half = channel.units[TAIL, x], channel.size[WINDOW] // 2
    reach = channel.units[RARE, x] - half
    given = 0
    for turn in range(-1, 2):
        begins = channel.units[RARE, y] + turn * channel.size[ROUND] - reach
        ends = begins + channel.units[TAIL, y]
        if begins < arc + 2 * half and ends > 0:
            given += _within(ends, arc, channel) - _within(begins, arc, channel)
    return given


@kernel
def write_column(i: int, channel: Channel) -> None:
    for x in range(channel.units.shape[1]):
        channel.units[COLUMN, x] = channel.units[BASE, i] + _given(x, channel.units[VALUE, i], channel)


@kernel
def rate_column(i: int, belief: Floats, channel: Channel) -> None:
    """The ratios of the i-th value, from its whole column."""
    law = 0.0
    for x in range(belief.shape[0]):
        law += belief[x] * float(channel.units[COLUMN, x])
    rate(i, law, belief, channel)
