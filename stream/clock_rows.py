"""The state rows of a pipeline whose model goes by the clock, as the stores and the loader see them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stream import state
from stream.protocol.ports import Codes, Heads, RowCodec
from stream.settings.model import Settings
from stream.stores.rows import StateRows


class ClockRows:
    """`StateRows` with one word more: version 3 of `stream.state`."""

    def __init__(self, states: int, tag: int) -> None:
        self.symbols = states
        self._tag = tag

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        heads, codes, verdicts = state.from_rows(rows, self.symbols, self._tag, state.CLOCK_HEAD_WORDS)
        readable = verdicts == state.Unreadable.FINE
        if not readable.all():
            heads[~readable], codes[~readable] = self.new_users(int((~readable).sum()))
        return heads, codes, readable

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:
        return state.to_rows(heads, codes)

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        return state.new_users(count, self.symbols, state.CLOCK_HEAD_WORDS)


def rows_of(settings: Settings, states: int, tag: int) -> RowCodec:
    """The rows of this pipeline."""
    return StateRows(states, tag) if settings.model.step is None else ClockRows(states, tag)


def words_of(settings: Settings) -> int:
    return state.HEAD_WORDS if settings.model.step is None else state.CLOCK_HEAD_WORDS
