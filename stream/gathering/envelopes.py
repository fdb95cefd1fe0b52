"""What a partition sends of windows that it has closed, on the way to where those of all partitions meet.

It is the value of a record without a key:

    offset  size
         0     1  version: 1
         1     1  flags: 1 where the parts are told, else 0
         2     4  the partition
         6     4  the key's epoch
        10     8  closed_from and
        18     8  closed_to: the windows are those between these two times, in milliseconds
        26     4  with flag 1: which part of them this is, from 0, and
        30     4  of how many
                  the body under ChaCha20-Poly1305, bound to this head

All numbers are little-endian. The nonce is closed_to and the part: a partition closes a window once, by its own records
and committed clock marks, so what goes with it is the same however often it is written.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from stream import names
from stream.gathering.sealed import SEAL_BYTES, Ciphers, Unsealable
from stream.keys import KeyRing

VERSION: Final = 1
PARTED: Final = 1
"""The flag of an envelope that says which part it is."""

_HEAD: Final = struct.Struct("<BBIIqq")
_PARTS: Final = struct.Struct("<II")
_NONCE: Final = struct.Struct(">qI")

HEAD_BYTES: Final = _HEAD.size
PARTED_HEAD_BYTES: Final = _HEAD.size + _PARTS.size


class Head(NamedTuple):
    """The clear part of an envelope."""

    version: int
    flags: int
    partition: int
    epoch: int
    closed_from: int
    closed_to: int
    part: int = 0
    parts: int = 1


def readable_head(value: bytes | None) -> Head | None:
    """None where it is not one of version 1."""
    if value is None or len(value) < HEAD_BYTES + SEAL_BYTES:
        return None
    head = Head(*_HEAD.unpack_from(value))
    if head.version != VERSION or head.flags not in (0, PARTED):
        return None
    if head.flags == 0:
        return head
    if len(value) < PARTED_HEAD_BYTES + SEAL_BYTES:
        return None
    part, parts = _PARTS.unpack_from(value, HEAD_BYTES)
    return head._replace(part=part, parts=parts) if part < parts else None


class Sender:
    """Seals what one partition of the raw topic sends; `parted` where windows may take several envelopes."""

    def __init__(self, ring: KeyRing, pipeline: str, topic_id: bytes, partition: int, *, parted: bool = False) -> None:
        self._ciphers, self._partition = _ciphers(ring, pipeline, topic_id, partition), partition
        self._flags = PARTED if parted else 0

    def seal(self, closed_from: int, closed_to: int, plain: bytes, part: int = 0, parts: int = 1) -> bytes:
        head = _HEAD.pack(VERSION, self._flags, self._partition, self._ciphers.epoch, closed_from, closed_to)
        if self._flags == PARTED:
            head += _PARTS.pack(part, parts)
        return head + self._ciphers.encrypt(_NONCE.pack(closed_to, part), plain, head)


class Receiver:
    """Opens what these partitions send, whose windows begin at `start` and have this length."""

    def __init__(
        self,
        ring: KeyRing,
        pipeline: str,
        topic_id: bytes,
        partitions: range,
        *,
        start: int,
        length: int,
        parted: bool = False,
    ) -> None:
        self._ciphers = {partition: _ciphers(ring, pipeline, topic_id, partition) for partition in partitions}
        self._flags = PARTED if parted else 0
        self._start, self._length = start, length

    def open(self, value: bytes | None) -> tuple[Head, bytes]:
        """Unsealable where it is not an envelope of this pipeline."""
        head = readable_head(value)
        if value is None or head is None or head.flags != self._flags or head.partition not in self._ciphers:
            raise Unsealable("its head is not that of version 1, or its partition is not one of the raw topic's")
        at = PARTED_HEAD_BYTES if head.flags == PARTED else HEAD_BYTES
        nonce = _NONCE.pack(head.closed_to, head.part)
        plain = self._ciphers[head.partition].decrypt(head.epoch, nonce, value[at:], value[:at])
        windows, rest = divmod(head.closed_to - head.closed_from, self._length)
        if rest or (head.closed_from - self._start) % self._length or windows < 1 or (head.parts > 1 and windows > 1):
            raise Unsealable("its windows are not those of the settings")
        return head, plain


def _ciphers(ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> Ciphers:
    return Ciphers(ring, names.PURPOSE_PARTIAL, f"{pipeline} {topic_id.hex()} {partition}")
