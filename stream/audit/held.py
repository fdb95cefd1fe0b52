"""What windows hold about users between two events, as far as it is in the clear: a head of 24 bytes before a sealed
body. The number of values that wait is part of the account; the watermark must be that of the user's row. What waits is
of version 1; an open window may be of version 2, whose body holds more.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import Integers
from stream.audit.rows import StoredRows
from stream.audit.window_book import Cut

WAITING, OPEN = 0, 1
VERSION, OPEN_VERSION = 1, 2
_HEAD: Final = struct.Struct("<BBHIqq")  # version, kind, values that wait, epoch of the key, watermark, when it is due


class Held(NamedTuple):
    """One user's held record; kind -1 where it cannot be read."""

    kind: int
    waiting: int
    watermark: int
    offset: int


def read_held(record: bytes, offset: int) -> Held:
    if len(record) < _HEAD.size:
        return Held(-1, 0, -1, offset)
    version, kind, waiting, _, watermark, _ = _HEAD.unpack_from(record)
    readable = version == VERSION or (version == OPEN_VERSION and kind == OPEN)
    return Held(kind, waiting, watermark, offset) if readable else Held(-1, 0, -1, offset)


def waiting_of(held: Mapping[bytes, Held], users: Mapping[bytes, int]) -> Integers:
    """How many values of each of these users wait."""
    waiting = np.zeros(len(users), dtype=np.int64)
    for user, record in held.items():
        if user in users and record.kind == WAITING:
            waiting[users[user]] = record.waiting
    return waiting


class Seen(NamedTuple):
    """What the released topic says of each user: that a window is open, or that it may be."""

    is_open: NDArray[np.bool_]
    may_be_open: NDArray[np.bool_]


def wrongly_held(cut: Cut | None, held: Mapping[bytes, Held], stored: StoredRows, seen: Seen) -> list[int]:
    """Offsets of held records that do not go with their user's row or with the settings, and of rows of users whose
    window is open and of whom nothing is held.
    """
    judged = [(stored.users.get(user, -1), record) for user, record in held.items() if user not in stored.quarantined]
    wrong = [record.offset for user, record in judged if not _fits(cut, record, stored, user, seen)]
    bare = [number for user, number in stored.users.items() if seen.is_open[number] and user not in held]
    return wrong + [int(stored.offsets[number]) for number in bare]


def _fits(cut: Cut | None, record: Held, stored: StoredRows, user: int, seen: Seen) -> bool:
    if cut is None or user < 0 or record.watermark != stored.rows["watermark"][user]:
        return False
    if cut.natural:
        return record.kind == OPEN and bool(seen.may_be_open[user])
    return record.kind == WAITING and 0 < record.waiting < cut.events and int(stored.rows["flags"][user]) == 0
