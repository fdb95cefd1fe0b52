"""The users of one partition who have contributed to windows that are open, and how they stand in the store.

What is kept here is a copy of the committed store, in clear and ready to be added to. It is changed while a block is
prepared, before its transaction commits, and that is sound: a transaction that fails ends the session, and whoever goes
on begins with `adopt`, out of the store. Users bear pseudonyms wherever they are written.

A record of a user, under the pseudonym:

    offset  size
         0     1  version: 1
         1     1  0
         2     2  to how many windows
         4     4  the key's epoch
         8     8  the offset of the user's last event that counted; the nonce is made of it
        16     8  the number of the last of these windows
        24        the contributions under ChaCha20-Poly1305, bound to this head and to the pseudonym

An offset belongs to one record, hence to one user; and what is sealed with it is what the user had contributed when
that record had been carried out, to windows that were not yet written: a function of the records up to it and of the
clock marks between them, which are committed before anything is closed by them. So no nonce is ever used for two texts,
wherever blocks are cut and however often they are repeated. A user all of whose windows are written is over: the record
is deleted, not sealed again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from stream import names
from stream.gathering.sealed import SEAL_BYTES, Ciphers, Unsealable
from stream.keys import KeyRing, Pseudonyms

VERSION: Final = 1
HELD_BYTES_MAX: Final = 512 << 10
"""A user's record must fit into the changelog's largest message, whatever times somebody has sent."""

_HEAD: Final = struct.Struct("<BBHIqq")
_NONCE: Final = struct.Struct(">qI")
_EMPTY: Final = b""

Contribution = list[int]
"""What one user gives to one window: whole numbers, as the rules understand them."""
Tally = TypeVar("Tally")


class Rules(Protocol[Tally]):
    """What an event does to a contribution, and a contribution to what its window holds of all users."""

    longest: int
    """So many numbers has a contribution at most."""

    def empty(self) -> Tally:
        """What a window holds of nobody."""

    def begin(self, key: bytes, time: int, values: Sequence[int], tally: Tally) -> Contribution:
        """The first event of a user, whose pseudonym this is, in a window."""

    def change(self, mine: Contribution, time: int, values: Sequence[int], tally: Tally) -> bool:
        """A further event; answers whether it was new."""

    def add(self, key: bytes, mine: Contribution, tally: Tally) -> None:
        """Put a whole contribution into what its window holds."""


def held_bytes_max() -> int:
    """The largest record."""
    return _HEAD.size + SEAL_BYTES + HELD_BYTES_MAX


class Head(NamedTuple):
    """The clear part of a record."""

    version: int
    flags: int
    windows: int
    epoch: int
    offset: int
    last: int


def readable_head(record: bytes) -> Head | None:
    """None where it is not one of version 1."""
    if len(record) < _HEAD.size + SEAL_BYTES:
        return None
    head = Head._make(_HEAD.unpack_from(record))
    return head if (head.version, head.flags) == (VERSION, 0) and head.windows > 0 else None


class Person:
    """One user; `windows` are the contributions by the numbers of their windows."""

    __slots__ = ("changed", "key", "last", "offset", "user", "windows")

    def __init__(self, key: bytes, user: bytes | None, offset: int, last: int) -> None:
        self.key, self.user, self.offset, self.last = key, user, offset, last
        self.windows: dict[int, Contribution] = {}
        self.changed = False


class People(Generic[Tally]):
    """All of one partition. `tallies` are what every window holds to which somebody has contributed."""

    def __init__(self, rules: Rules[Tally], ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> None:
        name = f"{pipeline} {topic_id.hex()} {partition}"
        self._rules, self._ciphers = rules, Ciphers(ring, names.PURPOSE_CONTRIBUTION, name)
        self._pseudonym = Pseudonyms(ring, pipeline).of
        self._most = max(1, HELD_BYTES_MAX // (8 * (2 + rules.longest)))
        self._shapes: dict[int, struct.Struct] = {}
        self._clear()

    def _clear(self) -> None:
        self._known: dict[bytes, Person] = {}
        self._strangers: dict[bytes, Person] = {}
        self._unreadable: dict[bytes, int] = {}
        self._ending: dict[int, list[Person]] = {}
        self._changed: list[Person] = []
        self._over: dict[bytes, None] = {}
        self.tallies: dict[int, Tally] = {}

    def adopt(self, held: Iterable[tuple[bytes, bytes]], kept_from: int) -> set[int]:
        """Forget everything and begin with these records; answers the key epochs that are missing in the ring. Windows
        before `kept_from` are written.
        """
        self._clear()
        missing: set[int] = set()
        for key, record in held:
            head = readable_head(record)
            if head is not None and not self._ciphers.has(head.epoch):
                missing.add(head.epoch)
            else:
                self._adopt_one(key, record, head, kept_from)
        return missing

    def _adopt_one(self, key: bytes, record: bytes, head: Head | None, kept_from: int) -> None:
        """A record that cannot be read keeps its user out until the windows that it names are closed."""
        if head is None:
            self._unreadable[key] = -1
            return
        try:
            windows = self._unsealed(key, record, head)
        except Unsealable:
            self._unreadable[key] = head.last
            return
        person = Person(key, None, head.offset, head.last)
        person.windows = windows
        self._strangers[key] = person
        self._ending.setdefault(head.last, []).append(person)
        for window, mine in windows.items():
            if window >= kept_from:
                self._rules.add(key, mine, self._tally(window))

    def find(self, user: bytes) -> Person | None:
        """The user, who may be new; None where what is known about the user cannot be read."""
        person = self._known.get(user)
        if person is not None:
            return person
        key = self._pseudonym(user)
        if key in self._unreadable:
            return None
        person = self._strangers.pop(key, None) or Person(key, None, -1, -1)
        person.user = user
        self._known[user] = person
        return person

    def take(
        self, person: Person, offset: int, window: int, time: int, values: tuple[int, ...], kept_from: int
    ) -> bool | None:
        """Add an event; answers whether it was new, or None where the user already contributes to as many open windows
        as a record holds: then nothing has changed. What was contributed to closed windows is dropped.
        """
        mine = person.windows.get(window)
        if mine is None:
            kept = person.windows
            if kept and min(kept) < kept_from:
                kept = {number: contribution for number, contribution in kept.items() if number >= kept_from}
            if len(kept) >= self._most:
                return None
            person.windows = kept
            kept[window] = self._rules.begin(person.key, time, values, self._tally(window))
            if window > person.last:
                person.last = window
                self._ending.setdefault(window, []).append(person)
            new = True
        else:
            new = self._rules.change(mine, time, values, self.tallies[window])
        person.offset = offset
        if not person.changed:
            person.changed = True
            self._changed.append(person)
        return new

    def close(self, window: int) -> Tally | None:
        """What a window holds, None if nobody has contributed; users who have contributed to no later one are over."""
        for person in self._ending.pop(window, ()):
            if person.last == window:
                self._over[person.key] = None
                if person.user is None:
                    self._strangers.pop(person.key, None)
                else:
                    self._known.pop(person.user, None)
                person.windows = {}
        for key in [key for key, last in self._unreadable.items() if last <= window]:
            del self._unreadable[key]
            self._over[key] = None
        return self.tallies.pop(window, None)

    def written(self) -> dict[bytes, bytes]:
        """What is to be held now about users of whom something has changed since this was asked before: sealed, or
        nothing where they are over.
        """
        held = dict.fromkeys(self._over, _EMPTY)
        for person in self._changed:
            person.changed = False
            if person.windows:
                held[person.key] = self._sealed(person)
        self._changed, self._over = [], {}
        return held

    def _tally(self, window: int) -> Tally:
        tally = self.tallies.get(window)
        if tally is None:
            tally = self.tallies[window] = self._rules.empty()
        return tally

    def _sealed(self, person: Person) -> bytes:
        numbers: list[int] = []
        for window, mine in person.windows.items():
            numbers.append(window)
            numbers.append(len(mine))
            numbers += mine
        head = _HEAD.pack(VERSION, 0, len(person.windows), self._ciphers.epoch, person.offset, person.last)
        plain = self._shape(len(numbers)).pack(*numbers)
        return head + self._ciphers.encrypt(_NONCE.pack(person.offset, 0), plain, head + person.key)

    def _unsealed(self, key: bytes, record: bytes, head: Head) -> dict[int, Contribution]:
        clear, body = record[: _HEAD.size], record[_HEAD.size :]
        plain = self._ciphers.decrypt(head.epoch, _NONCE.pack(head.offset, 0), body, clear + key)
        numbers, windows, at = self._shape(len(plain) // 8).unpack(plain), {}, 0
        for _ in range(head.windows):
            window, length = numbers[at], numbers[at + 1]
            windows[window] = list(numbers[at + 2 : at + 2 + length])
            at += 2 + length
        return windows

    def _shape(self, numbers: int) -> struct.Struct:
        shape = self._shapes.get(numbers)
        if shape is None:
            shape = self._shapes[numbers] = struct.Struct(f"<{numbers}q")
        return shape
