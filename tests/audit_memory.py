"""Topics as lists in memory, which a test may falsify before the audit reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from stream.audit.records import Record
from stream.audit.world import Bounds

START_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Kept:
    """One record of a topic in memory."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int = START_MS
    headers: tuple[tuple[str, bytes], ...] = ()
    committed: bool = True
    timestamp_type: int = 0


def with_header(record: Kept, name: str, value: bytes) -> Kept:
    """The same with another value of this header."""
    headers = tuple((key, value if key == name else old) for key, old in record.headers)
    return replace(record, headers=headers)


@dataclass
class Memory:
    """Topics by name and partition; `first` and `group` may be set by a test."""

    logs: dict[str, list[list[Kept]]]
    group: dict[int, int] | None = None
    first: int = 0

    async def partitions(self, topic: str) -> Sequence[int]:
        return range(len(self.logs.get(topic, [])))

    async def bounds(self, topic: str, partition: int) -> Bounds:
        log = self.logs[topic][partition]
        end = log[-1].offset + 1 if log else 0
        return Bounds(self.first, end, end)

    async def read(self, topic: str, partition: int, until: int, *, committed: bool) -> AsyncIterator[Sequence[Record]]:
        seen = [one for one in self.logs[topic][partition] if one.offset < until and (one.committed or not committed)]
        for start in range(0, len(seen), 500):
            yield seen[start : start + 500]

    async def count(self, topic: str, partition: int, until: int) -> tuple[int, bool]:
        return sum([one.offset < until and one.committed for one in self.logs[topic][partition]]), True

    async def group_offsets(self, group: str, topic: str) -> Mapping[int, int] | None:
        return self.group
