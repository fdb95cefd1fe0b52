"""Both stages of windows of a crowd in the place of the small and touchy pipeline.

Who must be in what the first has sent is recounted from the raw records and from when the clock closed windows; what
the second must have written is what it makes of everything in one block.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from aggregate_lives import TOPIC_ID
from crowd_lives import RECORDS, SUM, Walk, block_of, crowd_promise, gather_of, random_walks
from crowd_recount import people_of
from sim_aggregates import SENDERS, raw, recounted, second_parts, sent_in_turn
from sim_brokers import Brokers
from sim_ports import TOPICS
from sim_worker import Parts

from stream.crowds.gather import CrowdGather
from stream.crowds.parts import PartOpener
from stream.crowds.promise import CrowdPromise, Timing
from stream.crowds.windows import CrowdWindows
from stream.gathering.second import RawTopic
from stream.keys import Pseudonyms
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.records.shapes import RawEvent
from stream.stores.rows import NoRows

# The simulated clock begins at 0, and a run takes some seconds of it.
PROMISE = replace(crowd_promise(SUM), timing=Timing(150, 0, 60, 40, 10_000))


def new_gather(partition: int) -> CrowdGather:
    return CrowdGather(PROMISE, TOPICS.raw, TOPIC_ID, partition)


def walk_of(event: RawEvent, timestamp: int) -> Walk:
    return Walk(event.user, event.time, timestamp, event.document["v"], event.document["job"])


def gather_violations(brokers: Brokers, partitions: int, stores: Mapping[int, UserStore]) -> Iterator[str]:
    for partition in range(partitions):
        recount, sent = yield from recounted(brokers, partition, PROMISE.windowed, walk_of)
        pseudonym, windows = Pseudonyms(PROMISE.ring, PROMISE.pipeline).of, recount.closed // PROMISE.windowed.length
        expected = [
            {pseudonym(user): person.cell for user, person in people_of(PROMISE, [recount], number).items()}
            for number in range(windows)
        ]
        if people_sent(sent, partition) != expected:
            yield f"partition {partition}: other people than those of the recount were sent"


def people_sent(sent: list[Outgoing], partition: int) -> list[dict[bytes, int]]:
    """Of every window, by pseudonym."""
    opener = PartOpener(PROMISE, TOPIC_ID, range(partition, partition + 1))
    return [
        {b"%016x%016x" % (high, low): int(cells[0]) for high, low, *_, cells in share.entries.tolist()}
        for record in sent
        for share in opener.open(record.value).shares
    ]


GATHER = Parts(pipeline=new_gather, codec=NoRows(), raw=raw, violations=gather_violations)

# The second stage reads what three partitions send, whatever is in it; some windows are boxes, some are sums.


def second_promise(seed: int) -> CrowdPromise:
    return crowd_promise((SUM, RECORDS)[seed % 2], k=2)


def new_windows(promise: CrowdPromise, partition: int) -> CrowdWindows:
    return CrowdWindows(promise, RawTopic(TOPIC_ID, SENDERS), TOPICS.raw)


def window_parts(seed: int) -> Parts:
    promise, chance = second_promise(seed), Random(seed)

    def events(now: int) -> InputBlock:
        return block_of([each._replace(time=now, record=now) for each in random_walks(chance, 3, users=6)])

    sent = sent_in_turn(chance, promise.windowed, lambda sender: gather_of(promise, sender), events)
    return second_parts(lambda partition: new_windows(promise, partition), sent)
