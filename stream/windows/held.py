"""What is held about a user between two events: the values that wait for their window's end, or a window without delay
that is still open. Raw values and secrets of the coin are in it, so it is sealed wherever it lies.

A held record is a clear head and a sealed body:

    offset  size
         0     1  version: 1, or 2 for an open window whose laws are over the states of its model
         1     1  kind: 0 = waiting values, 1 = an open window
         2     2  how many values wait
         4     4  the key's epoch
         8     8  watermark: the user's last offset; the nonce is made of it
        16     8  due: when the window is closed if nothing more comes, in milliseconds; -1 = never
        24        the body under ChaCha20-Poly1305, bound to this head and to the user

Version 2 also holds how often an open window's predictions may have rounded. An open window of version 1 was one of a
model of order 1, event by event: its states are its values, and that number is the number of its values.

The key is one of this purpose, pipeline, topic, partition and epoch. An offset belongs to one record, hence to one
user, and what is held after it depends on nothing but the records up to it; so no nonce is ever used for two texts.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from mechanisms.sequence.window_running import COUNT, Running
from stream.keys import KeyRing, derived_key
from stream.names import PURPOSE_HELD
from stream.windows.step import OpenWindow

HELD_BYTES_MAX: Final = 512 << 10
"""A window ends before more than this would wait: a held record must fit into the changelog's largest message."""
VERSION, OPEN_VERSION = 1, 2
WAITING, OPEN = 0, 1
NEVER: Final = -1

_SEAL_BYTES: Final = 16
_HEAD: Final = struct.Struct("<BBHIqq")
_NONCE: Final = struct.Struct(">qI")
_EVENT: Final = struct.Struct("<qqqIIH")
_HEADER: Final = struct.Struct("<HI")
_AMOUNTS: Final = struct.Struct("<5q")
_AMOUNTS_OF_WINDOW: Final = 3
_MARKS: Final = {VERSION: 3, OPEN_VERSION: 4}


class Unsealable(Exception):
    """A held record that cannot be read: damaged, of another version, or sealed with a key that is not in the ring."""


@dataclass(frozen=True, slots=True, repr=False)
class Waiting:
    """One event that waits. `appended` is the time of its record in the raw topic; `text` is its released record with
    the first value of the alphabet in it.
    """

    offset: int
    time: int
    appended: int
    symbol: int
    text: bytes
    headers: tuple[tuple[str, bytes], ...] = ()

    def __repr__(self) -> str:
        return f"Waiting(offset={self.offset})"

    @property
    def size(self) -> int:
        """Bytes of a held record. They do not depend on the value that waits."""
        headers = sum(_HEADER.size + len(name.encode()) + len(value) for name, value in self.headers)
        return _EVENT.size + len(self.text) + headers


class Head(NamedTuple):
    """The clear part of a held record."""

    version: int
    kind: int
    waiting: int
    epoch: int
    watermark: int
    due: int


def held_bytes_max(states: int) -> int:
    """The largest held record of a pipeline whose model has so many states."""
    amounts = _AMOUNTS.size + 8 * (_AMOUNTS_OF_WINDOW + _MARKS[OPEN_VERSION])
    return _HEAD.size + _SEAL_BYTES + max(HELD_BYTES_MAX, amounts + 16 * states)


def head_of(record: bytes) -> Head:
    if len(record) >= _HEAD.size:
        head = Head._make(_HEAD.unpack_from(record))
        if head.version == VERSION or (head.version, head.kind) == (OPEN_VERSION, OPEN):
            return head
    raise Unsealable("its head is not that of version 1, or of an open window of version 2")


def readable_head(record: bytes) -> Head | None:
    """None where the head cannot be read."""
    try:
        return head_of(record)
    except Unsealable:
        return None


class Seals:
    """Seals and opens the held records of one partition."""

    def __init__(self, ring: KeyRing, pipeline: str, topic_id: bytes, partition: int) -> None:
        name = f"{pipeline} {topic_id.hex()} {partition}"
        self._epoch = ring.current.number
        self._ciphers = {
            epoch.number: ChaCha20Poly1305(derived_key(epoch.secret, PURPOSE_HELD, name)) for epoch in ring.epochs
        }

    def has(self, epoch: int) -> bool:
        return epoch in self._ciphers

    def waiting(self, user: bytes, events: Sequence[Waiting], watermark: int, due: int) -> bytes:
        head = _HEAD.pack(VERSION, WAITING, len(events), self._epoch, watermark, due)
        return self._sealed(user, head, watermark, b"".join(map(_event_bytes, events)))

    def opened(self, user: bytes, window: OpenWindow, watermark: int) -> bytes:
        head = _HEAD.pack(OPEN_VERSION, OPEN, 0, self._epoch, watermark, NEVER)
        return self._sealed(user, head, watermark, _window_bytes(window))

    def unseal(self, user: bytes, record: bytes, watermark: int) -> list[Waiting] | OpenWindow:
        """What is held about this user, whose row says `watermark`; Unsealable if it cannot be trusted."""
        head = head_of(record)
        cipher = self._ciphers.get(head.epoch)
        if cipher is None:
            raise Unsealable(f"it was sealed with key epoch {head.epoch}, which the ring does not have")
        if head.watermark != watermark:
            raise Unsealable("it belongs to another state of its user")
        body = record[_HEAD.size :]
        try:
            plain = cipher.decrypt(_nonce(watermark), body, record[: _HEAD.size] + user)
        except InvalidTag:
            raise Unsealable("its seal is broken") from None
        return _window_of(plain, head.version) if head.kind == OPEN else _events_of(plain, head.waiting)

    def _sealed(self, user: bytes, head: bytes, watermark: int, plain: bytes) -> bytes:
        return head + self._ciphers[self._epoch].encrypt(_nonce(watermark), plain, head + user)


def _nonce(watermark: int) -> bytes:
    return _NONCE.pack(watermark, 0)


def _event_bytes(event: Waiting) -> bytes:
    numbers = (event.offset, event.time, event.appended, event.symbol, len(event.text), len(event.headers))
    parts = [_EVENT.pack(*numbers), event.text]
    for name, value in event.headers:
        text = name.encode()
        parts += (_HEADER.pack(len(text), len(value)), text, value)
    return b"".join(parts)


def _events_of(plain: bytes, count: int) -> list[Waiting]:
    events, at = [], 0
    for _ in range(count):
        offset, time, appended, symbol, length, headers = _EVENT.unpack_from(plain, at)
        at += _EVENT.size
        text, at = plain[at : at + length], at + length
        found = []
        for _ in range(headers):
            name, value = _HEADER.unpack_from(plain, at)
            at += _HEADER.size
            found.append((plain[at : at + name].decode(), plain[at + name : at + name + value]))
            at += name + value
        events.append(Waiting(offset, time, appended, symbol, text, tuple(found)))
    return events


def _window_bytes(window: OpenWindow) -> bytes:
    running = window.running
    amounts = _AMOUNTS.pack(window.units, window.drift, window.upper, window.lower, window.time)
    arrays = (running.marks, running.amounts, running.prior, running.belief)
    return amounts + b"".join(array.tobytes() for array in arrays)


def _window_of(plain: bytes, version: int) -> OpenWindow:
    units, drift, upper, lower, time = _AMOUNTS.unpack_from(plain)
    marks = np.frombuffer(plain, "<i8", _MARKS[version], _AMOUNTS.size)
    numbers = np.frombuffer(plain, "<f8", -1, _AMOUNTS.size + marks.nbytes)
    amounts, beliefs = numbers[:_AMOUNTS_OF_WINDOW].copy(), numbers[_AMOUNTS_OF_WINDOW:]
    states = beliefs.shape[0] // 2
    whole = np.append(marks, marks[COUNT]) if version == VERSION else marks.copy()
    running = Running(beliefs[:states].copy(), beliefs[states:].copy(), amounts, whole)
    return OpenWindow(running, units, drift, upper, lower, time)
