"""Both stages of windows of aggregates in the place of the small and touchy pipeline.

What the first must have written is recounted from the raw records and from when the clock closed windows; what the
second must have written is what it makes of all partials in one block.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from aggregate_lives import (
    EVERY_KIND,
    START,
    TOPIC_ID,
    Life,
    Sent,
    block_of,
    gather_of,
    promise_of,
    random_stream,
    sums_of,
)
from aggregate_recount import Recount, closings_by_clock
from sim_brokers import Brokers
from sim_ports import TOPICS
from sim_schedule import run
from sim_worker import Parts, SimRecord

from stream.aggregates.gather import GatherPipeline
from stream.aggregates.total import TotalPipeline
from stream.gathering.first import ONE_EVENT, FirstStage, Timing
from stream.gathering.second import RawTopic
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.records.parse import Reader
from stream.records.shapes import RawEvent, Rejected
from stream.stores.rows import NoRows

SCHEDULES = 300

# The simulated clock begins at 0, and a run takes some seconds of it.
PROMISE = promise_of(*EVERY_KIND, start=0, length=150, lateness=60, grace=40, ahead=10_000)
Violations = Callable[[Brokers, int, Mapping[int, UserStore]], Iterator[str]]
READER = Reader(PROMISE.record, ONE_EVENT, PROMISE.forms)


def new_gather(partition: int) -> GatherPipeline:
    return GatherPipeline(PROMISE, TOPICS.raw, TOPIC_ID, partition)


def raw(number: int) -> bytes:
    """Events of the first second; they come in any order, so that some are late."""
    return Sent(b"", number * 10, (number % 7) * 1.5 - 2, "abc"[number % 3], 0).text


def gather_violations(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
    for partition in range(partitions):
        recount, sent = yield from recounted(brokers, partition, PROMISE, sent_of)
        if sums_of(PROMISE, sent, partitions=partition + 1) != recount.sums():
            yield f"partition {partition}: the partials do not hold the sums of the recount"


def sent_of(event: RawEvent, timestamp: int) -> Sent:
    return Sent(event.user, event.time, event.document["v"], event.document["job"], timestamp)


def recounted(
    brokers: Brokers, partition: int, timing: Timing, read: Callable[[RawEvent, int], Any]
) -> Generator[str, None, tuple[Recount, list[Outgoing]]]:
    """What is wrong with what a partition of a first stage has refused and sent, whatever is in it; answers what must
    be in it, and what was sent.
    """
    here = f"partition {partition}"
    changelog = [entry.record for entry in brokers.committed((TOPICS.changelog, partition)) if entry.record]
    by_clock = closings_by_clock((record.key or b"", record.value) for record in changelog)
    recount, refused = Recount(timing, closed=0, latest=0), []
    for entry in brokers.committed((TOPICS.raw, partition)):
        recount.closed = max([recount.closed, *(until for offset, until in by_clock if offset <= entry.offset)])
        event = READER.read(SimRecord(entry.offset, entry.record.timestamp, entry.record.key, entry.record.value))  # type: ignore[union-attr]
        if isinstance(event, Rejected):
            refused.append((entry.offset, event.reason))
            continue
        recount.see(read(event, entry.record.timestamp))  # type: ignore[union-attr]
        if recount.outcomes[-1] != "counted":
            refused.append((entry.offset, recount.outcomes[-1]))
    recount.closed = max([recount.closed, *(until for _, until in by_clock)])
    sent = [entry.record for entry in brokers.committed((TOPICS.released, partition)) if entry.record]
    ends = [record.timestamp for record in sent]
    if ends != sorted(set(ends)):
        yield f"{here}: windows were closed twice, or out of order"
    yield from _letters(brokers, partition, refused)
    seen: dict[int, bytes | None] = {}
    for entry in brokers.uncommitted((TOPICS.released, partition)):
        record = entry.record
        if record and seen.setdefault(record.timestamp, record.value) != record.value:
            yield f"{here}: two texts were sealed with one nonce"
    return recount, sent


def _letters(brokers: Brokers, partition: int, refused: Sequence[tuple[int, str]]) -> Iterator[str]:
    letters = [
        entry.record.value or b"" for entry in brokers.committed((TOPICS.dead_letters, partition)) if entry.record
    ]
    if len(letters) != len(refused):
        yield f"partition {partition}: {len(letters)} dead letters instead of {len(refused)}"
    for letter, (offset, reason) in zip(letters, refused, strict=False):
        if b'"offset":%d}' % offset not in letter or reason.encode() not in letter:
            yield f"partition {partition}: {letter!r} instead of {reason} at {offset}"


GATHER = Parts(pipeline=new_gather, codec=NoRows(), raw=raw, violations=gather_violations)

# The second stage reads the partials of three partitions, whatever they are made of.

TOTAL_PROMISE = promise_of(*EVERY_KIND[:3], horizon=4, target=3 << 40)
SENDERS = 3


def new_total(partition: int) -> TotalPipeline:
    return TotalPipeline(TOTAL_PROMISE, RawTopic(TOPIC_ID, SENDERS), TOPICS.raw)


def partials(seed: int) -> Callable[[int], bytes]:
    chance = Random(seed)

    def events(now: int) -> InputBlock:
        return block_of([each._replace(time=now, record=now) for each in random_stream(chance, 2)])

    return sent_in_turn(chance, TOTAL_PROMISE, lambda sender: gather_of(TOTAL_PROMISE, sender), events)


def sent_in_turn(
    chance: Random, timing: Timing, gather: Callable[[int], FirstStage], events: Callable[[int], InputBlock]
) -> Callable[[int], bytes]:
    """What three partitions send in turn, without end. Where the simulation has two topics to fill, each gets a part,
    and what the other has is missing in it.
    """

    def written() -> Iterator[bytes]:
        lives, now = [Life(gather(sender)) for sender in range(SENDERS)], START
        while True:
            now += 2 * timing.length
            for life in lives:
                life.effects.clear()
                life.carry_out(events(now))
                life.close_by_clock(now + chance.choice((0, 1, 3)) * timing.length)
                yield from (record.value or b"" for record in life.released)

    unending = written()
    return lambda _: next(unending)


def second_violations(new: Callable[[int], Any]) -> Violations:
    """What a second stage must have written is what it makes of everything in one block."""

    def found(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
        for partition in range(partitions):
            yield from _of_second(new(partition), brokers, partition)

    return found


def _of_second(pipeline: Any, brokers: Brokers, partition: int) -> Iterator[str]:
    inputs = [
        SimRecord(entry.offset, entry.record.timestamp, entry.record.key, entry.record.value)
        for entry in brokers.committed((TOPICS.raw, partition))
        if entry.record
    ]
    whole = Life(pipeline)
    whole.carry_out(InputBlock.of(inputs))
    expected = [whole.released, [letter for each in whole.effects for letter in each.dead_letters]]
    for topic, records in zip((TOPICS.released, TOPICS.dead_letters), expected, strict=True):
        committed = [entry.record for entry in brokers.committed((topic, partition)) if entry.record]
        if list(map(shown, committed)) != list(map(shown, records)):
            yield f"{topic} {partition}: {len(committed)} records are not the {len(records)} that must be there"
        strange = {shown(e.record) for e in brokers.uncommitted((topic, partition)) if e.record} - set(
            map(shown, records)
        )
        if strange:
            yield f"{topic} {partition}: the uncommitted view has another value"
    changelog = [entry.record for entry in brokers.committed((TOPICS.changelog, partition)) if entry.record]
    held = {record.key[1:]: record.value for record in changelog if record.key and record.key[:1] == b"h"}
    if {key: value for key, value in held.items() if value} != dict(whole.store.held()):
        yield f"partition {partition}: the changelog holds something else"


def shown(record: Outgoing) -> tuple[bytes | None, bytes | None, int]:
    return record.key, record.value, record.timestamp


def total_parts(seed: int) -> Parts:
    return second_parts(new_total, partials(seed))


def second_parts(new: Callable[[int], Any], sent: Callable[[int], bytes]) -> Parts:
    return Parts(
        pipeline=new,
        codec=NoRows(),
        raw=sent,
        violations=second_violations(new),
        waits=lambda brokers, partition: False,
    )


def violations(parts: Callable[[int], Parts], schedules: int = SCHEDULES) -> Iterator[str]:
    for seed in range(schedules):
        yield from (f"{violation} (seed {seed})" for violation in run(seed, parts(seed)).violations)
