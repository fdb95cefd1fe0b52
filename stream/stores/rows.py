"""The state rows of a pipeline, as the stores and the loader see them."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stream import state
from stream.protocol.ports import Codes, Heads
from stream.rings import relaid
from stream.segments import row_texts

_TAG: Final = slice(4, 8)  # where a row bears its model's tag, little-endian


class StateRows:
    """`stream.state` for one alphabet and one model: rows written under another model are not readable.

    `symbols` is how many codes a row has; `words` and `listed` decide the version of the layout.
    """

    def __init__(self, symbols: int, tag: int, words: int = state.HEAD_WORDS, *, listed: bool = False) -> None:
        self.symbols = symbols
        self._tag, self._words, self._listed = tag, words, listed

    def of_tag(self, tag: int) -> "StateRows":
        """The same layout under another model."""
        return StateRows(self.symbols, tag, self._words, listed=self._listed)

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


class SegmentedRows:
    """Rows of several models: each row bears the tag of its own. In memory all are as wide as the widest, the narrower
    ones with zeros behind them; as bytes each is what it would be if its model served alone.
    """

    def __init__(self, models: Mapping[int, StateRows]) -> None:
        self._models = {tag.to_bytes(4, "little"): rows for tag, rows in models.items()}
        self._widths = {tag: rows.symbols for tag, rows in models.items()}
        self.symbols = max(self._widths.values())

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        heads, codes = self.new_users(len(rows))
        readable = np.zeros(len(rows), dtype=np.bool_)
        places: dict[bytes, list[int]] = {tag: [] for tag in self._models}
        for place, row in enumerate(rows):
            if row[_TAG] in places:
                places[row[_TAG]].append(place)
        for tag, its in places.items():
            model = self._models[tag]
            heads[its], codes[its, : model.symbols], readable[its] = model.from_rows([rows[place] for place in its])
        return heads, codes, readable

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:
        tags = ((heads[:, 0] >> 32) & 0xFFFFFFFF).tolist()
        return row_texts(heads, codes, np.array([self._widths[tag] for tag in tags], dtype=np.int64)).all()

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        heads, codes = next(iter(self._models.values())).new_users(count)
        return heads, np.zeros((count, self.symbols), dtype=codes.dtype)


class EpochRows:
    """Rows of a pipeline that learns its model: all of one layout, each with the tag of the epoch that wrote it. Which
    epochs there were is not known here, so any tag but 0 is taken; the row's check covers it.
    """

    def __init__(self, rows: StateRows) -> None:
        self._rows = rows
        self.symbols = rows.symbols

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        heads, codes = self.new_users(len(rows))
        readable = np.zeros(len(rows), dtype=np.bool_)
        places: dict[bytes, list[int]] = {}
        for place, row in enumerate(rows):
            places.setdefault(row[_TAG], []).append(place)
        for tag, its in places.items():
            if len(tag) == _TAG.stop - _TAG.start and any(tag):
                of_epoch = self._rows.of_tag(int.from_bytes(tag, "little"))
                heads[its], codes[its], readable[its] = of_epoch.from_rows([rows[place] for place in its])
        return heads, codes, readable

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:
        return self._rows.to_rows(heads, codes)

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        return self._rows.new_users(count)


class NoRows:
    """Where no user has a row: what is known about one is held, sealed. Whatever stands as a row cannot be read."""

    symbols = 0

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        return (*self.new_users(len(rows)), np.zeros(len(rows), dtype=np.bool_))

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:  # noqa: ARG002 - the shape that all share
        return [b""] * len(heads)

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        return np.zeros((count, state.HEAD_WORDS), dtype=np.int64), np.zeros((count, 0), dtype=np.uint32)
