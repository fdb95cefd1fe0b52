"""A partition's part of some windows that it has closed, on the way to where those of all partitions meet.

It is an envelope that tells its parts (stream/gathering/envelopes.py): of windows that fit together into one, all of
them; of a window that does not fit alone, so many parts as it takes. In clear its body has for each window in order:

    size
       4  how many users there are, little-endian
          their entries (stream/crowds/entries.py), ascending by tag; none where there are more than can be held

Of a window in several parts each has the number of its own entries. So the length says how many users there are, which
everybody may know, and nothing of their values.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from stream.crowds.entries import Entries, EntryForm, Members
from stream.crowds.promise import CrowdPromise
from stream.gathering.envelopes import PARTED_HEAD_BYTES, Head, Receiver, Sender
from stream.gathering.people import People
from stream.gathering.sealed import SEAL_BYTES, Unsealable
from stream.settings.crowd import MOST_PEOPLE

WINDOWS_MAX: Final = 64
"""Fewer than the second stage releases with one envelope, so that what waits behind a gap grows less."""
BYTES_MAX: Final = 256 << 10

_COUNT: Final = struct.Struct("<I")


class Share(NamedTuple):
    """Of one window: how many users there are, and their entries, none where they are too many."""

    users: int
    entries: Entries


class Part(NamedTuple):
    """An envelope that was opened: the share of each of its windows."""

    head: Head
    shares: tuple[Share, ...]


def part_bytes_max() -> int:
    return PARTED_HEAD_BYTES + SEAL_BYTES + BYTES_MAX


class PartWriter:
    """Writes what one partition of the raw topic has of windows that it has closed."""

    def __init__(self, promise: CrowdPromise, people: People[Members], topic_id: bytes, partition: int) -> None:
        self._people, self._form, self._timing = people, EntryForm(promise), promise.windowed
        self._sender = Sender(promise.ring, promise.pipeline, topic_id, partition, parted=True)

    def write(self, written: int, closed: int) -> tuple[int, list[bytes]]:
        """As many windows as go into one envelope, or one that does not; answers up to when."""
        start, length = self._timing.start, self._timing.length
        until, room, texts = written, BYTES_MAX, list[bytes]()
        while until < closed and len(texts) < WINDOWS_MAX:
            number = (until - start) // length
            room -= self._bytes(len(self._people.tallies.get(number, ())))
            if room < 0 and texts:
                break
            members = self._people.close(number) or {}
            until += length
            if room < 0:
                return until, self._several(written, until, self._form.write(members))
            texts.append(_COUNT.pack(len(members)))
            if len(members) <= MOST_PEOPLE:
                texts[-1] += b"".join(self._form.write(members))
        return until, [self._sender.seal(written, until, b"".join(texts))]

    def _bytes(self, users: int) -> int:
        return _COUNT.size + (users * self._form.size if users <= MOST_PEOPLE else 0)

    def _several(self, closed_from: int, closed_to: int, entries: list[bytes]) -> list[bytes]:
        at_once = (BYTES_MAX - _COUNT.size) // self._form.size
        cut = [entries[at : at + at_once] for at in range(0, len(entries), at_once)]
        return [
            self._sender.seal(closed_from, closed_to, _COUNT.pack(len(some)) + b"".join(some), part, len(cut))
            for part, some in enumerate(cut)
        ]


class PartOpener:
    """Reads what these partitions of the raw topic have sent."""

    def __init__(self, promise: CrowdPromise, topic_id: bytes, partitions: range) -> None:
        timing = promise.windowed
        self._form, self._length = EntryForm(promise), timing.length
        self._receiver = Receiver(
            promise.ring,
            promise.pipeline,
            topic_id,
            partitions,
            start=timing.start,
            length=timing.length,
            parted=True,
        )

    def open(self, value: bytes | None) -> Part:
        """Unsealable where it is no envelope of this pipeline."""
        head, plain = self._receiver.open(value)
        shares, at = [], 0
        for _ in range((head.closed_to - head.closed_from) // self._length):
            if at + _COUNT.size > len(plain):
                raise Unsealable("it ends before its last window")
            (users,) = _COUNT.unpack_from(plain, at)
            end = at + _COUNT.size + (users * self._form.size if users <= MOST_PEOPLE else 0)
            if end > len(plain):
                raise Unsealable("it ends before its last user")
            shares.append(Share(users, self._form.read(plain[at + _COUNT.size : end])))
            at = end
        if at != len(plain):
            raise Unsealable("it goes on behind its last user")
        return Part(head, tuple(shares))
