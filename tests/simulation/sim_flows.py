"""The second stage of flows of crowds in the place of the small and touchy pipeline. What it must have written is what
one worker makes of all records, with the same closings by the clock between them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random

from aggregate_lives import TOPIC_ID
from flow_lives import FlowLife, flow_promise, forwarded, random_events
from sim_aggregates import shown
from sim_brokers import Brokers
from sim_ports import TOPICS
from sim_worker import Parts, SimRecord

from stream.crowds.flow import FlowPipeline
from stream.crowds.promise import CrowdPromise, FlowTiming
from stream.protocol.control import CLOCK_KEY
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.stores.rows import NoRows

# A run takes some seconds of the simulated clock.
DELAY = FlowTiming(events=6, time=150)
EVENTS = 400


def promise_of(grouper: str) -> CrowdPromise:
    return replace(flow_promise(grouper, k=2, more=""), flow=DELAY)


def tuples(promise: CrowdPromise, seed: int) -> Callable[[int], bytes]:
    """Tuples of one partition of the raw topic in their order, and now and then something else."""
    chance = Random(seed)
    values = iter(forwarded(promise, random_events(chance, EVENTS, users=4)))
    return lambda number: b"no tuple" if number % 10 == 9 else next(values)


def flow_violations(promise: CrowdPromise, brokers: Brokers, partitions: int) -> Iterator[str]:
    for partition in range(partitions):
        whole = _carried_out(promise, brokers, partition)
        expected = [whole.released, [letter for each in whole.effects for letter in each.dead_letters]]
        for topic, records in zip((TOPICS.released, TOPICS.dead_letters), expected, strict=True):
            committed = [entry.record for entry in brokers.committed((topic, partition)) if entry.record]
            if list(map(shown, committed)) != list(map(shown, records)):
                yield f"{topic} {partition}: {len(committed)} records are not the {len(records)} that must be there"
            written = {shown(entry.record) for entry in brokers.uncommitted((topic, partition)) if entry.record}
            if written - set(map(shown, records)):
                yield f"{topic} {partition}: the uncommitted view has another value"
        held = {key: value for key, value in _latest(brokers, partition).items() if key[:1] == b"h" and value}
        if {key[1:]: value for key, value in held.items()} != dict(whole.store.held()):
            yield f"partition {partition}: the changelog holds other events"


def _carried_out(promise: CrowdPromise, brokers: Brokers, partition: int) -> FlowLife:
    """By one worker who never dies: each record by itself, and what is due when the clock was looked at."""
    life = FlowLife(new_flow(promise)(partition))
    clocks = [
        (int.from_bytes(each[8:], "big"), int.from_bytes(each[:8], "big")) for each in _clocks(brokers, partition)
    ]
    for entry in brokers.committed((TOPICS.raw, partition)):
        while clocks and clocks[0][0] <= entry.offset:
            life.close_by_clock(clocks.pop(0)[1])
        if entry.record:
            record = SimRecord(entry.offset, entry.record.timestamp, entry.record.key, entry.record.value)
            life.carry_out(InputBlock.of([record]))
    for _, clock in clocks:
        life.close_by_clock(clock)
    return life


def _clocks(brokers: Brokers, partition: int) -> Iterator[bytes]:
    for entry in brokers.committed((TOPICS.changelog, partition)):
        if entry.record and entry.record.key == CLOCK_KEY:
            yield entry.record.value or b""


def _latest(brokers: Brokers, partition: int) -> dict[bytes, bytes | None]:
    changelog = brokers.committed((TOPICS.changelog, partition))
    return {entry.record.key or b"": entry.record.value for entry in changelog if entry.record}


def new_flow(promise: CrowdPromise) -> Callable[[int], FlowPipeline]:
    return lambda partition: FlowPipeline(promise, TOPIC_ID, TOPICS.raw, partition, range(1))


def flow_parts(grouper: str, seed: int) -> Parts:
    promise = promise_of(grouper)

    def violations(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
        return flow_violations(promise, brokers, partitions)

    return Parts(pipeline=new_flow(promise), codec=NoRows(), raw=tuples(promise, seed), violations=violations)
