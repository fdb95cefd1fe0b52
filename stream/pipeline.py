"""The straight line of one block: records in, effects out; nothing here waits, and nothing becomes visible here.

    records.parse -> the users' rows -> the offsets' coins -> step.advance -> released records, dead letters, changed
    rows

The same records, rows, policy and key give the same effects, byte for byte, on any machine and however often they are
repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mechanisms.coins import coins_of, partition_key
from stream import names
from stream.promise import Promise
from stream.protocol.effects import Effects
from stream.protocol.ports import InputRecord, Outgoing, UserStore
from stream.records.dead_letters import dead_letter
from stream.records.parse import Reader
from stream.records.release import Writer, chosen_headers
from stream.records.shapes import Block, Rejected
from stream.release_ids import release_ids
from stream.state import to_rows
from stream.step import FORECAST, RELEASED, REPLAYED, Bench, Events, Releases, advance

Integers = NDArray[np.int64]


class PartitionPipeline:
    """The pipeline of one partition of the raw topic; `bench` may be shared, because a block never waits half-way."""

    def __init__(self, promise: Promise, topic: str, topic_id: bytes, partition: int, bench: Bench) -> None:
        self._promise = promise
        self._topic = topic
        self._topic_id = topic_id
        self._partition = partition
        self._bench = bench
        self._coin_key = partition_key(promise.epoch_key, promise.pipeline, topic_id, partition)
        self._reader = Reader(promise.record, promise.alphabet)
        self._writer = Writer(promise.record, promise.alphabet)
        self._chosen = frozenset(promise.record.headers)
        self._policy_header = (names.HEADER_POLICY, promise.policy_name.encode())
        self._model_header = (names.HEADER_MODEL, promise.model_name.encode())
        self._outcome_header = (names.HEADER_OUTCOME, names.FORECAST.encode())

    def prepare(self, records: Sequence[InputRecord], store: UserStore) -> Effects:
        block = self._reader.read_block(records)
        users = self._released_keys(block.users)
        if store.unreadable:
            block, users = _without_unreadable(block, users, store)
        slots: dict[bytes, int] = {}
        slot = np.array([slots.setdefault(user, len(slots)) for user in users], dtype=np.int64)
        keys = list(slots)
        rows = store.load(keys)
        before = rows.heads.copy()
        offsets = np.array([records[position].offset for position in block.positions], dtype=np.int64)
        events = Events(
            slot=slot,
            offset=offsets,
            time=np.array(block.times, dtype=np.int64),
            symbol=np.array(block.symbols, dtype=np.int64),
        )
        coins = coins_of(self._coin_key, offsets)
        promise = self._promise
        releases = advance(promise.policy, promise.chain, self._bench, rows.heads, rows.codes, events, coins)
        changed = np.unique(slot[releases.outcome != REPLAYED])
        heads, codes = rows.heads[changed], rows.codes[changed]
        changed_keys = [keys[i] for i in changed.tolist()]
        timestamp = max(0, records[-1].timestamp)
        told = releases.outcome == RELEASED
        return Effects(
            next_offset=records[-1].offset + 1,
            releases=self._releases(records, block, users, offsets, releases),
            dead_letters=self._dead_letters(records, block),
            changelog=[
                Outgoing(names.CHANGELOG_USER_PREFIX + key, row, timestamp)
                for key, row in zip(changed_keys, to_rows(heads, codes), strict=True)
            ],
            keys=changed_keys,
            heads=heads,
            codes=codes,
            outcomes=_count_outcomes(releases, len(block.rejected)),
            reasons=Counter(rejected.reason for _, rejected in block.rejected),
            upper_units=releases.upper[told],
            lower_units=releases.lower[told],
            before=before[changed],
            uncertified=int(releases.uncertified[0]),
        )

    def _released_keys(self, users: list[bytes]) -> list[bytes]:
        pseudonym = self._promise.pseudonym
        if pseudonym is None:
            return users
        known = {user: pseudonym(user) for user in set(users)}
        return [known[user] for user in users]

    def _releases(
        self,
        records: Sequence[InputRecord],
        block: Block,
        users: list[bytes],
        offsets: Integers,
        releases: Releases,
    ) -> list[Outgoing]:
        visible = np.flatnonzero(releases.symbol >= 0)
        order = visible.tolist()
        complete = len(order) == len(users)
        documents = block.documents if complete else [block.documents[i] for i in order]
        values = self._writer.values(documents, releases.symbol[visible].tolist())
        ids = release_ids(self._topic_id, self._partition, offsets[visible], self._promise.policy_fingerprint)
        steps = releases.step[visible].tolist()
        policy, model, forecast = self._policy_header, self._model_header, self._outcome_header
        id_name, step_name = names.HEADER_RELEASE_ID, names.HEADER_STEP
        headers = [
            [(id_name, id_), policy, model, (step_name, b"%d" % step)] for id_, step in zip(ids, steps, strict=True)
        ]
        forecasts = np.flatnonzero(releases.outcome[visible] == FORECAST).tolist()
        for place in forecasts:
            headers[place].append(forecast)
        if self._chosen:
            for place, i in enumerate(order):
                headers[place].extend(chosen_headers(records[block.positions[i]].headers, self._chosen))
        times = block.times
        return [Outgoing(users[i], value, times[i], own) for i, value, own in zip(order, values, headers, strict=True)]

    def _dead_letters(self, records: Sequence[InputRecord], block: Block) -> list[Outgoing]:
        letters = []
        for position, rejected in block.rejected:
            record = records[position]
            value = dead_letter(rejected, self._topic, self._partition, record.offset)
            letters.append(Outgoing(None, value, max(0, record.timestamp)))
        return letters


def _without_unreadable(block: Block, users: list[bytes], store: UserStore) -> tuple[Block, list[bytes]]:
    """The block without the events of users whose stored row cannot be trusted: those go to the dead letters."""
    unreadable = store.unreadable
    kept = [i for i, user in enumerate(users) if user not in unreadable]
    refused = [
        (block.positions[i], Rejected(names.STATE_UNREADABLE, "$"))
        for i, user in enumerate(users)
        if user in unreadable
    ]
    remaining = Block(
        positions=[block.positions[i] for i in kept],
        users=[block.users[i] for i in kept],
        symbols=[block.symbols[i] for i in kept],
        times=[block.times[i] for i in kept],
        documents=[block.documents[i] for i in kept],
        rejected=sorted(block.rejected + refused),
    )
    return remaining, [users[i] for i in kept]


def _count_outcomes(releases: Releases, dead_letters: int) -> dict[str, int]:
    counts = np.bincount(releases.outcome, minlength=len(names.STEP_OUTCOMES)).tolist()
    return {**dict(zip(names.STEP_OUTCOMES, counts, strict=True)), names.DEAD_LETTERED: dead_letters}
