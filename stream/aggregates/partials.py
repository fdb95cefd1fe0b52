"""A partition's sums of some windows that it has closed, on the way to where those of all partitions meet.

A partial is the value of a record without a key:

    offset  size
         0     1  version: 1
         1     1  0
         2     4  the partition
         6     4  the key's epoch
        10     8  closed_from and
        18     8  closed_to: the windows are those between these two times, in milliseconds
        26        the sums under ChaCha20-Poly1305, bound to this head

In clear the sums are eight bytes for each cell of each window, little-endian, windows without users the same as
others: the length says nothing. The nonce is closed_to: a partition closes a window once, by its own records and
committed clock marks, so the sums that go with it are the same however often they are written.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from mechanisms.contract import Integers
from stream import names
from stream.aggregates.contributions import Cells
from stream.aggregates.sealed import SEAL_BYTES, Ciphers, Unsealable
from stream.keys import KeyRing

VERSION: Final = 1
WINDOWS_MAX: Final = 256
"""So many windows are released in about 0.4 s, even where a month of minutes counts towards their target."""
BYTES_MAX: Final = 256 << 10

_HEAD: Final = struct.Struct("<BBIIqq")
_NONCE: Final = struct.Struct(">qI")


class Head(NamedTuple):
    """The clear part of a partial."""

    version: int
    flags: int
    partition: int
    epoch: int
    closed_from: int
    closed_to: int


class Partial(NamedTuple):
    """A partial that was opened; `sums` has a row for each window."""

    head: Head
    sums: Integers


def readable_head(value: bytes | None) -> Head | None:
    """None where it is not one of version 1."""
    if value is None or len(value) < _HEAD.size + SEAL_BYTES:
        return None
    head = Head._make(_HEAD.unpack_from(value))
    return head if (head.version, head.flags) == (VERSION, 0) else None


def windows_at_once(cells: int) -> int:
    """How many windows one record holds at most: one at least."""
    room = BYTES_MAX - _HEAD.size - SEAL_BYTES
    return max(1, min(WINDOWS_MAX, room // (8 * cells)))


def partial_bytes_max(cells: int) -> int:
    return _HEAD.size + SEAL_BYTES + 8 * cells * windows_at_once(cells)


class Sealer:
    """Writes the partials of one partition of the raw topic."""

    def __init__(self, ring: KeyRing, pipeline: str, topic_id: bytes, partition: int, cells: int) -> None:
        self._ciphers, self._partition = _ciphers(ring, pipeline, topic_id, partition), partition
        self._row = struct.Struct(f"<{cells}q")
        self._nobody = bytes(self._row.size)

    def seal(self, closed_from: int, closed_to: int, sums: Sequence[Cells | None]) -> bytes:
        """The sums of the windows in this order; None of a window to which nobody has contributed."""
        plain = b"".join([self._nobody if row is None else self._row.pack(*row) for row in sums])
        head = _HEAD.pack(VERSION, 0, self._partition, self._ciphers.epoch, closed_from, closed_to)
        return head + self._ciphers.encrypt(_NONCE.pack(closed_to, 0), plain, head)


class Opener:
    """Reads the partials of all partitions of the raw topic, whose windows have this length."""

    def __init__(
        self, ring: KeyRing, pipeline: str, topic_id: bytes, partitions: int, *, cells: int, start: int, length: int
    ) -> None:
        self._ciphers = [_ciphers(ring, pipeline, topic_id, partition) for partition in range(partitions)]
        self._cells, self._start, self._length = cells, start, length

    def open(self, value: bytes | None) -> Partial:
        """Unsealable where it is not a partial of this pipeline."""
        head = readable_head(value)
        if value is None or head is None or head.partition >= len(self._ciphers):
            raise Unsealable("its head is not that of version 1, or its partition is not one of the raw topic's")
        ciphers = self._ciphers[head.partition]
        nonce = _NONCE.pack(head.closed_to, 0)
        plain = ciphers.decrypt(head.epoch, nonce, value[_HEAD.size :], value[: _HEAD.size])
        windows, rest = divmod(head.closed_to - head.closed_from, self._length)
        whole = rest == 0 and (head.closed_from - self._start) % self._length == 0 and windows > 0
        if not whole or len(plain) != 8 * self._cells * windows:
            raise Unsealable("its windows are not those of the settings")
        return Partial(head, np.frombuffer(plain, "<i8").reshape(windows, self._cells))


def _ciphers(ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> Ciphers:
    return Ciphers(ring, names.PURPOSE_PARTIAL, f"{pipeline} {topic_id.hex()} {partition}")
