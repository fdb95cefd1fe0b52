"""How far a flow of crowds has come, as it stands in the changelog beside the events that wait.

The mark:

    offset  size
         0     1  version: 1
         1     4  the key's epoch
         5     8  the offset of the last record of the topic that was carried out
        13     4  the turn: how often events have gone out by the clock since then
        17     8  the clock: the latest time, in milliseconds
        25     8  how many events were taken: each has its number, from 0
        33     8  how many records were released: each has its number, from 0
        41     4  how many events wait
        45     4  how many partitions of the raw topic come together here; then of each
        49     8  the raw offset of its last event, or -1
     49+8 P       what the grouper knows beside the events that wait, under ChaCha20-Poly1305, bound to all before it

All numbers big-endian. The nonce is the last offset (8) and the turn (4). What the grouper knows then is a function of
the records up to that one and of the clock marks between them, which are committed before anything goes out by them;
so no nonce is ever used for two texts, wherever blocks are cut and however often they are repeated.

An event that waits stands under its number, in decimal digits:

         0     1  version: 1
         1     8  when it arrived, in milliseconds, big-endian
         9        the tuple as it came, sealed
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from beliefs.checks import require
from stream import names
from stream.gathering.sealed import SEAL_BYTES, Ciphers, Unsealable
from stream.keys import KeyRing

VERSION: Final = 1
KNOWN_BYTES_MAX: Final = 640 << 10
"""What a grouper knows, at most: 2,048 boxes of 8 attributes take 200 KiB, what it knows of 10,000 events that wait
30 KiB, and the counts of 256 sensitive values in each of its boxes 360 KiB.
"""
NEVER: Final = -1

_HEAD: Final = struct.Struct(">BIqIqqqII")
_NONCE: Final = struct.Struct(">qI")
_ARRIVAL: Final = struct.Struct(">Bq")


@dataclass(slots=True)
class Standing:
    """`seen` are the raw offsets of the last event of each partition."""

    seen: list[int]
    last: int = NEVER
    turn: int = 0
    clock: int = 0
    taken: int = 0
    released: int = 0
    waiting: int = 0


class Marks:
    """Writes and reads the marks of one flow."""

    def __init__(self, ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> None:
        self._ciphers = Ciphers(ring, names.PURPOSE_FLOW, f"{pipeline} {topic_id.hex()} {partition}")

    def encode(self, standing: Standing, known: bytes) -> bytes:
        require(len(known) <= KNOWN_BYTES_MAX, "what a grouper knows fits into a record of the changelog")
        now = standing
        numbers = (now.last, now.turn, now.clock, now.taken, now.released, now.waiting, len(now.seen))
        head = _HEAD.pack(VERSION, self._ciphers.epoch, *numbers) + struct.pack(f">{len(now.seen)}q", *now.seen)
        return head + self._ciphers.encrypt(_NONCE.pack(now.last, now.turn), known, head)

    def decode(self, mark: bytes) -> tuple[Standing, bytes]:
        """The standing and what the grouper knows; Unsealable where the text is no such mark."""
        if len(mark) < _HEAD.size or mark[0] != VERSION:
            raise Unsealable("the mark is too short, or of another version")
        _, epoch, last, turn, clock, taken, released, waiting, count = _HEAD.unpack_from(mark)
        end = _HEAD.size + 8 * count
        if len(mark) < end + SEAL_BYTES:
            raise Unsealable("the mark is too short")
        seen = list(struct.unpack_from(f">{count}q", mark, _HEAD.size))
        known = self._ciphers.decrypt(epoch, _NONCE.pack(last, turn), mark[end:], mark[:end])
        return Standing(seen, last, turn, clock, taken, released, waiting), known


def mark_bytes_max(partitions: int) -> int:
    return _HEAD.size + 8 * partitions + KNOWN_BYTES_MAX + SEAL_BYTES


def held_bytes(tuple_bytes: int) -> int:
    """How long an event that waits is, whose tuple has so many bytes."""
    return _ARRIVAL.size + tuple_bytes


def encode_waiting(arrival: int, value: bytes) -> bytes:
    return _ARRIVAL.pack(VERSION, arrival) + value


def decode_waiting(held: bytes) -> tuple[int, bytes]:
    """When it arrived, and the tuple as it came; Unsealable where the text is no such event."""
    if len(held) < _ARRIVAL.size or held[0] != VERSION:
        raise Unsealable("an event is too short, or of another version")
    return int(_ARRIVAL.unpack_from(held)[1]), held[_ARRIVAL.size :]
