"""With the key ring: the sums of every window are opened, and what was released is those sums with the key's noise.

The sums of a partition travel sealed through the topic of partials:

    version 1, a byte 0, then partition, key epoch (4 bytes each), closed_from, closed_to (8 bytes each, little-endian)
    the cells of the windows between these two times, 8 bytes each, under ChaCha20-Poly1305 bound to that head

The key is HKDF-SHA256 of the epoch's secret with the info "sottovoce", "partial" and "<pipeline> <raw topic's id>
<partition>", separated by zero bytes; the nonce is closed_to, big-endian, and four zero bytes. The key of the noise is
made in the same way with "noise" and "<pipeline> <raw topic's id>".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from fractions import Fraction

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from stream.audit.aggregate_noise import Draws
from stream.audit.aggregate_rules import Asked, Windows
from stream.audit.aggregate_values import scales_with
from stream.audit.findings import Findings
from stream.audit.records import Record

_HEAD = struct.Struct("<BBIIqq")
_TAG = 16

Sums = dict[int, list[int]]


def derived(secret: bytes, purpose: str, name: str) -> bytes:
    info = b"\0".join([b"sottovoce", purpose.encode(), name.encode()])
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret)


class Opened:
    """The sums of all windows, from the topic of partials; `ring_keys` are those of the ring by their epoch."""

    def __init__(
        self, windows: Windows, ring_keys: Mapping[int, bytes], topic_id: bytes, partitions: int, findings: Findings
    ) -> None:
        self._windows, self._findings, self._partitions = windows, findings, partitions
        name = f"{windows.pipeline} {topic_id.hex()}"
        self._ciphers = {
            (epoch, partition): ChaCha20Poly1305(derived(secret, "partial", f"{name} {partition}"))
            for epoch, secret in ring_keys.items()
            for partition in range(partitions)
        }
        self._noise_keys = {epoch: derived(secret, "noise", name) for epoch, secret in ring_keys.items()}
        self._epochs: dict[int, int] = {}
        self._closed = [windows.start] * partitions
        self._sums: Sums = {}
        self._missing: set[int] = set()

    def take(self, records: Iterable[Record], where: str) -> None:
        for record in records:
            if not self._take(record.value or b""):
                self._findings.add("partial_unreadable", places=[f"{where}, offset {record.offset}"])

    def _take(self, value: bytes) -> bool:
        """False where this is no partial of the pipeline."""
        if len(value) < _HEAD.size + _TAG:
            return False
        version, flags, partition, epoch, first, last = _HEAD.unpack_from(value)
        cipher = self._ciphers.get((epoch, partition))
        if (version, flags) != (1, 0) or cipher is None:
            return False
        try:
            plain = cipher.decrypt(struct.pack(">qI", last, 0), value[_HEAD.size :], value[: _HEAD.size])
        except InvalidTag:
            return False
        cells, length = self._windows.cells, self._windows.length
        count = (last - first) // length
        if len(plain) != 8 * cells * count or first != self._windows.start + self._number(first) * length:
            return False
        if last <= self._closed[partition]:
            self._findings.add("partial_twice")
            return True
        if first < self._closed[partition]:
            return False
        if first > self._closed[partition]:
            self._missing.update(range(self._number(self._closed[partition]), self._number(first)))
        self._closed[partition] = last
        for place, row in enumerate(struct.iter_unpack(f"<{cells}q", plain), self._number(first)):
            self._epochs[place] = max(epoch, self._epochs.get(place, epoch))
            sums = self._sums.setdefault(place, [0] * cells)
            self._sums[place] = [one + two for one, two in zip(sums, row, strict=True)]
        return True

    def check(self, number: int, shown: Mapping[int, Mapping[int, int]], times: Fraction) -> None:
        """What was shown of a released window is its sums with the noise of its coins, of the latest key epoch that a
        partition's sums were sealed with: any other would be a second draw.
        """
        complete = all(closed >= self._windows.start + (number + 1) * self._windows.length for closed in self._closed)
        if not complete or number in self._missing:
            self._findings.add("window_early", places=[f"window {number}"])
            return
        sums, key = self._sums.pop(number), self._noise_keys[self._epochs.pop(number)]
        if not self._agrees(key, number, shown, sums, times):
            self._findings.add("wrong_noise", places=[f"window {number}"])

    def check_missing(self, number: int) -> None:
        """A window that was withheld for it lacks some partition's sums."""
        if number not in self._missing:
            self._findings.add("aggregate_needless", places=[f"window {number}"])

    def _agrees(
        self, key: bytes, number: int, shown: Mapping[int, Mapping[int, int]], sums: list[int], times: Fraction
    ) -> bool:
        at = 0
        for place, asked in enumerate(self._windows.asked):
            noisy = _noisy(asked, Draws(key, number, place), sums[at : at + asked.cells], times)
            at += asked.cells
            if any(noisy[cell] != value for cell, value in shown[place].items()) or not _tops(
                asked, noisy, shown[place]
            ):
                return False
        return True

    def _number(self, time: int) -> int:
        return (time - self._windows.start) // self._windows.length


def _noisy(asked: Asked, draws: Draws, sums: list[int], times: Fraction) -> list[int]:
    scales = scales_with(asked, times)
    if len(scales) == 1:
        return [value + draws.one(scales[0]) for value in sums]
    return [value + draws.one(scale) for value, scale in zip(sums, scales, strict=True)]


def _tops(asked: Asked, noisy: list[int], shown: Mapping[int, int]) -> bool:
    """Of the cells that are not shown none is larger than one that is."""
    if asked.shown is None:
        return len(shown) == len(noisy)
    wanted = sorted(range(len(noisy)), key=lambda cell: (-noisy[cell], cell))[: asked.shown]
    return list(shown) == wanted
