"""A block of records read and written as columns: what `Reader` and `Writer` say, at a fraction of their price.

`Reader.read` and `Writer.value` stay the definition. Where the settings allow it (the user is the record's key, the
time is the record's own, the protected and all public fields lie at the first level), one compiled scan recognises
plain records and the definition reads only the others; where they do not, the definition reads them all. Either way
the answers are the same, and tests hold the two together. Numbers and places that belong to cells are always read by
the definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from stream.names import UNREADABLE
from stream.protocol.inputs import KEY, SPARE, InputBlock
from stream.protocol.texts import Texts
from stream.records.assemble import Joined, Pieces, Ready, assemble, joined, measure
from stream.records.lookups import CLOSELY, Integers, Members, Names, integers_table, names_table, texts_table
from stream.records.parse import WHOLE, Reader
from stream.records.plain import is_plain
from stream.records.release import Writer
from stream.records.scan import MOST_MEMBERS, Sources, scan
from stream.records.shapes import Block, Rejected
from stream.settings.model import RecordSettings

_NOTHING: Final = np.zeros(SPARE, dtype=np.uint8)


@dataclass(slots=True)
class Columns:
    """The accepted events of a block as parallel columns, and the refusals.

    `positions` says where in the block each event stood, ascending; `rejected` holds the other positions, each with its
    reason. The rest belongs to the writer: the raw texts, the places of the public values in them, and the documents
    of those events, by their index, that the definition has read.
    """

    positions: Integers
    users: list[bytes]
    symbols: Integers
    times: Integers
    offsets: Integers
    rejected: list[tuple[int, Rejected]]
    raw: Joined
    documents: dict[int, dict[str, Any]]

    def __repr__(self) -> str:
        return f"Columns(events={len(self.users)}, rejected={len(self.rejected)})"

    def only(self, kept: Integers) -> Columns:
        """The same block with these of its events alone, ascending."""
        indices = kept.tolist()
        documents = self.documents
        return Columns(
            positions=self.positions[kept],
            users=[self.users[i] for i in indices],
            symbols=self.symbols[kept],
            times=self.times[kept],
            offsets=self.offsets[kept],
            rejected=self.rejected,
            raw=Joined(self.raw.data, self.raw.places[kept]),
            documents={new: documents[old] for new, old in enumerate(indices) if old in documents} if documents else {},
        )


class ColumnReader:
    """Reads blocks of records as one pipeline's settings and one alphabet say."""

    def __init__(self, settings: RecordSettings, alphabet: Alphabet) -> None:
        self._definition = Reader(settings, alphabet)
        self._max_bytes = settings.max_bytes
        self._names = self._members = None
        names = _plain_names(settings)
        members = _members_table(alphabet)
        if names is not None and members is not None:
            self._names, self._members = names_table([name.encode() for name in names]), members
        self._strangers = np.empty((MOST_MEMBERS, 2), dtype=np.int64)

    def read(self, records: InputBlock) -> Columns:
        """Read every record of a block. Never raises, whatever the bytes are."""
        if self._names is None or self._members is None:
            columns = _as_columns(self._definition.read_block(records), records)
        else:
            columns = self._scan(records, self._names, self._members)
        unreadable = records.unreadable()
        return _named(columns, unreadable) if unreadable.shape[0] else columns

    def _scan(self, records: InputBlock, names: Names, members: Members) -> Columns:
        count = len(records)
        sources = Sources(np.frombuffer(records.buffer, np.uint8), records.spans, records.timestamps, self._max_bytes)
        places = np.empty((count, names.ends.shape[0], 2), dtype=np.int64)
        symbols = np.empty(count, dtype=np.int64)
        closely = scan(sources, names, members, self._strangers, places, symbols)
        users: list[Any] = records.texts(KEY)  # a record without a key is looked at closely, and is refused there
        columns = Columns(
            positions=np.arange(count, dtype=np.int64),
            users=users,
            symbols=symbols,
            times=records.timestamps,
            offsets=records.offsets,
            rejected=[],
            raw=Joined(sources.data, places),
            documents={},
        )
        return columns if closely == 0 else self._look_closely(records, columns)

    def _look_closely(self, records: InputBlock, columns: Columns) -> Columns:
        """Let the definition read what was not plain. Users and times of its events are those of the columns."""
        symbols = columns.symbols
        closely = np.flatnonzero(symbols == CLOSELY).tolist()
        block = self._definition.read_block([records[position] for position in closely])
        accepted = [closely[i] for i in block.positions]
        symbols[accepted] = block.symbols
        columns.documents = dict(zip(accepted, block.documents, strict=True))
        columns.rejected = [(closely[i], rejected) for i, rejected in block.rejected]
        return columns.only(np.flatnonzero(symbols != CLOSELY)) if columns.rejected else columns


class ColumnWriter:
    """Writes released values as one pipeline's settings and one alphabet say."""

    def __init__(self, settings: RecordSettings, alphabet: Alphabet) -> None:
        self._definition = Writer(settings, alphabet)
        names = _plain_names(settings) if _members_table(alphabet) is not None else None
        self._pieces = None if names is None else _pieces(names, alphabet)

    def rewritten(self, text: bytes, symbol: int) -> bytes:
        """A released text that was written with the first value, with this one in its place."""
        pieces = self._pieces
        if pieces is None:
            return self._definition.rewritten(text, symbol)
        start = int(pieces.tail_ends[symbol - 1]) if symbol else 0
        return text[: len(text) - int(pieces.tail_ends[0])] + pieces.tails[start : pieces.tail_ends[symbol]].tobytes()

    def texts(self, columns: Columns, rows: Integers, symbols: Integers) -> Texts:
        """The released JSON of the events at `rows`, each with its released symbol."""
        documents = columns.documents
        if self._pieces is None:
            wanted = [documents[row] for row in rows.tolist()]
            data, ends = joined(self._definition.values(wanted, symbols.tolist()))
            return Texts(data[:-SPARE], ends)
        ready = Ready(_NOTHING, np.zeros(rows.shape[0], dtype=np.int64))
        if documents:
            was_read = np.zeros(len(columns.users), dtype=np.bool_)
            was_read[list(documents)] = True
            places = np.flatnonzero(was_read[rows])
            wanted = [documents[row] for row in rows[places].tolist()]
            data, written = joined(self._definition.values(wanted, symbols[places].tolist()))
            ready.lengths[places] = np.diff(written, prepend=0)
            ready = Ready(data, ready.lengths)
        ends = np.empty(rows.shape[0], dtype=np.int64)
        size = measure(columns.raw, rows, symbols, ready, self._pieces, ends)
        out = np.empty(size + SPARE, dtype=np.uint8)
        assemble(columns.raw, rows, symbols, ready, self._pieces, out)
        return Texts(out[:size], ends)


def _plain_names(settings: RecordSettings) -> list[str] | None:
    """The names of the public fields and then of the protected one, if the compiled way can serve these settings."""
    paths = (*settings.public, settings.protect.path)
    names = [str(path.steps[0]) for path in paths]
    served = (
        settings.user.path is None
        and settings.event_time.path is None
        and all(len(path.steps) == 1 for path in paths)
        and all(name and is_plain(name.encode("utf-8", "replace")) for name in names)
        and len(set(names)) == len(names) <= MOST_MEMBERS
    )
    return names if served else None


def _members_table(alphabet: Alphabet) -> Members | None:
    """Nothing for an alphabet that cannot list its members: the definition reads its records."""
    if isinstance(alphabet, Categories):
        return texts_table([value.encode() for value in alphabet.values])
    return integers_table(alphabet.low, alphabet.size) if isinstance(alphabet, IntegerRange) else None


def _pieces(names: list[str], alphabet: Alphabet) -> Pieces:
    tokens = [orjson.dumps(name) + b":" for name in names]
    tails = [tokens[-1] + orjson.dumps(alphabet.value_at(symbol)) + b"}" for symbol in range(alphabet.size)]
    return Pieces(*joined(tokens[:-1]), *joined(tails))


def _as_columns(block: Block, records: InputBlock) -> Columns:
    positions = np.array(block.positions, dtype=np.int64)
    return Columns(
        positions=positions,
        users=block.users,
        symbols=np.array(block.symbols, dtype=np.int64),
        times=np.array(block.times, dtype=np.int64),
        offsets=records.offsets[positions],
        rejected=block.rejected,
        raw=Joined(_NOTHING, np.empty((positions.shape[0], 0, 2), dtype=np.int64)),
        documents=dict(enumerate(block.documents)),
    )


def _named(columns: Columns, unreadable: Integers) -> Columns:
    """A record without a value is taken for a tombstone; these have none because their batch could not be read."""
    places = set(unreadable.tolist())
    reason = Rejected(UNREADABLE, WHOLE)
    columns.rejected = [(place, reason if place in places else found) for place, found in columns.rejected]
    return columns
