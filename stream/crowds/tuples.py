"""One event on its way to where crowds are made: who, when, and the cells of what people are grouped by.

A tuple is the value of a record without a key:

    offset  size
         0     1  version: 1
         1     1  0
         2     4  the partition of the raw topic
         6     4  the key's epoch
        10     8  the offset of the raw record
        18        the body under ChaCha20-Poly1305, bound to this head

In clear the body is

         0    16  the user's pseudonym
        16     8  the event's time, in milliseconds
        24   4 a  the cell of each attribute, in declared order
    24+4 a     4  the place of the sensitive value; 0 where none is declared

All numbers little-endian. All tuples of a pipeline have one length, so it says nothing. The nonce is the raw record's
offset, and the key is of the raw topic and its partition: what is sealed with it is a function of that one record, so
it is the same however often it is written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from stream import names
from stream.gathering.sealed import SEAL_BYTES, Ciphers, Unsealable
from stream.keys import PSEUDONYM_BYTES, KeyRing

VERSION: Final = 1

_HEAD: Final = struct.Struct("<BBIIq")
_NONCE: Final = struct.Struct(">qI")


class Head(NamedTuple):
    """The clear part of a tuple."""

    version: int
    flags: int
    partition: int
    epoch: int
    offset: int


class Event(NamedTuple):
    """One event; `user` is a pseudonym."""

    user: bytes
    time: int
    cells: tuple[int, ...]
    sensitive: int


class Opened(NamedTuple):
    head: Head
    event: Event


def readable_head(value: bytes | None) -> Head | None:
    """None where it is not one of version 1."""
    if value is None or len(value) < _HEAD.size + SEAL_BYTES:
        return None
    head = Head._make(_HEAD.unpack_from(value))
    return head if (head.version, head.flags) == (VERSION, 0) else None


def tuple_bytes(attributes: int) -> int:
    """How long every tuple is."""
    return _HEAD.size + SEAL_BYTES + _body(attributes).size


class Sealer:
    """Writes the tuples of one partition of the raw topic."""

    def __init__(self, ring: KeyRing, pipeline: str, topic_id: bytes, partition: int, attributes: int) -> None:
        self._ciphers, self._partition = _ciphers(ring, pipeline, topic_id, partition), partition
        self._body = _body(attributes)

    def seal(self, offset: int, event: Event) -> bytes:
        """The event of the raw record at this offset."""
        plain = self._body.pack(event.user, event.time, *event.cells, event.sensitive)
        head = _HEAD.pack(VERSION, 0, self._partition, self._ciphers.epoch, offset)
        return head + self._ciphers.encrypt(_NONCE.pack(offset, 0), plain, head)


class Opener:
    """Reads the tuples of these partitions of the raw topic; `sizes` are how many cells each attribute has."""

    def __init__(
        self, ring: KeyRing, pipeline: str, topic_id: bytes, sources: Iterable[int], sizes: Sequence[int], values: int
    ) -> None:
        self._ciphers: Mapping[int, Ciphers] = {
            source: _ciphers(ring, pipeline, topic_id, source) for source in sources
        }
        self._sizes, self._body = (*sizes, max(1, values)), _body(len(sizes))

    def open(self, value: bytes | None) -> Opened:
        """Unsealable where it is not a tuple of this pipeline."""
        head = readable_head(value)
        ciphers = None if head is None else self._ciphers.get(head.partition)
        if value is None or head is None or ciphers is None:
            raise Unsealable("its head is not that of version 1, or its partition is not one of those that come here")
        nonce = _NONCE.pack(head.offset, 0)
        plain = ciphers.decrypt(head.epoch, nonce, value[_HEAD.size :], value[: _HEAD.size])
        if len(plain) != self._body.size:
            raise Unsealable("it has another number of attributes than the settings")
        user, time, *cells = self._body.unpack(plain)
        if any(cell >= size for cell, size in zip(cells, self._sizes, strict=True)):
            raise Unsealable("its cells are not those of the settings")
        return Opened(head, Event(user, time, tuple(cells[:-1]), cells[-1]))


def _body(attributes: int) -> struct.Struct:
    return struct.Struct(f"<{PSEUDONYM_BYTES}sq{attributes}II")


def _ciphers(ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> Ciphers:
    return Ciphers(ring, names.PURPOSE_FORWARDED, f"{pipeline} {topic_id.hex()} {partition}")
