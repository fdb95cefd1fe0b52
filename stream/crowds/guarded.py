"""Whom the guard remembers, as it is held in the changelog: sealed, and little of it where few people change.

Each group that is new has an entry: all its tags, or those in exactly one of it and the group before, whichever is
less; every 64th is whole, so that earlier entries can go. An entry is one record or several, of which each stands under
b"g<window>:<piece>":

    offset  size
         0     1  version: 1
         1     1  1 where it is a difference, 0 where it is whole
         2     4  the key's epoch
         6     8  the number of the window
        14     4  which piece this is, from 0, and
        18     4  of how many
        22        the tags, eight bytes each, ascending, under ChaCha20-Poly1305, bound to this head

All numbers big-endian. The nonce is the window's number and the piece: a window is released once, and its people are a
function of what the partitions have sent of it; so no nonce is used for two texts.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from stream import names
from stream.crowds.guard import REMEMBERED, Guard, Tags, difference
from stream.gathering.sealed import SEAL_BYTES, Ciphers, Unsealable
from stream.keys import KeyRing

VERSION: Final = 1
PIECE_BYTES: Final = 256 << 10
WHOLE, DIFFERENCE = 0, 1

_HEAD: Final = struct.Struct(">BBIqII")
_NONCE: Final = struct.Struct(">qI")
_TAG: Final = np.dtype(">u8")


def guard_bytes_max() -> int:
    """The largest record."""
    return _HEAD.size + SEAL_BYTES + PIECE_BYTES


class _Entry(NamedTuple):
    window: int
    kind: int
    pieces: int


class GuardedPeople:
    """The guard of one stream of windows, and what is to be held so that it can go on."""

    def __init__(self, k: int, ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> None:
        self._k, self._ciphers = k, Ciphers(ring, names.PURPOSE_CROWD, f"{pipeline} {topic_id.hex()} {partition}")
        self.adopt({})

    def adopt(self, held: Mapping[bytes, bytes]) -> None:
        """Begin with these records; Unsealable where one cannot be read."""
        self._entries: list[_Entry] = []
        self._changed: dict[bytes, bytes] = {}
        groups: list[Tags] = []
        for entry, tags in self._read(held):
            if entry.kind == DIFFERENCE and not groups:
                raise Unsealable("it begins with a difference")
            groups.append(difference(groups[-1], tags) if entry.kind == DIFFERENCE else tags)
            self._entries.append(entry)
        self._guard = Guard(self._k, groups)

    @property
    def entries(self) -> int:
        """How many are held."""
        return len(self._entries)

    def allows(self, people: Tags) -> bool:
        return self._guard.allows(people)

    def remember(self, window: int, people: Tags) -> None:
        """This window is released."""
        before = self._guard.latest
        if not self._guard.remember(people):
            return
        kind, tags = WHOLE, people
        since = next((at for at, entry in enumerate(reversed(self._entries)) if entry.kind == WHOLE), REMEMBERED)
        if before is not None and since < REMEMBERED - 1:
            changed = difference(before, people)
            if changed.size < people.size:
                kind, tags = DIFFERENCE, changed
        self._write(window, kind, tags)
        self._drop()

    def changes(self) -> dict[bytes, bytes]:
        """What is to be held now, of what has changed since this was asked before."""
        changed, self._changed = self._changed, {}
        return changed

    def _write(self, window: int, kind: int, tags: Tags) -> None:
        plain = tags.astype(_TAG).tobytes()
        cut = [plain[at : at + PIECE_BYTES] for at in range(0, max(1, len(plain)), PIECE_BYTES)]
        for piece, some in enumerate(cut):
            head = _HEAD.pack(VERSION, kind, self._ciphers.epoch, window, piece, len(cut))
            self._changed[_key(window, piece)] = head + self._ciphers.encrypt(_NONCE.pack(window, piece), some, head)
        self._entries.append(_Entry(window, kind, len(cut)))

    def _drop(self) -> None:
        """Entries that no group needs that is remembered."""
        needed = max(0, len(self._entries) - REMEMBERED)
        while self._entries[needed].kind == DIFFERENCE:
            needed -= 1
        for entry in self._entries[:needed]:
            for piece in range(entry.pieces):
                self._changed[_key(entry.window, piece)] = b""
        del self._entries[:needed]

    def _read(self, held: Mapping[bytes, bytes]) -> list[tuple[_Entry, Tags]]:
        pieces: dict[_Entry, dict[int, bytes]] = {}
        for record in held.values():
            if len(record) < _HEAD.size + SEAL_BYTES or record[0] != VERSION:
                raise Unsealable("it is too short, or of another version")
            _, kind, epoch, window, piece, count = _HEAD.unpack_from(record)
            nonce, head = _NONCE.pack(window, piece), record[: _HEAD.size]
            plain = self._ciphers.decrypt(epoch, nonce, record[_HEAD.size :], head)
            pieces.setdefault(_Entry(window, kind, count), {})[piece] = plain
        found = []
        for entry, parts in sorted(pieces.items()):
            if sorted(parts) != list(range(entry.pieces)):
                raise Unsealable("a piece of it is missing")
            text = b"".join(parts[piece] for piece in range(entry.pieces))
            found.append((entry, np.frombuffer(text, _TAG).astype(np.uint64)))
        return found


def _key(window: int, piece: int) -> bytes:
    return names.CHANGELOG_GUARD_PREFIX + b"%d:%d" % (window, piece)
