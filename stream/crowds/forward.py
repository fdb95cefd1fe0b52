"""The first stage of a flow, for one partition of the raw topic: each event becomes a tuple, and is passed on once.

Nothing is known here about any user, so nothing is kept: what becomes of a record depends on that record alone. What
cannot be read is a dead letter.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from stream import names
from stream.crowds.boxes import attributes_of
from stream.crowds.promise import CrowdPromise
from stream.crowds.tuples import Event, Sealer
from stream.gathering.first import ONE_EVENT, letters_of
from stream.keys import Pseudonyms
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects, only_offset
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.protocol.texts import Texts
from stream.records.columns import ColumnReader, Columns


class ForwardPipeline:
    """The first stage of one partition."""

    deadlines = None  # nothing waits here

    def __init__(self, promise: CrowdPromise, topic: str, topic_id: bytes, partition: int) -> None:
        release = promise.release
        self._topic, self._partition, self._offsets = topic, partition, release.offsets
        self._reader = ColumnReader(promise.record, ONE_EVENT, release.forms)
        self._pseudonym = Pseudonyms(promise.ring, promise.pipeline).of
        self._attributes = len(attributes_of(release))
        self._sealer = Sealer(promise.ring, promise.pipeline, topic_id, partition, self._attributes)

    def adopt(self, store: UserStore) -> int:  # noqa: ARG002 - the shape that all share
        return 0

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:  # noqa: ARG002 - no user has anything there
        columns = self._reader.read(records)
        effects = only_offset(int(records.offsets[-1]) + 1)
        effects.releases = RecordBlock(
            keys=None,
            values=Texts.of(self._tuples(columns)),
            timestamps=np.maximum(records.timestamps[columns.positions], 0),
        )
        effects.dead_letters = letters_of(records, columns.rejected, self._topic, self._partition)
        taken, refused = len(columns.users), len(columns.rejected)
        effects.outcomes = {names.TAKEN: taken, names.REPEATED: 0, names.REPLAYED: 0, names.DEAD_LETTERED: refused}
        effects.reasons = Counter(reason.reason for _, reason in columns.rejected)
        return effects

    def _tuples(self, columns: Columns) -> list[bytes]:
        places = [(symbols - offset).tolist() for symbols, offset in zip(columns.fields, self._offsets, strict=True)]
        rows, named, seal = zip(*places, strict=True), self._attributes, self._sealer.seal
        events = zip(columns.offsets.tolist(), columns.users, columns.times.tolist(), rows, strict=True)
        return [
            seal(offset, Event(self._tag(user), time, row[:named], row[named] if len(row) > named else 0))
            for offset, user, time, row in events
        ]

    def _tag(self, user: bytes) -> bytes:
        return bytes.fromhex(self._pseudonym(user).decode())
