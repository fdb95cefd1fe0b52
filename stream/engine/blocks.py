"""What Faust carries:

one message is one block, so that its cost of two tasks a message is paid once for thousands of records.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from faust.types import TP
from faust.types.transports import SchedulingStrategyT

from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Block


class BlockMessage:
    """Looks to Faust like one record of the raw topic whose value is the block and whose offset is the block's last."""

    __slots__ = ("offset", "partition", "timestamp", "timestamp_type", "topic", "value")

    headers: Sequence[tuple[str, bytes]] = ()
    key = None
    checksum = None
    serialized_key_size = 0
    serialized_value_size = 0

    def __init__(self, topic: str, block: Block) -> None:
        self.topic = topic
        self.partition = block.partition
        self.offset = int(block.records.offsets[-1])
        self.timestamp = int(block.records.timestamps[-1])
        self.timestamp_type = 0
        self.value = block


class BlockScheduler(SchedulingStrategyT):
    """Faust's `ConsumerScheduler`: what was fetched of a partition goes on as one message, which is its block."""

    def __init__(self) -> None:
        """Nothing is kept from one fetch to the next."""

    def iterate(self, records: Mapping[TP, Any]) -> Iterator[tuple[TP, BlockMessage]]:
        """The fetch thread has made a block of each partition's records, since it knows from where to where they go."""
        for part, block in records.items():
            yield part, BlockMessage(part.topic, block)


class Continuity:
    """Where each partition's next block starts, so that a record lost on the way to the lanes is noticed.

    The consumer's position before a fetch is where the previous one ended, unless somebody has sought meanwhile. A
    fetch may move the position without giving a record (markers of transactions, records compacted away); the next
    block then starts where the last block ended.
    """

    def __init__(self) -> None:
        self._starts: dict[Any, int] = {}
        self._seen: dict[Any, int] = {}

    def before(self, positions: dict[Any, int]) -> None:
        for part, position in positions.items():
            if self._seen.get(part) != position:
                self._starts[part] = self._seen[part] = position

    def block(self, part: Any, records: InputBlock, position: int, high_watermark: int) -> Block:
        # A seek backwards during the fetch shows in the first record.
        first = int(records.offsets[0])
        start = min(self._starts.get(part, first), first)
        self._starts[part] = position
        return Block(part.partition, start, position, records, high_watermark)

    def after(self, positions: dict[Any, int]) -> None:
        self._seen.update(positions)

    def nothing(self, part: Any) -> tuple[int, int]:
        """Two offsets between which there is no record: where the next block starts, and how far we have looked."""
        seen = self._seen[part]
        return self._starts.get(part, seen), seen
