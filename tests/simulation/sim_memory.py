"""The pipeline that is really run, with a model that remembers two values, in the place of the small and touchy one.

What must come of the raw records is what the same pipeline makes of all of them in one block, with no broker between.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from context_models import law_of
from pipeline_help import ACTIVITIES, TOPIC_ID, promise_of
from sim_brokers import Brokers
from sim_ports import TOPICS
from sim_worker import Parts, SimRecord
from step_help import TAG, policy_of

from beliefs.contexts import Context, chain_of
from beliefs.rounding import budget_units
from stream.pipeline import PartitionPipeline
from stream.policy import new_bench
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.stores.memory import MemoryStore
from stream.stores.rows import StateRows

LAWS: dict[Context, Sequence[float]] = {
    (): [0.4, 0.3, 0.2, 0.1],
    (1,): [0.125, 0.625, 0.125, 0.125],
    (0, 1): [0.0625, 0.125, 0.75, 0.0625],
    (2, 2): [0.0, 0.25, 0.5, 0.25],
}
CHAIN = chain_of(np.array([0.25, 0.25, 0.375, 0.125]), {past: law_of(law) for past, law in LAWS.items()})
PROMISE = promise_of(policy=policy_of(budget=budget_units(6.0)), chain=CHAIN)
BENCH = new_bench(CHAIN.size, CHAIN.symbols)
CODEC = StateRows(CHAIN.size, TAG)

Shown = tuple[bytes | None, bytes | None, int, tuple[tuple[str, bytes | None], ...]]


def new_pipeline(partition: int) -> PartitionPipeline:
    return PartitionPipeline(PROMISE, TOPICS.raw, TOPIC_ID, partition, BENCH)


def raw(number: int) -> bytes:
    return b'{"activity": "%s", "battery": %d}' % (ACTIVITIES[number % len(ACTIVITIES)].encode(), number)


def shown(record: Outgoing | None) -> Shown:
    assert record is not None
    return record.key, record.value, record.timestamp, tuple(record.headers)


def violations(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
    for partition in range(partitions):
        inputs = [
            SimRecord(entry.offset, entry.record.timestamp, entry.record.key, entry.record.value)
            for entry in brokers.committed((TOPICS.raw, partition))
            if entry.record
        ]
        effects = new_pipeline(partition).prepare(InputBlock.of(inputs), MemoryStore(CODEC))
        rows = dict(zip(effects.keys, CODEC.to_rows(effects.heads, effects.codes), strict=True))
        for topic, expected in ((TOPICS.released, effects.releases), (TOPICS.dead_letters, effects.dead_letters)):
            yield from _records(brokers, topic, partition, [shown(record) for record in expected])
        yield from _states(brokers, partition, rows, stores.get(partition))


def _records(brokers: Brokers, topic: str, partition: int, expected: Sequence[Shown]) -> Iterator[str]:
    part = (topic, partition)
    committed = [shown(entry.record) for entry in brokers.committed(part)]
    if committed != expected:
        yield f"{topic} {partition}: {len(committed)} committed records are not the {len(expected)} that must be there"
    strange = [found for found in (shown(entry.record) for entry in brokers.uncommitted(part)) if found not in expected]
    if strange:
        yield f"{topic} {partition}: the uncommitted view has another value, {strange[0]}"


def _states(brokers: Brokers, partition: int, rows: Mapping[bytes, bytes], store: UserStore | None) -> Iterator[str]:
    log = [entry.record for entry in brokers.committed((TOPICS.changelog, partition)) if entry.record]
    kept = {record.key: record.value for record in log if record.key and record.key[:1] == b"u"}
    if kept != {b"u" + user: row for user, row in rows.items()}:
        yield f"partition {partition}: the changelog holds other beliefs"
    if store is None:
        return
    users = [user for user in rows if store.load([user]).known[0]]
    loaded = store.load(users)
    latest = CODEC.to_rows(loaded.heads, loaded.codes)
    written = {record.value for record in log}
    if not written.issuperset(latest):
        yield f"partition {partition}: the store has beliefs that no commit holds"


PARTS = Parts(pipeline=new_pipeline, codec=CODEC, raw=raw, violations=violations)
