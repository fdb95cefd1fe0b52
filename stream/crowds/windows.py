"""The second stage of windows of a crowd: what all partitions have of a window makes one group of distinct users, and
every window has one record, once, in order.

Crowds of each partition go by themselves where they are over a partition: each has its own stream of windows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from beliefs.crowd.account import Present
from beliefs.crowd.noise import LADDER
from beliefs.crowd.total import Total
from stream import names
from stream.crowds.entries import Group, joined
from stream.crowds.guarded import GuardedPeople
from stream.crowds.ledger import Ledger, decode_items, encode_items
from stream.crowds.parts import WINDOWS_MAX, Part, PartOpener, Share
from stream.crowds.promise import CrowdPromise
from stream.crowds.told import CrowdsTold, CrowdWindow
from stream.crowds.window_release import WindowReleases
from stream.gathering.sealed import Unsealable, held_refused
from stream.gathering.second import RawTopic, SecondStage
from stream.gathering.standing import Standing, standing_bytes_max
from stream.protocol.ports import Outgoing

USERS_AT_ONCE: Final = 400_000
"""A record that is read releases no further window after so many users, so that no block is long."""
ACCOUNTED_AT_ONCE: Final = 2 * WINDOWS_MAX
"""Nor after so many windows of enough people, of each of which it is worked out what it tells."""
_ITEM_BYTES: Final = 32
_GROUPS: Final = struct.Struct(">I")


class CrowdWindows(SecondStage[Part, CrowdWindow]):
    """The second stage of one partition of `topic`: of all of the raw topic, or of one of them."""

    def __init__(self, promise: CrowdPromise, raw: RawTopic, topic: str, partition: int = 0) -> None:
        senders = range(partition, partition + 1) if promise.over == "partition" else range(raw.partitions)
        self._promise, self._total = promise, total_of(promise)
        self._ledger = Ledger(promise, self._total)
        self._guarded = GuardedPeople(promise.k, promise.ring, promise.pipeline, raw.id, partition)
        self._releases = WindowReleases(promise, raw.id, partition)
        opener = PartOpener(promise, raw.id, senders)
        self._groups = 0
        super().__init__(promise.windowed, promise.ring, opener, senders, topic, partition)

    def _release(self, number: int, sent: Sequence[Part], *, missing: bool) -> tuple[list[Outgoing], CrowdWindow]:
        if missing:
            return self._releases.withheld(number, None, self._ledger.withhold(names.WITHHELD_PARTIAL))
        shares, epoch = self._shares(number, sent)
        if any(share.users != share.entries.shape[0] for share in shares):
            return self._releases.withheld(number, None, self._ledger.withhold(names.WITHHELD_MANY))
        group = joined([share.entries for share in shares], self._promise.release.take)
        decision = self._ledger.decide(group, allowed=self._is_allowed(group))
        if decision.reason is not None:
            return self._releases.withheld(number, group.users, decision)
        if not self._promise.fresh:
            self._guarded.remember(number, group.tags)
        return self._releases.released(number, group, decision, epoch)

    def warm_up(self) -> None:
        """Compile what accounts for a window, divides it and draws its noise; nothing of it stays."""
        self._releases.warm_up()
        promise = self._promise
        if promise.account is not None:
            present = Present((1,) * len(promise.types))
            promise.account.told(present, LADDER[0] if promise.tops_up else None)

    def _shares(self, number: int, sent: Sequence[Part]) -> tuple[list[Share], int]:
        """What each partition has of the window, whatever number of parts it came in, and the latest key epoch."""
        timing, found = self._timing, dict[int, list[Share]]()
        start = timing.start + number * timing.length
        for part in sent:
            share = part.shares[(start - part.head.closed_from) // timing.length]
            found.setdefault(part.head.partition, []).append(share)
        shares = [
            Share(sum(share.users for share in some), np.concatenate([share.entries for share in some]))
            for some in found.values()
        ]
        return shares, max(part.head.epoch for part in sent)

    def _is_allowed(self, group: Group) -> bool:
        """Asked only of groups that are large enough, as it looks through all that are remembered."""
        return self._promise.fresh or group.users < self._promise.k or self._guarded.allows(group.tags)

    def _is_enough(self, windows: Sequence[CrowdWindow]) -> bool:
        users = [window.users or 0 for window in windows]
        large = sum(each >= self._promise.k for each in users)
        return super()._is_enough(windows) or sum(users) >= USERS_AT_ONCE or large >= ACCOUNTED_AT_ONCE

    def _kept(self) -> Mapping[bytes, bytes]:
        return self._guarded.changes()

    def _take_kept(self, kept: Mapping[bytes, bytes]) -> None:
        try:
            self._guarded.adopt(kept)
            if self._guarded.entries != self._groups:
                raise Unsealable(f"there were {self._groups} groups of people, and {self._guarded.entries} are there")
        except Unsealable as error:
            raise held_refused("Who was in earlier windows", str(error), self._where) from None

    def _remembered(self) -> bytes:
        """How many groups the guard has: with one less, windows would be told that it had to withhold."""
        return _GROUPS.pack(self._guarded.entries) + encode_items(self._ledger.items)

    def _remember(self, remembered: bytes | None, windows: int) -> None:
        self._groups = 0 if remembered is None else _GROUPS.unpack_from(remembered)[0]
        items = [] if remembered is None else decode_items(remembered[_GROUPS.size :])
        if len(items) != min(windows, self._promise.horizon - 1):
            # With one less, windows would be told for which the target has no room.
            raise struct.error("of other windows")
        self._ledger = Ledger(self._promise, self._total, items)

    def _told(self, windows: list[CrowdWindow], standing: Standing, waiting: int) -> CrowdsTold:
        return CrowdsTold(windows, standing.released_to, waiting, tuple(standing.closed_to))


def total_of(promise: CrowdPromise) -> Total | None:
    """What composes the windows of a target; None where there is one window alone."""
    if promise.account is None or promise.horizon == 1:
        return None
    return Total(promise.account, promise.horizon)


def crowd_mark_bytes_max(partitions: int, horizon: int) -> int:
    """Of a mark of as many windows as are composed."""
    return standing_bytes_max(partitions) + _GROUPS.size + 4 + _ITEM_BYTES * horizon
