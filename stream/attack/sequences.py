"""Windows whose values went through one channel for their sequence: the adversary's law over all sequences.

A leaf is one sequence of values: its chance under the adversary's law, with what is known of it, and the law of the
last state. A law of any kind will do: states are carried along from each beginning of a sequence to those that are
longer by one value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.attack.mind import copy, move
from stream.attack.span import Bench
from stream.audit.amounts import WHOLE, Floats
from stream.audit.dual import rate, units
from stream.audit.dual_prices import Slate as Sequences
from stream.audit.law import Law


class Leaves(NamedTuple):
    """Sequences of the length that was grown last; `longer` and `deeper` are where the next ones grow."""

    chance: Floats
    states: Floats
    longer: Floats
    deeper: Floats


def new_leaves(sequences: int, states: int) -> Leaves:
    tables = [np.zeros((sequences, states)) for _ in range(2)]
    return Leaves(np.zeros(sequences), tables[0], np.zeros(sequences), tables[1])


@kernel
def grow(law: Law, ahead: Floats, bench: Bench, leaves: Leaves, length: int) -> None:
    """From what is expected of the first value to all sequences of this length."""
    count = 1
    leaves.chance[0] = 1.0
    copy(ahead, leaves.states[0])
    symbols = bench.after.shape[1]
    for at in range(length):
        for number in range(count):
            if at > 0 and leaves.chance[number] > 0.0:
                move(law, leaves.states[number], bench.spare, bench.first[at], bench.stop[at])
            for x in range(symbols):
                _branch(law, leaves, number, x, bench.known[at], number * symbols + x)
        count *= symbols
        for number in range(count):
            leaves.chance[number] = leaves.longer[number]
            copy(leaves.deeper[number], leaves.states[number])


@kernel
def _branch(law: Law, leaves: Leaves, number: int, x: int, known: int, child: int) -> None:
    """The sequence that is longer by this value."""
    states, total = leaves.deeper[child], 0.0
    for s in range(states.shape[0]):
        fits = law.ends[s] == x and (known < 0 or known == x)
        states[s] = leaves.states[number, s] if fits else 0.0
        total += states[s]
    leaves.longer[child] = leaves.chance[number] * total
    for s in range(states.shape[0]):
        states[s] = states[s] / total if total > 0.0 else 0.0


@kernel
def hear_column(sequences: Sequences, bench: Bench, leaves: Leaves, length: int) -> None:
    """The chances of each value, and of the last state, after a release that each sequence gives as the column says.
    A law that has no room for it is believed as it was.
    """
    symbols = bench.after.shape[1]
    count, total = symbols**length, 0.0
    for number in range(count):
        total += leaves.chance[number] * sequences.column[number]
    bench.after[:length] = 0.0
    bench.last[:] = 0.0
    for number in range(count):
        share = leaves.chance[number] * (sequences.column[number] / total if total > 0.0 else 1.0)
        place, rest = count, number
        for at in range(length):
            place //= symbols
            bench.after[at, rest // place] += share
            rest %= place
        for s in range(bench.last.shape[0]):
            bench.last[s] += share * leaves.states[number, s]


@kernel
def play_sequence(sequences: Sequences, coins: Floats, length: int) -> None:
    """A release that says nothing about the user: what the channel gives for a stranger's sequence, drawn from the
    pipeline's law; its column is left where that of the release was.
    """
    count = sequences.symbols**length
    law = sequences.chance[:count]
    theirs, reached = 0, law[0]
    while reached < coins[0] and theirs + 1 < count:
        theirs += 1
        reached += law[theirs]
    given, row = -1, 0.0
    for y in range(count):
        if sequences.law[y] > 0.0 and (given < 0 or row < coins[1]):
            given = y
            row += units(theirs, y, count, sequences) / WHOLE
    rate(given, law, sequences)
