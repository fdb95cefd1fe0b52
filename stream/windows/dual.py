"""Windows released all at once: the channel over the sequences of one window, made anew for each belief."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from beliefs.forward import ChainArrays, normalise
from beliefs.rounding import UNITS_PER_NAT, log_units_up
from mechanisms.coins import pick
from mechanisms.contract import Floats, Integers, constants_of
from mechanisms.sequence import dual
from mechanisms.sequence.dual_prices import DualRoom, new_rooms
from mechanisms.sequence.dual_sequences import last_of_sequences, law_of_sequences, number_of, values_of
from mechanisms.sequence.dual_value import DualValue, dual_value


class Sides(NamedTuple):
    """Log ratios in units, rounded up: P(o|x)/P(o), P(o)/P(o|x), and between two windows of values."""

    upper: int
    lower: int
    spread: int


@lru_cache(maxsize=1)
def rooms_of(symbols: int, longest: int) -> list[DualRoom]:
    """Shared by a process's partitions: they carry out one window at a time, and 1,296 sequences take 16 MB."""
    return new_rooms(symbols, longest)


class Sequences:
    """The channels of one pipeline's windows. Between `prepare` and `release` nobody else may use the rooms."""

    def __init__(self, chain: ChainArrays, longest: int) -> None:
        self._chain, self._symbols = chain, chain.start.shape[0]
        self._rooms = rooms_of(self._symbols, longest)
        self._constants: dict[int, Floats] = {}
        self._law: Floats = np.zeros(self._symbols**longest)
        self._room = self._rooms[0]
        self._warm_up()

    def prepare(self, belief: Floats, units: int, length: int) -> Sides:
        """The channel of a window of this length whose first value has this belief; its worst case."""
        if units not in self._constants:
            self._constants[units] = np.array(constants_of(units))
        self._room = self._rooms[length - 1]
        law = self._law_of(belief, length)
        return _sides(dual.prepare(law, self._constants[units], self._room))

    def release(self, values: Integers, coin: int, shown: Integers, last: Floats) -> Sides:
        """Draw a sequence for these values into `shown`, and what is then believed about the last into `last`."""
        room = self._room
        law = self._law[: room.head.shape[0]]
        dual.row(number_of(values, self._symbols), room)
        chosen = pick(room.row, int(room.counts[dual.COUNT]), coin)
        told = _sides(dual.column(chosen, law, room))
        values_of(int(room.head[chosen]), self._symbols, shown)
        last_of_sequences(law, room.likelihood, last)
        normalise(last)
        return told

    def value(self, units: int, epsilon: float) -> DualValue:
        """What the longest window of a new user keeps, and the most that it could keep."""
        return dual_value(self._law_of(self._chain.start.copy(), len(self._rooms)), units, epsilon, self._rooms[-1])

    def _law_of(self, belief: Floats, length: int) -> Floats:
        law = self._law[: self._symbols**length]
        law_of_sequences(self._chain, belief, length, law)
        normalise(law)
        return law

    def _warm_up(self) -> None:
        """Compile it all now: later there are heartbeats to send."""
        value, shown, coins = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.uint64)
        self.prepare(self._chain.start.copy(), UNITS_PER_NAT, 1)
        self.release(value, coins[0], shown, np.zeros(self._symbols))


def _sides(ratios: tuple[float, float, float]) -> Sides:
    return Sides(*(int(log_units_up(ratio)) for ratio in ratios))
