"""A partition's sums of some windows that it has closed, on the way to where those of all partitions meet.

A partial is an envelope without parts (stream/gathering/envelopes.py). In clear its body is eight bytes for each cell
of each window, little-endian, windows without users the same as others: the length says nothing.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import numpy as np

from mechanisms.contract import Integers
from stream.aggregates.contributions import Cells
from stream.gathering.envelopes import HEAD_BYTES, Head, Receiver, Sender
from stream.gathering.people import People
from stream.gathering.sealed import SEAL_BYTES, Unsealable
from stream.keys import KeyRing

WINDOWS_MAX: Final = 256
"""So many windows are released in about 0.4 s, even where a month of minutes counts towards their target."""
BYTES_MAX: Final = 256 << 10


class Partial(NamedTuple):
    """A partial that was opened; `sums` has a row for each window."""

    head: Head
    sums: Integers


def windows_at_once(cells: int) -> int:
    """How many windows one record holds at most: one at least."""
    room = BYTES_MAX - HEAD_BYTES - SEAL_BYTES
    return max(1, min(WINDOWS_MAX, room // (8 * cells)))


def partial_bytes_max(cells: int) -> int:
    return HEAD_BYTES + SEAL_BYTES + 8 * cells * windows_at_once(cells)


class Writer:
    """Writes the partials of one partition of the raw topic out of what its people have contributed."""

    def __init__(self, people: People[Cells], sender: Sender, cells: int, *, start: int, length: int) -> None:
        self._people, self._sender = people, sender
        self._row = struct.Struct(f"<{cells}q")
        self._nobody = bytes(self._row.size)
        self._start, self._length = start, length
        self._at_once = windows_at_once(cells)

    def write(self, written: int, closed: int) -> tuple[int, list[bytes]]:
        """One partial of the windows from the first of these times on; answers up to when."""
        until = min(closed, written + self._at_once * self._length)
        numbers = range((written - self._start) // self._length, (until - self._start) // self._length)
        sums = [self._people.close(number) for number in numbers]
        plain = b"".join([self._nobody if row is None else self._row.pack(*row) for row in sums])
        return until, [self._sender.seal(written, until, plain)]


class Opener:
    """Reads the partials of all partitions of the raw topic."""

    def __init__(
        self, ring: KeyRing, pipeline: str, topic_id: bytes, partitions: int, *, cells: int, start: int, length: int
    ) -> None:
        self._receiver = Receiver(ring, pipeline, topic_id, range(partitions), start=start, length=length)
        self._cells, self._length = cells, length

    def open(self, value: bytes | None) -> Partial:
        """Unsealable where it is not a partial of this pipeline."""
        head, plain = self._receiver.open(value)
        windows = (head.closed_to - head.closed_from) // self._length
        if len(plain) != 8 * self._cells * windows:
            raise Unsealable("its windows are not those of the settings")
        return Partial(head, np.frombuffer(plain, "<i8").reshape(windows, self._cells))
