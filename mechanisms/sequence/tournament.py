"""The few likely symbols of many, without sorting them all: a tournament of sixteen in each match.

Building costs O(symbols), taking the winner out sixteen comparisons for each round. A comparison chooses between two
numbers and never where to go on, so the processor has nothing to guess; in a heap it guesses wrong every second time,
which takes two thirds of the time of an event with a hundred symbols. The order is total (equal beliefs by index), so
every replica takes the same symbols in the same sequence.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import Floats, Integers

_BITS = 4
_MATCH = 1 << _BITS
_OUT = -1.0


@kernel
def build(belief: Floats, strength: Floats, winners: Integers) -> int:
    """Let all symbols play; answers where in `winners` the winner of all stands.

    `winners` holds the matches round by round; those of the first round are between symbols, those of the others
    between sixteen winners. `strength` becomes a copy of the beliefs, from which symbols are taken out.
    """
    symbols = belief.shape[0]
    for x in range(symbols):
        strength[x] = belief[x]
    matches = (symbols + _MATCH - 1) >> _BITS
    for match in range(matches):
        winners[match] = _best_symbol(strength, match * _MATCH, min(symbols, (match + 1) * _MATCH))
    first = 0
    while matches > 1:
        following = first + matches
        for match in range((matches + _MATCH - 1) >> _BITS):
            start = first + match * _MATCH
            winners[following + match] = _best_winner(strength, winners, start, min(following, start + _MATCH))
        first, matches = following, (matches + _MATCH - 1) >> _BITS
    return first


@kernel
def take_out(strength: Floats, winners: Integers, x: int) -> bool:
    """Take symbol x, the winner, out, and repeat its matches; answers whether anybody is left."""
    symbols = strength.shape[0]
    strength[x] = _OUT
    match, matches, first = x >> _BITS, (symbols + _MATCH - 1) >> _BITS, 0
    winners[match] = _best_symbol(strength, match * _MATCH, min(symbols, (match + 1) * _MATCH))
    while matches > 1:
        match >>= _BITS
        following = first + matches
        start = first + match * _MATCH
        winners[following + match] = _best_winner(strength, winners, start, min(following, start + _MATCH))
        first, matches = following, (matches + _MATCH - 1) >> _BITS
    left: bool = strength[winners[first]] != _OUT
    return left


@kernel
def _best_symbol(strength: Floats, start: int, end: int) -> int:
    best, at = strength[start], start
    for x in range(start + 1, end):
        better = strength[x] > best
        best = strength[x] if better else best
        at = x if better else at
    return at


@kernel
def _best_winner(strength: Floats, winners: Integers, start: int, end: int) -> int:
    at: int = winners[start]
    best = strength[at]
    for place in range(start + 1, end):
        other = winners[place]
        better = strength[other] > best
        best = strength[other] if better else best
        at = other if better else at
    return at
