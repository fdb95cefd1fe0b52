"""With the key ring: what partitions have sent of their windows is opened, and held against who was there.

A record of the internal topic that is of windows:

    version 1, a byte 1, then partition, key epoch (4 bytes each), closed_from, closed_to (8 bytes each), which part
    this is and of how many (4 bytes each), all little-endian; then under ChaCha20-Poly1305, bound to that head, of each
    window how many users there are (4 bytes) and, of 200,000 at most, each one's tag (16 bytes), type (2), household,
    time of the event that these are of, and cells (8 bytes each)

The key is that of partials of aggregates; the nonce is closed_to (8 bytes) and the part (4), big-endian. The tag of a
user is HMAC-SHA256 under the key "pseudonym" of the ring's first epoch and the pipeline's name, cut to 16 bytes.
"""

from __future__ import annotations

import hmac
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from stream.audit.aggregate_noise import Draws
from stream.audit.aggregate_opened import derived
from stream.audit.crowd_events import Present
from stream.audit.crowd_present import People
from stream.audit.crowd_rules import MOST_PEOPLE, Crowds
from stream.audit.findings import Findings
from stream.audit.records import Record

_HEAD = struct.Struct("<BBIIqqII")
_SEAL = 16

Row = tuple[bytes, int, int, tuple[int, ...]]
"""Of a user: tag, place of the type, time, cells."""


def tags_of(ring_keys: Mapping[int, bytes], pipeline: str) -> bytes:
    """The key that users' tags come from."""
    return derived(ring_keys[min(ring_keys)], "pseudonym", pipeline)


def tag_of(key: bytes, user: bytes) -> bytes:
    return hmac.digest(key, user, "sha256")[:16]


@dataclass
class _Sender:
    closed: int
    part: int = 0
    missing: set[int] = field(default_factory=set)


class Sent:
    """What has been sent of all windows; `ring_keys` are the ring's keys by their epochs."""

    def __init__(
        self, crowds: Crowds, ring_keys: Mapping[int, bytes], topic_id: bytes, partitions: int, findings: Findings
    ) -> None:
        if crowds.timing is None:
            raise ValueError("without windows nothing is sent of them")
        self._crowds, self._timing, self._findings = crowds, crowds.timing, findings
        self._name = f"{crowds.pipeline} {topic_id.hex()}"
        self._ring_keys = ring_keys
        self._tags = tags_of(ring_keys, crowds.pipeline)
        self._ciphers = {
            (epoch, partition): ChaCha20Poly1305(derived(secret, "partial", f"{self._name} {partition}"))
            for epoch, secret in ring_keys.items()
            for partition in range(partitions)
        }
        self._senders = [_Sender(self._timing.start) for _ in range(partitions)]
        self._epochs: dict[tuple[int, int], int] = {}
        self._rows: dict[tuple[int, int], list[Row]] = defaultdict(list)
        asked = crowds.asked
        self._cells = max(1, len(asked.attributes) + (asked.mixed is not None))
        self._row = struct.Struct(f"<16sHqq{self._cells}q")

    def take(self, records: Iterable[Record], where: str) -> None:
        for record in records:
            wrong = self._take(record.value or b"")
            if wrong:
                self._findings.add(wrong, places=[f"{where}, offset {record.offset}"])

    def _take(self, value: bytes) -> str | None:
        """The code of what is wrong."""
        if len(value) < _HEAD.size + _SEAL:
            return "crowd_sent_unreadable"
        version, flags, partition, epoch, first, last, part, parts = _HEAD.unpack_from(value)
        cipher = self._ciphers.get((epoch, partition))
        if (version, flags) != (1, 1) or cipher is None:
            return "crowd_sent_unreadable"
        try:
            plain = cipher.decrypt(struct.pack(">qI", last, part), value[_HEAD.size :], value[: _HEAD.size])
        except InvalidTag:
            return "crowd_sent_unreadable"
        sender, length = self._senders[partition], self._timing.length
        if last <= sender.closed or first < sender.closed or (first == sender.closed and part < sender.part):
            return "partial_twice"
        if first > sender.closed or part > sender.part:
            until = last if part else first
            sender.missing.update(range(self._timing.number(sender.closed), self._timing.number(until)))
            sender.closed, sender.part = until, 0
            if part:
                return None
        self._read(partition, epoch, self._timing.number(first), (last - first) // length, plain)
        sender.part = part + 1
        if sender.part == parts:
            sender.closed, sender.part = last, 0
        return None

    def _read(self, partition: int, epoch: int, number: int, windows: int, plain: bytes) -> None:
        at, group = 0, 0 if self._crowds.over_all else partition
        for window in range(number, number + windows):
            self._epochs[group, window] = max(epoch, self._epochs.get((group, window), 0))
            (users,) = struct.unpack_from("<I", plain, at)
            at += 4
            rows = self._rows[partition, window]
            for _ in range(users if users <= MOST_PEOPLE else 0):
                tag, kind, _, time, *cells = self._row.unpack_from(plain, at)
                rows.append((tag, kind, time, tuple(cells)))
                at += self._row.size

    def is_missing(self, group: int, number: int) -> bool:
        """Whether some partition's people of a window never came."""
        return any(number in sender.missing for sender in self._of(group))

    def is_closed(self, group: int, number: int) -> bool:
        """Whether all partitions have sent theirs."""
        end = self._timing.start + (number + 1) * self._timing.length
        return all(sender.closed >= end for sender in self._of(group))

    def _of(self, group: int) -> list[_Sender]:
        return self._senders if self._crowds.over_all else [self._senders[group]]

    def draws(self, group: int, number: int) -> Draws:
        """The noise of a window, from the latest epoch that its people were sealed with."""
        secret = self._ring_keys[self._epochs[group, number]]
        name = self._name if self._crowds.over_all else f"{self._name} {group}"
        return Draws(derived(secret, "noise", name), number, 0)

    def differs(self, group: int, number: int, parts: Mapping[int, People]) -> list[int]:
        """The partitions that have sent others than were there; `parts` are these, by partition."""
        wrong = []
        for partition in range(len(self._senders)) if self._crowds.over_all else [group]:
            rows = self._rows.pop((partition, number), None)
            people = parts.get(partition, {})
            if rows is not None and len(people) <= MOST_PEOPLE and sorted(rows) != sorted(self._wanted(people)):
                wrong.append(partition)
        return wrong

    def _wanted(self, people: People) -> Iterable[Row]:
        for user, present in people.items():
            yield tag_of(self._tags, user), self._kind(present), present.time, self._cells_of(present)

    def _kind(self, present: Present) -> int:
        believed = self._crowds.believed
        return list(believed.types).index(present.kind) if believed is not None and present.kind else 0

    def _cells_of(self, present: Present) -> tuple[int, ...]:
        asked = self._crowds.asked
        if not asked.attributes:
            return present.values
        pairs = zip(asked.attributes, present.values, strict=True)
        cells = tuple(cell + (each.steps.low if each.steps is not None else 0) for each, cell in pairs)
        return (*cells, present.secret) if asked.mixed is not None else cells
