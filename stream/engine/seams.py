"""The places where we look into aiokafka, all in one file, each held by a test of its own.

Fetch positions are public only as coroutines (`position`), and asking once for each partition and fetch would cost a
task each; the fetcher's own table is read instead. aiokafka is pinned to one minor version for this reason.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.producer import sender

from stream.engine.batches import Batch, seal

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


class _AsTheyAre(fetcher.PartitionRecords):  # type: ignore[misc]
    """Hands over the parsed records themselves: they have offset, timestamp, key, value and headers.

    aiokafka copies each into a `ConsumerRecord` with a dict of its own, which costs a microsecond and a container that
    the garbage collector has to walk; a block has thousands.
    """

    def _consumer_record(self, tp: Any, record: Any) -> Any:  # noqa: ARG002 the library's signature
        return record


def hand_over_records_as_they_are() -> None:
    fetcher.PartitionRecords = _AsTheyAre


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
