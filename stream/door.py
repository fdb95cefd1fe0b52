"""The way in and out that all pipelines of a partition share: records become events of users who may be released, and
those that cannot become dead letters.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.coins import Coins, coins_of, partition_key
from mechanisms.contract import Integers
from stream import names
from stream.promise import Promise
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing
from stream.records.columns import ColumnReader, Columns
from stream.records.dead_letters import dead_letter
from stream.records.parse import HEADERS, WHOLE
from stream.records.release import chosen_headers, too_large_headers
from stream.records.shapes import Rejected
from stream.segments import UNKNOWN, SegmentReader, settle

Header = tuple[str, bytes]


class Entered(NamedTuple):
    """The events of a block, and whose they are: parallel, in the order of their offsets; where several models serve,
    also the segment of each.
    """

    columns: Columns
    users: list[bytes]
    segments: Integers | None = None


class Door:
    """The door of one partition of the raw topic."""

    def __init__(self, promise: Promise, topic: str, topic_id: bytes, partition: int) -> None:
        self._topic = topic
        self._partition = partition
        self._pseudonym = promise.pseudonym
        self._coin_key = partition_key(promise.epoch_key, promise.pipeline, topic_id, partition)
        self._reader = ColumnReader(promise.record, promise.alphabet, promise.readers)
        self._chosen = frozenset(promise.record.headers)
        self._segments = promise.segments
        self._reads_segments = None
        if promise.segments is not None:
            self._reads_segments = SegmentReader(promise.segments.rule, promise.record)

    @property
    def key(self) -> bytes:
        """The key that all coins of this partition come from."""
        return self._coin_key

    def enter(self, records: InputBlock, unreadable: Collection[bytes]) -> Entered:
        """Events of users whose stored state is unreadable do not enter: they become dead letters."""
        columns = self._reader.read(records)
        if self._chosen:
            columns = self._without_large_headers(records, columns)
        entered = Entered(columns, self._released_keys(columns.users))
        if self._reads_segments is not None:
            entered = self._with_segments(entered, self._reads_segments)
        return without_unreadable(entered, unreadable) if unreadable else entered

    def settle(self, entered: Entered, slot: Integers, heads: Integers) -> tuple[Entered, Integers, Integers]:
        """The segment of each user, and the block without events of another one than their user's, which are refused;
        `slot` is the row of each event's user in `heads`. Where one model serves everybody, all are of segment 0.
        """
        segments = self._segments
        if segments is None or entered.segments is None:
            return entered, slot, np.zeros(heads.shape[0], dtype=np.int64)
        owners, strangers = settle(slot, entered.columns.offsets, entered.segments, heads, segments.tags)
        if not strangers.any():
            return entered, slot, owners
        reason = Rejected(names.SEGMENT_CHANGED, str(segments.rule.path))
        return _without_events(entered, strangers, reason), slot[~strangers], owners

    def coins(self, offsets: Integers) -> Coins:
        return coins_of(self._coin_key, offsets)

    def passing_headers(self, records: InputBlock, positions: Integers) -> list[list[Header]] | None:
        """The raw headers of these records that the settings let pass; None where they let none pass."""
        if not self._chosen:
            return None
        return [chosen_headers(records.headers(position), self._chosen) for position in positions.tolist()]

    def dead_letters(self, records: InputBlock, columns: Columns) -> list[Outgoing]:
        letters = []
        for position, rejected in columns.rejected:
            value = dead_letter(rejected, self._topic, self._partition, int(records.offsets[position]))
            letters.append(Outgoing(None, value, max(0, int(records.timestamps[position]))))
        return letters

    def _released_keys(self, users: list[bytes]) -> list[bytes]:
        pseudonym = self._pseudonym
        if pseudonym is None:
            return users
        known = {user: pseudonym(user) for user in set(users)}
        return [known[user] for user in users]

    def _with_segments(self, entered: Entered, reader: SegmentReader) -> Entered:
        segments = reader.read(entered.columns)
        entered, unknown = entered._replace(segments=segments), segments == UNKNOWN
        if not unknown.any():
            return entered
        return _without_events(entered, unknown, Rejected(names.UNKNOWN_SEGMENT, str(reader.path)))

    def _without_large_headers(self, records: InputBlock, columns: Columns) -> Columns:
        chosen, places = self._chosen, columns.positions.tolist()
        large = np.array([too_large_headers(records.headers(place), chosen) for place in places], dtype=np.bool_)
        return _without(columns, large, Rejected(names.TOO_LARGE, HEADERS)) if large.any() else columns


def without_unreadable(entered: Entered, unreadable: Collection[bytes]) -> Entered:
    """The block without the events of users whose stored state cannot be trusted: those go to the dead letters."""
    refused = np.array([user in unreadable for user in entered.users], dtype=np.bool_)
    return _without_events(entered, refused, Rejected(names.STATE_UNREADABLE, WHOLE))


def _without_events(entered: Entered, refused: NDArray[np.bool_], reason: Rejected) -> Entered:
    segments = entered.segments
    return Entered(
        _without(entered.columns, refused, reason),
        [entered.users[i] for i in np.flatnonzero(~refused).tolist()],
        None if segments is None else segments[~refused],
    )


def _without(columns: Columns, refused: NDArray[np.bool_], reason: Rejected) -> Columns:
    """The block without these events, which are refused after all."""
    remaining = columns.only(np.flatnonzero(~refused))
    added = [(position, reason) for position in columns.positions[refused].tolist()]
    remaining.rejected = sorted(columns.rejected + added)
    return remaining
