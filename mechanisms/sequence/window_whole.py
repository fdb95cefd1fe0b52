"""A window released as one value: the sequence of its values, by the mechanism `near`. Proof: window.md, `near.md`.

Sequences are numbered as digits are written, the first value being the highest digit. What an error costs is the share
of the positions that are wrong.
"""

from __future__ import annotations

import itertools

import numpy as np

from beliefs.distance import TABLE_MAX, Distance, from_table
from beliefs.forward import ChainArrays
from beliefs.native import kernel
from mechanisms.contract import Floats, Integers

SEQUENCES_MAX = TABLE_MAX
"""So many sequences are compared with one another: eight values of two kinds, five of three, four of four."""


def error_of_sequences(symbols: int, length: int) -> Distance:
    values = np.array(list(itertools.product(range(symbols), repeat=length)))
    wrong = (values[:, None, :] != values[None, :, :]).sum(axis=2)
    return from_table((wrong / length).tolist(), values.shape[0])


@kernel
def law_of_sequences(chain: ChainArrays, start: Floats, length: int, law: Floats) -> None:
    """The chance of each sequence of values, the first of which follows `start`.

    A sequence s is followed by the sequences from s n on; from the last to the first, none is overwritten before it has
    been read.
    """
    symbols = start.shape[0]
    count = symbols
    for x in range(symbols):
        law[x] = start[x]
    for _ in range(1, length):
        for s in range(count - 1, -1, -1):
            mass, last = law[s], s % symbols
            for y in range(symbols):
                law[s * symbols + y] = mass * chain.dense[last, y] if chain.dense.shape[0] > 0 else 0.0
            if chain.dense.shape[0] == 0:
                for place in range(chain.indptr[last], chain.indptr[last + 1]):
                    law[s * symbols + chain.indices[place]] = mass * chain.data[place]
        count *= symbols


@kernel
def number_of(values: Integers, symbols: int) -> int:
    number = 0
    for value in values:
        number = number * symbols + value
    return number


@kernel
def values_of(number: int, symbols: int, values: Integers) -> None:
    for i in range(values.shape[0] - 1, -1, -1):
        values[i] = number % symbols
        number //= symbols


@kernel
def last_of_sequences(law: Floats, likelihood: Floats, last: Floats) -> None:
    """What is believed about the last value after a release of this likelihood; up to a factor."""
    symbols = last.shape[0]
    for x in range(symbols):
        last[x] = 0.0
    for s in range(law.shape[0]):
        last[s % symbols] += law[s] * likelihood[s]
