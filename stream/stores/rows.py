"""The state rows of one model, as the stores and the loader see them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stream import state
from stream.protocol.ports import Codes, Heads
from stream.rings import relaid


class StateRows:
    """`stream.state` for one alphabet and one model: rows written under another model are not readable.

    `symbols` is how many codes a row has; `words` and `listed` decide the version of the layout.
    """

    def __init__(self, symbols: int, tag: int, words: int = state.HEAD_WORDS, *, listed: bool = False) -> None:
        self.symbols = symbols
        self._tag, self._words, self._listed = tag, words, listed

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        heads, codes, verdicts = self._read(rows)
        if (verdicts != state.Unreadable.FINE).any():
            heads, codes, verdicts = self._read(self._relaid(rows, verdicts.tolist()))
        readable = verdicts == state.Unreadable.FINE
        if not readable.all():
            heads[~readable], codes[~readable] = self.new_users(int((~readable).sum()))
        return heads, codes, readable

    def _read(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.int8]]:
        return state.from_rows(rows, self.symbols, self._tag, self._words, self._listed)

    def _relaid(self, rows: Sequence[bytes], verdicts: Sequence[int]) -> list[bytes]:
        """The same rows, those of a budget over another number of events, or none, as this one's."""
        changed = list(rows)
        for place, verdict in enumerate(verdicts):
            if verdict != state.Unreadable.FINE:
                row = relaid(rows[place], self.symbols, self._words, self._tag, listed=self._listed)
                changed[place] = rows[place] if row is None else row
        return changed

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:
        return state.to_rows(heads, codes)

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        return state.new_users(count, self.symbols, self._words)
