"""The straight line of one block: records in, effects out; nothing here waits, and nothing becomes visible here.

    records.columns -> the users' rows -> the offsets' coins -> step.advance -> releases, dead letters, changed rows

The same records, rows, policy and key give the same effects, byte for byte, on any machine and however often they are
repeated. A block stays in columns from one end to the other: thousands of events cost a few dozen calls.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from mechanisms.coins import coins_of, partition_key
from mechanisms.contract import Integers
from stream import names
from stream.decimals import decimals
from stream.promise import Promise
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.protocol.texts import Texts
from stream.records.columns import ColumnReader, Columns, ColumnWriter
from stream.records.dead_letters import dead_letter
from stream.records.parse import HEADERS, WHOLE
from stream.records.release import chosen_headers, too_large_headers
from stream.records.shapes import Rejected
from stream.release_ids import release_id_texts
from stream.state import row_matrix
from stream.step import FORECAST, RELEASED, REPLAYED, Bench, Events, Releases, advance

_HEADER_NAMES = tuple(name.encode() for name in names.OWN_HEADERS)


class PartitionPipeline:
    """The pipeline of one partition of the raw topic; `bench` may be shared, because a block never waits half-way."""

    def __init__(self, promise: Promise, topic: str, topic_id: bytes, partition: int, bench: Bench) -> None:
        self._promise = promise
        self._topic = topic
        self._topic_id = topic_id
        self._partition = partition
        self._bench = bench
        self._coin_key = partition_key(promise.epoch_key, promise.pipeline, topic_id, partition)
        self._reader = ColumnReader(promise.record, promise.alphabet)
        self._writer = ColumnWriter(promise.record, promise.alphabet)
        self._chosen = frozenset(promise.record.headers)

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        columns = self._reader.read(records)
        if self._chosen:
            columns = self._without_large_headers(records, columns)
        users = self._released_keys(columns.users)
        if store.unreadable:
            columns, users = _without_unreadable(columns, users, store)
        slots: dict[bytes, int] = {}
        slot = np.array([slots.setdefault(user, len(slots)) for user in users], dtype=np.int64)
        keys = list(slots)
        rows = store.load(keys)
        before = rows.heads.copy()
        events = Events(slot=slot, offset=columns.offsets, time=columns.times, symbol=columns.symbols)
        coins = coins_of(self._coin_key, columns.offsets)
        promise = self._promise
        releases = advance(promise.policy, promise.chain, self._bench, rows.heads, rows.codes, events, coins)
        changed = np.unique(slot[releases.outcome != REPLAYED])
        heads, codes = rows.heads[changed], rows.codes[changed]
        changed_keys = [keys[i] for i in changed.tolist()]
        told = releases.outcome == RELEASED
        return Effects(
            next_offset=int(records.offsets[-1]) + 1,
            releases=self._releases(records, columns, users, releases),
            dead_letters=self._dead_letters(records, columns),
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
        )

    def _without_large_headers(self, records: InputBlock, columns: Columns) -> Columns:
        chosen, places = self._chosen, columns.positions.tolist()
        large = np.array([too_large_headers(records.headers(place), chosen) for place in places], dtype=np.bool_)
        return _without(columns, large, Rejected(names.TOO_LARGE, HEADERS)) if large.any() else columns

    def _released_keys(self, users: list[bytes]) -> list[bytes]:
        pseudonym = self._promise.pseudonym
        if pseudonym is None:
            return users
        known = {user: pseudonym(user) for user in set(users)}
        return [known[user] for user in users]

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
            extra=self._extra_headers(records, columns.positions[visible]),
        )

    def _extra_headers(self, records: InputBlock, positions: Integers) -> list[list[tuple[str, bytes]]] | None:
        if not self._chosen:
            return None
        return [chosen_headers(records.headers(position), self._chosen) for position in positions.tolist()]

    def _dead_letters(self, records: InputBlock, columns: Columns) -> list[Outgoing]:
        letters = []
        for position, rejected in columns.rejected:
            value = dead_letter(rejected, self._topic, self._partition, int(records.offsets[position]))
            letters.append(Outgoing(None, value, max(0, int(records.timestamps[position]))))
        return letters


def _without_unreadable(columns: Columns, users: list[bytes], store: UserStore) -> tuple[Columns, list[bytes]]:
    """The block without the events of users whose stored row cannot be trusted: those go to the dead letters."""
    refused = np.array([user in store.unreadable for user in users], dtype=np.bool_)
    remaining = _without(columns, refused, Rejected(names.STATE_UNREADABLE, WHOLE))
    return remaining, [users[i] for i in np.flatnonzero(~refused).tolist()]


def _without(columns: Columns, refused: NDArray[np.bool_], reason: Rejected) -> Columns:
    """The block without these events, which are refused after all."""
    remaining = columns.only(np.flatnonzero(~refused))
    added = [(position, reason) for position in columns.positions[refused].tolist()]
    remaining.rejected = sorted(columns.rejected + added)
    return remaining


def _count_outcomes(releases: Releases, dead_letters: int) -> dict[str, int]:
    counts = np.bincount(releases.outcome, minlength=len(names.STEP_OUTCOMES)).tolist()
    return {**dict(zip(names.STEP_OUTCOMES, counts, strict=True)), names.DEAD_LETTERED: dead_letters}
