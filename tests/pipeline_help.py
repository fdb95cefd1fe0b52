"""A partition's pipeline without Kafka: settings, promise, records and store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from step_help import KEY, TAG, policy_of, sticky_chain

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.forward import chain_arrays, reversed_arrays
from stream.keys import Epoch, KeyRing
from stream.pipeline import PartitionPipeline
from stream.policy import Policy, new_bench
from stream.promise import Promise, WindowRules
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.settings.model import RecordSettings
from stream.stores.memory import MemoryStore
from stream.stores.rows import StateRows
from stream.windows.pipeline import WindowPipeline

ACTIVITIES = ("still", "walking", "running", "cycling")
TOPIC_ID = bytes(range(16))
RING = KeyRing((Epoch(1, "", KEY),), Epoch(1, "", KEY))


@dataclass(frozen=True)
class Record:
    offset: int
    value: bytes | None
    key: bytes | None = b"u1"
    timestamp: int = 1_700_000_000_000
    headers: Sequence[tuple[str, bytes | None]] = ()


def record_settings(**changes: Any) -> RecordSettings:
    return RecordSettings.model_validate({"protect": {"path": "$.activity"}, "public": ["$.battery"], **changes})


def promise_of(
    record: RecordSettings | None = None,
    policy: Policy | None = None,
    chain: Chain | None = None,
    pseudonym: Callable[[bytes], bytes] | None = None,
    windows: WindowRules | None = None,
    ring: KeyRing | None = None,
) -> Promise:
    return Promise(
        pipeline="phones",
        record=record or record_settings(),
        alphabet=Categories(list(ACTIVITIES)),
        chain=chain_arrays(chain or sticky_chain(len(ACTIVITIES))),
        policy=policy or policy_of(),
        policy_version=3,
        policy_fingerprint=b"12345678",
        model_version=1,
        model_short=f"{TAG:08x}",
        ring=ring or RING,
        windows=windows,
        pseudonym=pseudonym,
    )


class Partition:
    """One partition: blocks in, effects out, applied to its store as after a commit."""

    def __init__(self, store: UserStore, pipeline: PartitionPipeline | WindowPipeline) -> None:
        self.store, self.pipeline = store, pipeline

    def carry_out(self, records: Sequence[Record]) -> Effects:
        effects = self.pipeline.prepare(InputBlock.of(records), self.store)
        self._commit(effects)
        return effects

    def close_overdue(self, clock: int) -> Effects | None:
        effects = self.pipeline.prepare_overdue(self.store, clock)
        if effects is not None:
            self._commit(effects)
        return effects

    def _commit(self, effects: Effects) -> None:
        self.store.apply(effects.keys, effects.heads, effects.codes, effects.next_offset, {}, effects.held)
        if self.pipeline.deadlines is not None:
            for user, record in effects.held.items():
                self.pipeline.deadlines.set(user, record or None)


class Line(Partition):
    """A partition of phones."""

    def __init__(self, promise: Promise, partition: int = 0) -> None:
        kind = PartitionPipeline if promise.windows is None else WindowPipeline
        pipeline = kind(promise, "raw", TOPIC_ID, partition, new_bench(len(ACTIVITIES)))
        super().__init__(MemoryStore(StateRows(len(ACTIVITIES), TAG)), pipeline)


def windows_of(
    events: int = 3, stretch: int = 0, *, natural: bool = False, deadline: int = 60_000, dual: bool = False
) -> WindowRules:
    back = reversed_arrays(sticky_chain(len(ACTIVITIES)))
    return WindowRules(events, stretch, natural, deadline, back, dual)


def walk(count: int, users: int = 5, seed: int = 0, first: int = 0) -> list[Record]:
    source = np.random.default_rng(seed)
    return [
        Record(
            offset=first + i,
            value=orjson.dumps({"activity": ACTIVITIES[source.integers(4)], "battery": i % 100, "secret": "canary"}),
            key=b"user-%d" % source.integers(users),
            timestamp=1_700_000_000_000 + 1000 * i,
            headers=[("trace", b"t%d" % i), ("cookie", b"canary")],
        )
        for i in range(count)
    ]
