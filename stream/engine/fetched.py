"""The bytes of a fetch as blocks of records, in one compiled call for thousands of them.

What a fetch holds is written by whoever may write to the raw topic, so nothing in it may stop the reading: names that
are no text are not looked at, a compressed batch may not grow beyond a bound, and a batch that cannot be read becomes
records that are `UNREADABLE`, as many as it claims to have. Only a wrong checksum is an error: it is damage on the way
or on a disk, never somebody's record, and reading again may help.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from aiokafka.errors import CorruptRecordException
from aiokafka.record.memory_records import MemoryRecords

from stream.engine.batches import HEADER
from stream.engine.checksum import crc32c
from stream.engine.compression import Unreadable, expand
from stream.engine.decoding import WIDTH, read_records
from stream.protocol.inputs import NOTHING, SPAN, SPARE, UNREADABLE, FetchedRecord, InputBlock, joined, number

# A larger block is not made at once, whatever its batches become; the rest of the fetch waits.
BLOCK_BYTES: Final = 16 << 20
# No producer puts more records into a batch; each costs 64 bytes here, and a compressed batch can claim any number.
BATCH_RECORDS_MAX: Final = 1 << 20

_FRAME: Final = struct.Struct(">qiib")  # up to the magic number, which stands at one place in all formats
_LENGTH_COUNTS_FROM: Final = 12
_CHECKED_FROM: Final = 21
_MAGIC: Final = 2
_COMPRESSION, _APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20
_MARKER: Final = struct.Struct(">hh")  # the key of a marker: version, and whether the transaction was committed
_ABORT: Final = 0


class _Header(NamedTuple):
    """The header of a batch of magic 2, in the order of the wire."""

    base: int
    length: int
    epoch: int
    magic: int
    checksum: int
    attributes: int
    last_delta: int
    first_time: int
    last_time: int
    producer: int
    producer_epoch: int
    sequence: int
    records: int


class _Run:
    """Batches that one compiled call reads: their records in one buffer, and where each batch lies in it."""

    def __init__(self) -> None:
        self._pieces: list[bytes | memoryview] = []
        self._table: list[tuple[int, ...]] = []
        self.size = 0
        self.records = 0

    def add(self, header: _Header, body: memoryview) -> None:
        fixed = bool(header.attributes & _APPEND_TIME)
        begin, end, count = UNREADABLE, UNREADABLE, header.records
        piece = _expanded(header, body)
        if piece is None:
            count = 1 if not 0 < count <= BATCH_RECORDS_MAX else count
        else:
            begin, end = self.size, self.size + len(piece)
            self._pieces.append(piece)
            self.size = end
        time = header.last_time if fixed else header.first_time
        self._table.append((begin, end, header.base, header.last_delta, time, fixed, count))
        self.records += count

    def read(self, first: int) -> InputBlock:
        """The records from offset `first` on."""
        buffer = b"".join([*self._pieces, bytes(SPARE)])
        offsets, timestamps = np.empty(self.records, np.int64), np.empty(self.records, np.int64)
        spans = np.empty((self.records, SPAN), np.int64)
        table = np.array(self._table, np.int64).reshape(-1, WIDTH)
        count = read_records(np.frombuffer(buffer, np.uint8), table, first, offsets, timestamps, spans)
        return InputBlock(buffer, offsets[:count], timestamps[:count], spans[:count])


class Fetched:
    """The records of one fetch from an offset on, without markers and without what was aborted."""

    def __init__(self, data: bytes, aborted: Sequence[tuple[int, int]], first: int) -> None:
        """`aborted` holds producers and the first offsets of their aborted transactions."""
        self._data = data
        self._at = 0
        self._aborted = sorted(aborted, key=lambda pair: pair[1])
        self._aborting: set[int] = set()
        self._left = NOTHING
        self._reached = first

    @property
    def next_offset(self) -> int:
        """All records before it have been taken."""
        return int(self._left.offsets[0]) if self._left else self._reached

    @property
    def ended(self) -> bool:
        return not self._left and self._frame() is None

    def take(self, most: int | None) -> InputBlock:
        """The next records, at most so many; none where what is left holds none that anybody shall see."""
        block = self._left or self._read(most)
        cut = len(block) if most is None else most
        self._left = block[cut:]
        return block[:cut]

    def _read(self, wanted: int | None) -> InputBlock:
        """The next batches: enough for so many records, unless the fetch or the room ends before."""
        blocks: list[InputBlock] = []
        run, first = _Run(), self._reached
        while (frame := self._frame()) is not None and run.size < BLOCK_BYTES:
            end, magic = frame
            if magic == _MAGIC:
                self._add(run, memoryview(self._data)[self._at : end])
            else:
                blocks += [run.read(first), self._old_batch(end, first)]
                run = _Run()
            self._at = end
            if wanted is not None and run.records >= wanted:
                break
        return joined([*blocks, run.read(first)])

    def _frame(self) -> tuple[int, int] | None:
        """Where the next batch ends, and its format; None behind the last, which the brokers may have cut off."""
        if len(self._data) - self._at < _FRAME.size:
            return None
        _, length, _, magic = _FRAME.unpack_from(self._data, self._at)
        end = self._at + _LENGTH_COUNTS_FROM + length
        if length < 0 or (magic == _MAGIC and length < HEADER.size - _LENGTH_COUNTS_FROM):
            raise CorruptRecordException
        return (end, magic) if end <= len(self._data) else None

    def _add(self, run: _Run, batch: memoryview) -> None:
        header = _Header(*HEADER.unpack_from(batch))
        if crc32c(batch[_CHECKED_FROM:]) != header.checksum & 0xFFFFFFFF:
            raise CorruptRecordException
        body = batch[HEADER.size :]
        if self._visible(header, body):
            run.add(header, body)
        self._reached = header.base + header.last_delta + 1

    def _visible(self, header: _Header, body: memoryview) -> bool:
        while self._aborted and self._aborted[0][1] <= header.base + header.last_delta:
            self._aborting.add(self._aborted.pop(0)[0])
        if header.attributes & _CONTROL:
            if _is_abort(bytes(body)):
                self._aborting.discard(header.producer)
            return False
        return not (header.attributes & _TRANSACTIONAL and header.producer in self._aborting)

    def _old_batch(self, end: int, first: int) -> InputBlock:
        """A batch in a format of before 2017, which has no headers and no transactions; the library reads it."""
        batch: Any = MemoryRecords(self._data[self._at : end]).next_batch()
        if not batch.validate_crc():
            raise CorruptRecordException
        records = list(batch)
        self._reached = records[-1].offset + 1 if records else batch.next_offset
        wanted = [record for record in records if record.offset >= first]
        return InputBlock.of([FetchedRecord(one.offset, _time_of(one), one.key, one.value, []) for one in wanted])


def _expanded(header: _Header, body: memoryview) -> bytes | memoryview | None:
    """The records of a batch, or None if they cannot be had."""
    if not 0 < header.records <= BATCH_RECORDS_MAX:
        return None if header.records or body else body
    if not header.attributes & _COMPRESSION:
        return body
    try:
        return expand(header.attributes & _COMPRESSION, bytes(body))
    except Unreadable:
        return None


def _time_of(old: Any) -> int:
    """The first format has no times; Kafka says -1 for none."""
    return -1 if old.timestamp is None else int(old.timestamp)


def _is_abort(marker: bytes) -> bool:
    """A marker is a record: length, attributes, two deltas, and a key that says what it marks."""
    _, at = number(marker, 0)
    _, at = number(marker, at + 1)
    _, at = number(marker, at)
    _, at = number(marker, at)
    return bool(_MARKER.unpack_from(marker, at)[1] == _ABORT)


def warm_up() -> None:
    """Compile the kernel, or load it; the first time takes seconds."""
    _Run().read(0)
