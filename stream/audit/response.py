"""Randomised response on a set of values, worked out a second time: the four mechanisms that differ in the set and in
how far rows may lie apart.

A value of the set gives LOW = floor(whole / (r + k - 1)) + 1 to each other one of its k, and what is left to itself;
whatever is outside gives every one of them a k-th part. r is the largest ratio between two rows: e^epsilon, or its
square. The set is everything; what the belief holds possible; or what is above a price. That price is found by going on
from 0: add up the beliefs above it, ascending, divide by (r - 1) + how many there are; end when the new price is not
higher or the last two prices had equally many above them.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import CEILING, WHOLE, Floats, roundings
from stream.audit.book import DOUBLE_RESPONSE, TEMPORAL, TOP_K
from stream.audit.channel import ABOVE, ACROSS, BASE, BELOW, COLUMN, PLACE, VALUE, Channel, admit, empty, likeliest

APART, OWN, OTHER = 1, 2, 3
"""`size[APART]` is 0 where all rows are alike; `channel.units[BASE]` is the row of what is outside the set."""


@kernel
def work_out(mechanism: int, belief: Floats, numbers: Floats, channel: Channel) -> None:
    ratio = numbers[CEILING]
    if mechanism == DOUBLE_RESPONSE:
        ratio = ratio * ratio
    above = -1.0
    if mechanism == TEMPORAL:
        above = 0.0
    elif mechanism == TOP_K:
        above = _price(belief, ratio)
    empty(channel)
    outside = 0.0
    for x in range(belief.shape[0]):
        if belief[x] > above:
            admit(x, channel)
        else:
            outside += belief[x]
    if channel.size[0] == 0:
        first = likeliest(belief, channel)
        outside -= belief[first]
        admit(first, channel)
    _fill(belief, ratio, outside, channel)


@kernel
def _price(belief: Floats, ratio: float) -> float:
    price, before = 0.0, -1
    while True:
        total, many = 0.0, 0
        for x in range(belief.shape[0]):
            if belief[x] > price:
                total, many = total + belief[x], many + 1
        after = total / ((ratio - 1.0) + many)
        if many == before or after <= price:
            return price
        price, before = after, many


@kernel
def _fill(belief: Floats, ratio: float, outside: float, channel: Channel) -> None:
    many = channel.size[0]
    part, left = WHOLE // many, WHOLE % many
    other = int(WHOLE / (ratio + (many - 1.0))) + 1
    apart = ratio > 1.0 and many > 1 and WHOLE - many * other >= many
    channel.size[APART] = 1 if apart else 0
    channel.size[OTHER], channel.size[OWN] = other, WHOLE - (many - 1) * other
    for i in range(many):
        channel.units[BASE, i] = part + 1 if i < left else part
        channel.reals[ABOVE, i] = channel.reals[BELOW, i] = channel.reals[ACROSS, i] = 1.0
        if apart:
            _rate(i, belief, outside, channel)


@kernel
def _rate(i: int, belief: Floats, outside: float, channel: Channel) -> None:
    other, own = channel.size[OTHER], channel.size[OWN]
    law = other + belief[channel.units[VALUE, i]] * (own - other) + outside * (channel.units[BASE, i] - other)
    raised = roundings(belief.shape[0])
    channel.reals[ABOVE, i] = own / law * raised
    channel.reals[BELOW, i] = law / other * raised
    channel.reals[ACROSS, i] = own / other * raised


@kernel
def write_column(i: int, channel: Channel) -> None:
    for x in range(channel.units.shape[1]):
        inside = channel.size[APART] == 1 and channel.units[PLACE, x] >= 0
        channel.units[COLUMN, x] = channel.size[OTHER] if inside else channel.units[BASE, i]
    if channel.size[APART] == 1:
        channel.units[COLUMN, channel.units[VALUE, i]] = channel.size[OWN]
