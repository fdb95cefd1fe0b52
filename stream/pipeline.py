"""The straight line of one block: records in, effects out; nothing here waits, and nothing becomes visible here.

    records.columns -> the users' rows -> the offsets' coins -> step.advance -> releases, dead letters, changed rows

The same records, rows, policy and key give the same effects, byte for byte, on any machine and however often they are
repeated. A block stays in columns from one end to the other: thousands of events cost a few dozen calls.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from stream import names
from stream.decimals import decimals
from stream.door import Door
from stream.errors import StateRefused
from stream.policy import FORECAST, RELEASED, REPLAYED, Bench, Events, Releases
from stream.promise import Promise
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.protocol.texts import Texts
from stream.records.columns import Columns, ColumnWriter
from stream.release_ids import release_id_texts
from stream.state import row_matrix
from stream.step import advance
from stream.watch import Watch

_HEADER_NAMES = tuple(
    name.encode()
    for name in (
        names.HEADER_RELEASE_ID,
        names.HEADER_POLICY,
        names.HEADER_MODEL,
        names.HEADER_STEP,
        names.HEADER_OUTCOME,
    )
)


class PartitionPipeline:
    """The pipeline of one partition of the raw topic; `bench` may be shared, because a block never waits half-way."""

    deadlines = None  # nothing waits here: an event is released with its block

    def __init__(
        self,
        promise: Promise,
        topic: str,
        topic_id: bytes,
        partition: int,
        bench: Bench,
        watch: Watch | None = None,
    ) -> None:
        self._promise, self._watch = promise, watch
        self._topic_id = topic_id
        self._partition = partition
        self._bench = bench
        self._door = Door(promise, topic, topic_id, partition)
        self._writer = ColumnWriter(promise.record, promise.alphabet)

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        columns, users = self._door.enter(records, store.unreadable)
        slots: dict[bytes, int] = {}
        slot = np.array([slots.setdefault(user, len(slots)) for user in users], dtype=np.int64)
        keys = list(slots)
        rows = store.load(keys)
        before = rows.heads.copy()
        events = Events(slot=slot, offset=columns.offsets, time=columns.times, symbol=columns.symbols)
        coins = self._door.coins(columns.offsets)
        promise = self._promise
        watched = None if self._watch is None else self._watch.choose(slots, rows, events, coins)
        releases = advance(promise.policy, promise.chain, self._bench, rows.heads, rows.codes, events, coins)
        changed = np.unique(slot[releases.outcome != REPLAYED])
        heads, codes = rows.heads[changed], rows.codes[changed]
        changed_keys = [keys[i] for i in changed.tolist()]
        told = releases.outcome == RELEASED
        return Effects(
            next_offset=int(records.offsets[-1]) + 1,
            releases=self._releases(records, columns, users, releases),
            dead_letters=self._door.dead_letters(records, columns),
            changelog=RecordBlock(
                keys=Texts.of([names.CHANGELOG_USER_PREFIX + key for key in changed_keys]),
                values=Texts.of_rows(row_matrix(heads, codes)),
                timestamps=np.full(len(changed_keys), max(0, int(records.timestamps[-1])), dtype=np.int64),
            ),
            keys=changed_keys,
            heads=heads,
            codes=codes,
            outcomes=_count_outcomes(releases, len(columns.rejected)),
            reasons=Counter(rejected.reason for _, rejected in columns.rejected),
            upper_units=releases.upper[told],
            lower_units=releases.lower[told],
            before=before[changed],
            uncertified=int(releases.uncertified[0]),
            watched=watched,
        )

    def adopt(self, store: UserStore) -> int:
        if any(True for _ in store.held()):
            raise StateRefused(
                "Events wait in windows, and these settings have none.",
                where=f"partition {self._partition}",
                why="they were read under settings with windows and have not been released",
                fix="run with the old settings until their windows are closed (window.deadline), then change them",
            )
        return 0

    def prepare_overdue(self, store: UserStore, clock: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def _releases(self, records: InputBlock, columns: Columns, users: list[bytes], releases: Releases) -> RecordBlock:
        """One record for each event that leaves a trace; a suppressed one is a gap in its user's steps."""
        visible = np.flatnonzero(releases.symbol >= 0)
        promise = self._promise
        offsets = columns.offsets[visible]
        forecast = (releases.outcome[visible] == FORECAST).astype(np.int8)
        return RecordBlock(
            keys=Texts.of(users if visible.shape[0] == len(users) else [users[i] for i in visible.tolist()]),
            values=self._writer.texts(columns, visible, releases.symbol[visible]),
            timestamps=columns.times[visible],
            header_names=_HEADER_NAMES,
            header_values=(
                release_id_texts(self._topic_id, self._partition, offsets, promise.policy_fingerprint),
                promise.policy_name.encode(),
                promise.model_name.encode(),
                decimals(releases.step[visible]),
                names.FORECAST.encode(),
            ),
            header_masks=(None, None, None, None, forecast),
            extra=self._door.passing_headers(records, columns.positions[visible]),
        )


def _count_outcomes(releases: Releases, dead_letters: int) -> dict[str, int]:
    counts = np.bincount(releases.outcome, minlength=len(names.STEP_OUTCOMES)).tolist()
    return {**dict(zip(names.STEP_OUTCOMES, counts, strict=True)), names.DEAD_LETTERED: dead_letters}
