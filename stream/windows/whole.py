"""Windows released all at once: the channel over the sequences of one window, made anew for each belief."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.distance import equal
from beliefs.forward import ChainArrays, normalise
from beliefs.rounding import log_units_up
from mechanisms.coins import pick
from mechanisms.contract import Floats, Integers, NearWorkspace, constants_of, new_near_workspace
from mechanisms.sequence import near
from mechanisms.sequence.window_whole import (
    error_of_sequences,
    last_of_sequences,
    law_of_sequences,
    number_of,
    values_of,
)


class Sides(NamedTuple):
    """Log ratios in units, rounded up: P(o|x)/P(o), P(o)/P(o|x), and between two windows of values."""

    upper: int
    lower: int
    spread: int


class Sequences:
    """Scratch space and costs for the windows of one pipeline, one set for each length that comes up."""

    def __init__(self, chain: ChainArrays) -> None:
        self._chain, self._symbols = chain, chain.start.shape[0]
        self._rooms: dict[int, tuple[NearWorkspace, Floats]] = {}
        self._constants: dict[int, Floats] = {}
        self._law: Floats = np.zeros(0)
        self._work = new_near_workspace(1, equal())

    def prepare(self, belief: Floats, units: int, length: int) -> Sides:
        """The channel of a window of this length whose first value has this belief; its worst case."""
        if length not in self._rooms:
            count = self._symbols**length
            self._rooms[length] = new_near_workspace(count, error_of_sequences(self._symbols, length)), np.zeros(count)
        if units not in self._constants:
            self._constants[units] = np.array(constants_of(units))
        self._work, self._law = self._rooms[length]
        law_of_sequences(self._chain, belief, length, self._law)
        normalise(self._law)
        return _sides(near.prepare(self._law, self._constants[units], self._work))

    def release(self, values: Integers, coin: int, shown: Integers, last: Floats) -> Sides:
        """Draw a sequence for these values into `shown`, and what is then believed about the last into `last`."""
        near.row(number_of(values, self._symbols), self._law, self._work)
        chosen = pick(self._work.row, int(self._work.size[0]), coin)
        told = _sides(near.column(chosen, self._law, self._work))
        values_of(int(self._work.head[chosen]), self._symbols, shown)
        last_of_sequences(self._law, self._work.likelihood, last)
        normalise(last)
        return told


def _sides(ratios: tuple[float, float, float]) -> Sides:
    return Sides(*(int(log_units_up(ratio)) for ratio in ratios))
