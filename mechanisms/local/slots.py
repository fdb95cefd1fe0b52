"""The values of one slot of a field that holds lists: those of the field, and behind them that nothing is in it."""

from __future__ import annotations

from dataclasses import dataclass

from beliefs.alphabet import Alphabet


@dataclass(frozen=True)
class Slots:
    """An alphabet with one value more, the empty slot, whose JSON is null."""

    alphabet: Alphabet

    @property
    def size(self) -> int:
        return self.alphabet.size + 1

    def released_index(self, value: object) -> int | None:
        return self.alphabet.size if value is None else self.alphabet.released_index(value)

    def value_at(self, index: int) -> object:
        return None if index == self.alphabet.size else self.alphabet.value_at(index)


Values = Alphabet | Slots
