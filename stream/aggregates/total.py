"""The second stage of windows of aggregates: the partials of all partitions are added up, and every window is released
once, in order, with noise that is its own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stream.aggregates.ledger import Decision, Ledger
from stream.aggregates.partials import Opener, Partial
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.release import Releases
from stream.aggregates.standing import decode_losses, encode_losses
from stream.gathering.second import RawTopic, SecondStage
from stream.gathering.standing import Standing
from stream.protocol.ports import Outgoing


class Window(NamedTuple):
    """One window that has its record now."""

    number: int
    decision: Decision


class TotalTold(NamedTuple):
    """What a block released, for whoever watches: its windows in order, up to when all windows have their record, how
    many partials wait, and how far the partitions have closed.
    """

    windows: list[Window]
    released_to: int
    waiting: int
    closed_to: tuple[int, ...]


class TotalPipeline(SecondStage[Partial, Window]):
    """The second stage; `topic` is the one with the partials."""

    def __init__(self, promise: AggregatePromise, raw: RawTopic, topic: str) -> None:
        self._promise, self._ledger = promise, Ledger(promise)
        self._releases = Releases(promise, raw.id)
        opener = Opener(
            promise.ring,
            promise.pipeline,
            raw.id,
            raw.partitions,
            cells=promise.cells,
            start=promise.start,
            length=promise.length,
        )
        super().__init__(promise, promise.ring, opener, range(raw.partitions), topic)

    def warm_up(self) -> None:
        """Compile what draws noise; nothing of it stays."""
        nobody, epoch = np.zeros(self._promise.cells, np.int64), self._promise.ring.current.number
        self._releases.record(0, nobody, Decision(None, 0, 0, 0), epoch)

    def _release(self, number: int, sent: Sequence[Partial], *, missing: bool) -> tuple[list[Outgoing], Window]:
        """The cells over the partitions whose sums are there, with the noise of the latest key epoch that they were
        sealed with.
        """
        decision, start = self._ledger.decide(missing=missing), self._promise.start + number * self._promise.length
        sums, latest = np.zeros(self._promise.cells, dtype=np.int64), 0
        for head, rows in sent:
            sums += rows[(start - head.closed_from) // self._promise.length]
            latest = max(latest, head.epoch)
        return [self._releases.record(number, sums, decision, latest)], Window(number, decision)

    def _remembered(self) -> bytes:
        return encode_losses(self._ledger.losses)

    def _remember(self, remembered: bytes | None, windows: int) -> None:
        losses = [] if remembered is None else decode_losses(remembered)
        if len(losses) != min(windows, self._promise.horizon - 1) or min(losses, default=0) < 0:
            # With a loss less, windows would be told for which the target has no room.
            raise struct.error("of other windows")
        self._ledger = Ledger(self._promise, losses)

    def _told(self, windows: list[Window], standing: Standing, waiting: int) -> TotalTold:
        return TotalTold(windows, standing.released_to, waiting, tuple(standing.closed_to))
