"""A block of raw records as places in the bytes that the brokers sent: no object for a record until somebody asks.

To everybody else it is the sequence of records that it stands for.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from stream.protocol.ports import InputRecord

Integers = NDArray[np.int64]

# The columns of `spans`: where a record's key, value and headers begin and end. What it does not have begins at ABSENT;
# a record whose batch could not be read has a value that begins at UNREADABLE, and nothing else.
KEY, KEY_END, VALUE, VALUE_END, HEADERS, HEADERS_END = range(6)
SPAN: Final = 6
ABSENT: Final = -1
UNREADABLE: Final = -2
# Zero bytes behind the last record: compiled code looks ahead by a word, and a walk over text ends at a zero byte.
SPARE: Final = 8

Header = tuple[str, bytes | None]


class FetchedRecord(NamedTuple):
    """One record, taken out of its block."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]

    def __repr__(self) -> str:
        return f"FetchedRecord(offset={self.offset})"


class InputBlock(Sequence[FetchedRecord]):
    """Consecutive records of one partition; nothing in it is changed once it is made.

    Headers are as they stand on the wire: nobody has looked at them.
    """

    __slots__ = ("buffer", "offsets", "spans", "timestamps")

    def __init__(self, buffer: bytes, offsets: Integers, timestamps: Integers, spans: Integers) -> None:
        count = offsets.shape[0]
        require(timestamps.shape == (count,) and spans.shape == (count, SPAN), "a block has one entry for each record")
        self.buffer, self.offsets, self.timestamps, self.spans = buffer, offsets, timestamps, spans

    @classmethod
    def of(cls, records: Sequence[InputRecord]) -> "InputBlock":
        """The same records as a block."""
        buffer = bytearray()
        spans = np.full((len(records), SPAN), ABSENT, np.int64)
        for span, record in zip(spans, records, strict=True):
            headers = encode_headers(record.headers)
            for begin, text in ((KEY, record.key), (VALUE, record.value), (HEADERS, headers)):
                if text is not None:
                    span[begin], span[begin + 1] = len(buffer), len(buffer) + len(text)
                    buffer += text
        return cls(
            bytes(buffer + bytes(SPARE)),
            np.array([record.offset for record in records], np.int64),
            np.array([record.timestamp for record in records], np.int64),
            spans,
        )

    def __repr__(self) -> str:
        return f"InputBlock(records={len(self)})"

    @property
    def value_bytes(self) -> int:
        return int((self.spans[:, VALUE_END] - self.spans[:, VALUE]).sum())

    def texts(self, begin: int) -> list[bytes | None]:
        """The KEY, or the VALUE, of every record."""
        buffer, spans = self.buffer, self.spans[:, begin : begin + 2].tolist()
        return [buffer[start:end] if start >= 0 else None for start, end in spans]

    def headers(self, place: int) -> list[Header]:
        return decode_headers(self._text(place, HEADERS) or b"\0")

    def unreadable(self) -> Integers:
        """The places of the records whose batch could not be read."""
        return np.flatnonzero(self.spans[:, VALUE] == UNREADABLE)

    def __len__(self) -> int:
        return int(self.offsets.shape[0])

    def __iter__(self) -> Iterator[FetchedRecord]:
        return (self._record(place) for place in range(len(self)))

    @overload
    def __getitem__(self, place: int) -> FetchedRecord: ...
    @overload
    def __getitem__(self, place: slice) -> "InputBlock": ...
    def __getitem__(self, place: int | slice) -> "FetchedRecord | InputBlock":
        if isinstance(place, slice):
            return InputBlock(self.buffer, self.offsets[place], self.timestamps[place], self.spans[place])
        return self._record(range(len(self))[place])

    def _record(self, place: int) -> FetchedRecord:
        return FetchedRecord(
            int(self.offsets[place]),
            int(self.timestamps[place]),
            self._text(place, KEY),
            self._text(place, VALUE),
            self.headers(place),
        )

    def _text(self, place: int, begin: int) -> bytes | None:
        start, end = self.spans[place, begin : begin + 2].tolist()
        return self.buffer[start:end] if start >= 0 else None


NOTHING: Final = InputBlock.of([])


def joined(blocks: Sequence[InputBlock]) -> InputBlock:
    """Several blocks, one behind the other, as one, with no more of their bytes than their records need."""
    if len(blocks) == 1:
        return blocks[0]
    pieces: list[bytes] = []
    spans: list[Integers] = []
    size = 0
    for block in blocks:
        there = block.spans >= 0
        start = int(block.spans.min(initial=len(block.buffer), where=there))
        end = int(block.spans.max(initial=start, where=there))
        spans.append(np.where(there, block.spans + (size - start), block.spans))
        pieces.append(block.buffer[start:end])
        size += end - start
    return InputBlock(
        b"".join([*pieces, bytes(SPARE)]),
        np.concatenate([block.offsets for block in blocks]),
        np.concatenate([block.timestamps for block in blocks]),
        np.concatenate(spans),
    )


def before(blocks: Iterable[InputBlock], end: int | None, most: int) -> int:
    """How many records, the first ones of these blocks and at most so many, stand before this offset."""
    if end is None:
        return most
    count = 0
    for block in blocks:
        fitting = int(np.searchsorted(block.offsets, end))
        count += fitting
        if fitting < len(block) or count >= most:
            break
    return min(count, most)


def encode_headers(headers: Sequence[Header]) -> bytes:
    """As they stand in a record of Kafka: how many, then name and value of each behind their lengths."""
    wire = bytearray(_encoded_number(len(headers)))
    for name, value in headers:
        for text in (name.encode(), value):
            wire += _encoded_number(-1) if text is None else _encoded_number(len(text)) + text
    return bytes(wire)


def decode_headers(wire: bytes) -> list[Header]:
    """The headers of a record; whoever made the block has seen that they are complete. Bytes of a name that are no
    text are replaced, so such a name is never one that somebody has chosen.
    """
    count, at = number(wire, 0)
    headers: list[Header] = []
    for _ in range(count):
        length, at = number(wire, at)
        name, at = wire[at : at + length].decode(errors="replace"), at + length
        length, at = number(wire, at)
        headers.append((name, wire[at : at + length] if length >= 0 else None))
        at += max(length, 0)
    return headers


def number(wire: bytes, at: int) -> tuple[int, int]:
    """The zigzag varint here, and the place behind it."""
    raw = shift = 0
    while wire[at] & 0x80:
        raw |= (wire[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    raw |= wire[at] << shift
    return (raw >> 1) ^ -(raw & 1), at + 1


def _encoded_number(value: int) -> bytes:
    rest, wire = (value << 1) if value >= 0 else ~(value << 1), bytearray()
    while rest > 0x7F:
        wire.append(rest & 0x7F | 0x80)
        rest >>= 7
    wire.append(rest)
    return bytes(wire)
