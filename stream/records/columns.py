"""A block of records read and written as columns: what `Reader` and `Writer` say, at a fraction of their price.

`Reader.read` and `Writer.value` stay the definition. Where the settings allow it (the user is the record's key, the
time is the record's own, all protected and public fields lie at the first level), one compiled scan recognises
plain records and the definition reads only the others; where they do not, the definition reads them all. Either way
the answers are the same, and tests hold the two together. Numbers and places that belong to cells, amounts and lists
are always read by the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from beliefs.checks import require
from stream.names import UNREADABLE
from stream.protocol.inputs import KEY, SPARE, InputBlock
from stream.protocol.texts import Texts
from stream.records.assemble import Joined, Pieces, Ready, Reported, assemble, joined, joined_reports, measure
from stream.records.fields import FieldForm, Reading, as_columns
from stream.records.lookups import (
    ABSENT,
    CLOSELY,
    Integers,
    Members,
    Names,
    integers_table,
    names_table,
    side_by_side,
    texts_table,
)
from stream.records.parse import WHOLE, Reader
from stream.records.paths import Path
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
    reason. `fields` has an array for each field that is protected by itself, made as by `as_columns`. The rest belongs
    to the writer: the raw texts, the places of the public values in them, and the documents of those events, by their
    index, that the definition has read.
    """

    positions: Integers
    users: list[bytes]
    symbols: Integers
    times: Integers
    offsets: Integers
    rejected: list[tuple[int, Rejected]]
    raw: Joined
    documents: dict[int, dict[str, Any]]
    fields: tuple[Integers, ...] = ()

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
            fields=tuple(symbols[kept] for symbols in self.fields),
        )


class ColumnReader:
    """Reads blocks of records as one pipeline's settings, one alphabet and the forms of further fields say."""

    def __init__(self, settings: RecordSettings, alphabet: Alphabet, fields: tuple[FieldForm, ...] = ()) -> None:
        self._definition = Reader(settings, alphabet, fields)
        self._max_bytes, self._fields = settings.max_bytes, fields
        self._follows = settings.protect.path is not None
        self._served = _served(settings, alphabet, fields)
        self._strangers = np.empty((MOST_MEMBERS, 2), dtype=np.int64)

    def read(self, records: InputBlock) -> Columns:
        """Read every record of a block. Never raises, whatever the bytes are."""
        if self._served is None:
            columns = self._as_columns(self._definition.read_block(records), records)
        else:
            columns = self._scan(records, *self._served)
        unreadable = records.unreadable()
        return _named(columns, unreadable) if unreadable.shape[0] else columns

    def _scan(self, records: InputBlock, names: Names, members: Members) -> Columns:
        count = len(records)
        sources = Sources(np.frombuffer(records.buffer, np.uint8), records.spans, records.timestamps, self._max_bytes)
        places = np.empty((count, names.ends.shape[0], 2), dtype=np.int64)
        symbols = np.empty((members.tables.shape[0], count), dtype=np.int64)
        closely = scan(sources, names, members, self._strangers, places, symbols)
        users: list[Any] = records.texts(KEY)  # a record without a key is looked at closely, and is refused there
        columns = Columns(
            positions=np.arange(count, dtype=np.int64),
            users=users,
            symbols=symbols[0] if self._follows else np.zeros(count, dtype=np.int64),
            times=records.timestamps,
            offsets=records.offsets,
            rejected=[],
            raw=Joined(sources.data, places),
            documents={},
            fields=tuple(symbols[1:] if self._follows else symbols),
        )
        return columns if closely == 0 else self._look_closely(records, columns, np.flatnonzero(symbols[0] == CLOSELY))

    def _look_closely(self, records: InputBlock, columns: Columns, closely: Integers) -> Columns:
        """Let the definition read what was not plain. Users and times of its events are those of the columns."""
        block = self._definition.read_block([records[position] for position in closely.tolist()])
        accepted = closely[block.positions]
        columns.symbols[accepted] = block.symbols
        for symbols, found in zip(columns.fields, as_columns(block.fields, self._fields), strict=True):
            symbols[accepted] = found
        columns.documents = dict(zip(accepted.tolist(), block.documents, strict=True))
        columns.rejected = [(int(closely[i]), rejected) for i, rejected in block.rejected]
        if not columns.rejected:
            return columns
        return columns.only(np.delete(columns.positions, [position for position, _ in columns.rejected]))

    def _as_columns(self, block: Block, records: InputBlock) -> Columns:
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
            fields=as_columns(block.fields, self._fields),
        )


class ColumnWriter:
    """Writes released values and reports as one pipeline's settings, one alphabet and the forms of its fields say."""

    def __init__(self, settings: RecordSettings, alphabet: Alphabet, fields: tuple[FieldForm, ...] = ()) -> None:
        self._definition = Writer(settings, alphabet, fields)
        self._fields = fields
        served = _served(settings, alphabet, fields) is not None
        self._pieces = _pieces(settings, alphabet, fields) if served else None

    def rewritten(self, text: bytes, symbol: int) -> bytes:
        """A released text that was written with the first value, with this one in its place."""
        pieces = self._pieces
        if pieces is None or self._fields:
            return self._definition.rewritten(text, symbol)
        start = int(pieces.released_ends[symbol - 1]) if symbol else 0
        released = pieces.released[start : pieces.released_ends[symbol] - 1].tobytes()
        return text[: len(text) - int(pieces.released_ends[0])] + released + b"}"

    def texts(self, columns: Columns, rows: Integers, symbols: Integers, reports: Sequence[Reported] = ()) -> Texts:
        """The released JSON of the events at `rows`, each with its released symbol and, of each field, its report."""
        require(len(reports) == len(self._fields), "there is one entry for each field")
        documents = columns.documents
        if self._pieces is None:
            data, ends = joined(self._defined(documents, rows, symbols, reports))
            return Texts(data[:-SPARE], ends)
        ready = Ready(_NOTHING, np.zeros(rows.shape[0], dtype=np.int64))
        if documents:
            was_read = np.zeros(len(columns.users), dtype=np.bool_)
            was_read[list(documents)] = True
            places = np.flatnonzero(was_read[rows])
            some = [report._replace(at=report.at[places]) for report in reports]
            data, written = joined(self._defined(documents, rows[places], symbols[places], some))
            ready.lengths[places] = np.diff(written, prepend=0)
            ready = Ready(data, ready.lengths)
        told = joined_reports(reports, rows.shape[0])
        ends = np.empty(rows.shape[0], dtype=np.int64)
        size = measure(columns.raw, rows, symbols, told, ready, self._pieces, ends)
        out = np.empty(size + SPARE, dtype=np.uint8)
        assemble(columns.raw, rows, symbols, told, ready, self._pieces, out)
        return Texts(out[:size], ends)

    def _defined(
        self, documents: dict[int, dict[str, Any]], rows: Integers, symbols: Integers, reports: Sequence[Reported]
    ) -> list[bytes]:
        wanted = [documents[row] for row in rows.tolist()]
        if not reports:
            return self._definition.values(wanted, symbols.tolist())
        told = [[texts.text(i) if i != ABSENT else None for i in at.tolist()] for texts, at in reports]
        return self._definition.values(wanted, symbols.tolist(), zip(*told, strict=True))


def _served(
    settings: RecordSettings, alphabet: Alphabet, fields: tuple[FieldForm, ...]
) -> tuple[Names, Members] | None:
    """The names of the public fields and then of all protected ones, and the values of these, if the compiled way can
    serve them.
    """
    names = _plain_names(settings, fields)
    alphabets = (*(() if settings.protect.path is None else (alphabet,)), *(form.alphabet for form in fields))
    tables = [_members_table(each) for each in alphabets]
    members = [table for table in tables if table is not None]
    if names is None or not members or len(members) < len(tables):
        return None
    return names_table([name.encode() for name in names]), side_by_side(members)


def _plain_names(settings: RecordSettings, fields: tuple[FieldForm, ...]) -> list[str] | None:
    """The names of the public fields, of the protected one and of the others, if the compiled way can serve them."""
    follows = settings.protect.path
    paths = (*settings.public, *(() if follows is None else (follows,)), *(form.path for form in fields))
    names = [str(path.steps[0]) for path in paths]
    served = (
        settings.user.path is None
        and settings.event_time.path is None
        and all(len(path.steps) == 1 for path in paths)
        and all(name and is_plain(name.encode("utf-8", "replace")) for name in names)
        and len(set(names)) == len(names) <= MOST_MEMBERS
        and all(form.at_most is None for form in fields)
    )
    return names if served else None


def _members_table(alphabet: Reading) -> Members | None:
    """Nothing for an alphabet that cannot list its members: the definition reads its records."""
    if isinstance(alphabet, Categories):
        return texts_table([value.encode() for value in alphabet.values])
    return integers_table(alphabet.low, alphabet.size) if isinstance(alphabet, IntegerRange) else None


def _pieces(settings: RecordSettings, alphabet: Alphabet, fields: tuple[FieldForm, ...]) -> Pieces:
    released = [b""]
    if settings.protect.path is not None:
        name, values = _named_as(settings.protect.path), map(alphabet.value_at, range(alphabet.size))
        released = [name + orjson.dumps(value) + b"," for value in values]
    public, reported = map(_named_as, settings.public), (_named_as(form.path) for form in fields)
    return Pieces(*joined(list(public)), *joined(released), *joined(list(reported)))


def _named_as(path: Path) -> bytes:
    return orjson.dumps(path.steps[0]) + b":"


def _named(columns: Columns, unreadable: Integers) -> Columns:
    """A record without a value is taken for a tombstone; these have none because their batch could not be read."""
    places = set(unreadable.tolist())
    reason = Rejected(UNREADABLE, WHOLE)
    columns.rejected = [(place, reason if place in places else found) for place, found in columns.rejected]
    return columns
