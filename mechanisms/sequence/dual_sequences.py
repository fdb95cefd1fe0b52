"""The sequences of a window's values, numbered as digits are written, the first value being the highest digit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.forward import ChainArrays
from beliefs.native import kernel
from mechanisms.contract import Floats, Integers

Wrong = NDArray[np.int8]

SEQUENCES_MAX = 1_300
"""Ten values of two kinds, six of three, five of four, four of five and of six. The table then takes 1.7 MB."""


def wrong_places(symbols: int, length: int) -> Wrong:
    """For each pair of sequences, in how many places they differ."""
    count = symbols**length
    wrong = np.zeros((count, count), dtype=np.int8)
    digits = np.arange(count)
    for _ in range(length):
        wrong += (digits[:, None] % symbols != digits[None, :] % symbols).astype(np.int8)
        digits = digits // symbols
    return wrong


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
