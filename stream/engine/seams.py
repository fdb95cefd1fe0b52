"""The places where we look into aiokafka, all in one file, each held by a test of its own.

Fetch positions are public only as coroutines (`position`), and asking once for each partition and fetch would cost a
task each; the fetcher's own table is read instead. aiokafka is pinned to one minor version for this reason.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.producer import sender
from aiokafka.record.memory_records import MemoryRecords

from stream.engine.batches import Batch, seal
from stream.engine.fetched import Fetched

# After a commit the brokers answer "not yet" to the next transaction of the same producer until the markers of the
# first are written, which takes a millisecond or two. aiokafka then waits 20 ms whatever its backoff is set to, and
# under load that wait is in every block.
NEXT_TRANSACTION_SECONDS = 0.002
# Id, epoch and sequence of a producer that has none; the brokers refuse them for a batch of a transaction.
NO_PRODUCER = (-1, -1, -1)


def shorten_wait_between_transactions() -> None:
    sender.BACKOFF_OVERRIDE = NEXT_TRANSACTION_SECONDS


class ReadyBatch:
    """An encoded batch in the shape of aiokafka's `BatchBuilder`, for `send_batch`.

    aiokafka sets the producer's state when it takes the batch for the first time, then asks for the bytes before each
    attempt; they are sealed once, so that a repeated attempt sends the same bytes.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._state = NO_PRODUCER
        self._sealed: bytearray | None = None

    def append(self, *, timestamp: Any, key: Any, value: Any, headers: Sequence[Any] = ()) -> None:
        """Full: nothing can be added."""

    def close(self) -> None:
        """It was never open."""

    def closed(self) -> bool:
        return True

    def size(self) -> int:
        return len(self._batch.buffer)

    def record_count(self) -> int:
        return self._batch.records

    def _set_producer_state(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        self._state = (producer_id, producer_epoch, base_sequence)

    def _build(self) -> bytearray:
        if self._sealed is None:
            self._sealed = seal(self._batch, *self._state)
        return self._sealed


def as_blocks(_: object) -> object:
    """Given to a consumer as its `key_deserializer`, it asks for blocks of records; nobody calls it."""
    raise NotImplementedError


class _Kept:
    """aiokafka's walk over the batches of a fetch, and the bytes themselves, which it does not show."""

    def __init__(self, data: bytes) -> None:
        walk = MemoryRecords(data)
        self.data = data
        self.has_next, self.next_batch, self.size_in_bytes = walk.has_next, walk.next_batch, walk.size_in_bytes


class _Records(fetcher.PartitionRecords):  # type: ignore[misc]
    def __init__(self, tp: Any, records: _Kept, aborted: Any, offset: int, key_deserializer: Any, *rest: Any) -> None:
        super().__init__(tp, records, aborted, offset, key_deserializer, *rest)
        committed = self._isolation_level == fetcher.READ_COMMITTED
        wanted = key_deserializer is as_blocks
        self.blocks = Fetched(records.data, (aborted or ()) if committed else (), offset) if wanted else None
        if wanted:
            # The library's own walk, which nobody will go: begun or not, it refers to us as we to it, and a megabyte
            # would wait for the garbage collector, which looks seldom here.
            self._records_iterator = None


class _Result(fetcher.FetchResult):  # type: ignore[misc]
    """What a fetch gave for one partition. A consumer that asked for blocks is given them through `getmany` only."""

    _partition_records: Any

    def getall(self, max_records: int | None = None) -> Any:
        if not self.check_assignment(self._topic_partition) or not self.has_more():
            return []
        records = self._partition_records
        if records.blocks is None:
            return super().getall(max_records)
        block = records.blocks.take(max_records)
        records.next_fetch_offset = records.blocks.next_offset
        self._update_position()
        if records.blocks.ended:
            self._partition_records = None
        return block


# aiokafka makes an object for each record and then a copy of it with a dict of its own, two microseconds in all, and it
# decodes the names of headers: one that is no text would stop a partition for ever. Its own readers are left as they
# are, because only `as_blocks` switches this on; it is done once and early, for results are told by their exact class.
fetcher.MemoryRecords, fetcher.PartitionRecords, fetcher.FetchResult = _Kept, _Records, _Result


def positions(consumer: Any, parts: Iterable[Any]) -> dict[Any, int]:
    """The fetch position of each assigned partition that has one."""
    subscription = consumer._subscription.subscription  # noqa: SLF001
    assignment = None if subscription is None else subscription.assignment
    if assignment is None:
        return {}
    found = {}
    for part in parts:
        if part in assignment.tps:
            state = assignment.state_value(part)
            if state.has_valid_position:
                found[part] = state.position
    return found


def high_watermark(consumer: Any, part: Any, at_least: int) -> int:
    """The end of the partition as of the last fetch."""
    found = consumer.highwater(part)
    return at_least if found is None else max(int(found), at_least)
