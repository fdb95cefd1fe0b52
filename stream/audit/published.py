"""The correlated randomised response as published, worked out a second time: with probability 1 - e the value,
otherwise a draw of the belief. Every value may be released; only its own row differs from the others, by the rest of
the whole."""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import COVERED, REVEALED, WHOLE, Floats, roundings
from stream.audit.channel import ABOVE, ACROSS, BASE, BELOW, COLUMN, VALUE, Channel, admit, drawn, empty

REST = 1
NO_BOUND = float("inf")


@kernel
def work_out(belief: Floats, numbers: Floats, channel: Channel) -> None:
    empty(channel)
    rest = WHOLE
    for x in range(belief.shape[0]):
        i = admit(x, channel)
        channel.units[BASE, i] = int(numbers[COVERED] * belief[x] * WHOLE) + 1 if belief[x] > 0.0 else 0
        rest -= channel.units[BASE, i]
    channel.size[REST] = max(rest, 0)
    if rest <= 0 or numbers[REVEALED] == 0.0:
        drawn(belief, channel)
        return
    for x in range(belief.shape[0]):
        _rate(x, belief, channel)


@kernel
def _rate(x: int, belief: Floats, channel: Channel) -> None:
    base, rest, symbols = channel.units[BASE, x], channel.size[REST], belief.shape[0]
    if symbols == 1:
        above = below = across = 1.0
    elif base == 0:
        above = below = across = NO_BOUND
    else:
        law = base + belief[x] * rest
        above = (base + rest) / law * roundings(symbols)
        below = law / base * roundings(symbols)
        across = (base + rest) / base * roundings(symbols)
    channel.reals[ABOVE, x], channel.reals[BELOW, x], channel.reals[ACROSS, x] = above, below, across


@kernel
def write_column(i: int, channel: Channel) -> None:
    for x in range(channel.units.shape[1]):
        channel.units[COLUMN, x] = channel.units[BASE, i] + (channel.size[REST] if x == channel.units[VALUE, i] else 0)
