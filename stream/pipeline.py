"""The straight line of one block: records in, effects out; nothing here waits, and nothing becomes visible here.

    records.columns -> the users' rows -> the offsets' coins -> step.advance -> releases, dead letters, changed rows

The same records, rows, policy and key give the same effects, byte for byte, on any machine and however often they are
repeated. A block stays in columns from one end to the other: thousands of events cost a few dozen calls.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from mechanisms.coins import Coins
from mechanisms.contract import Integers
from mechanisms.sequence.near import searches_cut_short
from stream import names
from stream.decimals import decimals
from stream.door import Door, Entered
from stream.errors import StateRefused
from stream.fields.choices import Chosen, FieldChoices
from stream.policy import FORECAST, RELEASED, REPLAYED, Bench, Events, Releases
from stream.promise import Promise, model_names
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Loaded, UserStore
from stream.protocol.texts import Texts
from stream.records.assemble import Reported
from stream.records.columns import ColumnWriter
from stream.release_ids import release_id_texts
from stream.segments import Part, advance_parts, row_texts
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
        names.HEADER_FIELDS,
    )
)


class PartitionPipeline:
    """The pipeline of one partition of the raw topic, with a bench for each model that serves; benches may be shared,
    because a block never waits half-way.
    """

    deadlines = None  # nothing waits here: an event is released with its block

    def __init__(self, promise: Promise, topic: str, topic_id: bytes, partition: int, *benches: Bench) -> None:
        self.watch: Watch | None = None  # chooses what is looked at once more after its commit
        self._promise = promise
        self._topic_id = topic_id
        self._partition = partition
        self._benches = benches
        fields = promise.fields
        self._door = Door(promise, topic, topic_id, partition)
        self._writer = ColumnWriter(promise.record, promise.alphabet, promise.readers)
        self._fields = None if fields is None else FieldChoices(fields, self._door.key)

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        entered = self._door.enter(records, store.unreadable)
        slots: dict[bytes, int] = {}
        slot = np.array([slots.setdefault(user, len(slots)) for user in entered.users], dtype=np.int64)
        keys = list(slots)
        rows = store.load(keys)
        before = rows.heads.copy()
        entered, slot, owners = self._door.settle(entered, slot, rows.heads)
        columns = entered.columns
        events = Events(slot=slot, offset=columns.offsets, time=columns.times, symbol=columns.symbols)
        coins = self._door.coins(columns.offsets)
        followed = self._followed(rows)
        watched = None if self.watch is None else self.watch.choose(slots, followed, events, coins)
        releases = self._carry_out(followed, owners, events, coins)
        beside = self._beside(rows, followed, events, releases)
        changed = np.unique(slot[releases.outcome != REPLAYED])
        heads, codes = rows.heads[changed], rows.codes[changed]
        changed_keys = [keys[i] for i in changed.tolist()]
        told = releases.outcome == RELEASED
        return Effects(
            next_offset=int(records.offsets[-1]) + 1,
            releases=self._releases(records, entered, owners[slot], releases, beside),
            dead_letters=self._door.dead_letters(records, columns),
            changelog=RecordBlock(
                keys=Texts.of([names.CHANGELOG_USER_PREFIX + key for key in changed_keys]),
                values=row_texts(heads, codes, self._widths(owners[changed])),
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
            cut_short=sum(searches_cut_short(bench.work) for bench in self._benches),
            watched=watched,
            fields=None if self._fields is None or beside is None else self._fields.told(beside),
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

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def _followed(self, rows: Loaded) -> Loaded:
        """The words of the users' rows that the step knows."""
        return rows if self._fields is None else self._fields.followed(rows)

    def _beside(self, rows: Loaded, followed: Loaded, events: Events, releases: Releases) -> Chosen | None:
        """What the gate lets each event tell of its other fields, and the words after it."""
        if self._fields is None:
            return None
        return self._fields.choose(rows, followed, events, releases)

    def _carry_out(self, rows: Loaded, owners: Integers, events: Events, coins: Coins) -> Releases:
        pairs = zip(self._promise.served, self._benches, strict=True)
        parts = [Part(each.policy, each.chain, bench, each.width) for each, bench in pairs]
        if len(parts) > 1:
            return advance_parts(parts, owners, rows.heads, rows.codes, events, coins)
        return advance(parts[0].policy, parts[0].chain, parts[0].bench, rows.heads, rows.codes, events, coins)

    def _widths(self, owners: Integers) -> Integers | None:
        segments = self._promise.segments
        return None if segments is None else segments.widths[owners]

    def _releases(
        self, records: InputBlock, entered: Entered, owners: Integers, releases: Releases, beside: Chosen | None
    ) -> RecordBlock:
        """One record for each event that leaves a trace; a suppressed one is a gap in its user's steps."""
        columns, users = entered.columns, entered.users
        visible = np.flatnonzero(releases.symbol >= 0)
        promise = self._promise
        offsets = columns.offsets[visible]
        forecast = (releases.outcome[visible] == FORECAST).astype(np.int8)
        keys = users if visible.shape[0] == len(users) else [users[i] for i in visible.tolist()]
        reports: list[Reported] = []
        signs: tuple[Texts, ...] = ()
        if self._fields is not None and beside is not None:
            reports = self._fields.reports(beside, columns, visible, keys)
            signs = (beside.signs(visible),)
        return RecordBlock(
            keys=Texts.of(keys),
            values=self._writer.texts(columns, visible, releases.symbol[visible], reports),
            timestamps=columns.times[visible],
            header_names=_HEADER_NAMES[: 5 + len(signs)],
            header_values=(
                release_id_texts(self._topic_id, self._partition, offsets, promise.policy_fingerprint),
                promise.policy_name.encode(),
                model_names(promise, owners[visible]),
                decimals(releases.step[visible]),
                names.FORECAST.encode(),
                *signs,
            ),
            header_masks=(None, None, None, None, forecast, *(None for _ in signs)),
            extra=self._door.passing_headers(records, columns.positions[visible]),
        )


def _count_outcomes(releases: Releases, dead_letters: int) -> dict[str, int]:
    counts = np.bincount(releases.outcome, minlength=len(names.STEP_OUTCOMES)).tolist()
    return {**dict(zip(names.STEP_OUTCOMES, counts, strict=True)), names.DEAD_LETTERED: dead_letters}
