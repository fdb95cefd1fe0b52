"""What an audit needs of the world: topics to read, and offsets to ask for. `kafka_world` keeps this with a real
broker.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from stream.audit.records import Record


class Bounds(NamedTuple):
    """First offset that still exists, the end of what is decided, and the end of all. Offsets at the ends do not exist
    yet.
    """

    first: int
    stable: int
    end: int


class Topics(Protocol):
    async def partitions(self, topic: str) -> Sequence[int]:
        """The partitions of a topic, ascending; none if it does not exist."""

    async def bounds(self, topic: str, partition: int) -> Bounds: ...

    def read(self, topic: str, partition: int, until: int, *, committed: bool) -> AsyncIterator[Sequence[Record]]:
        """All records before offset `until`, from the first that exists, in chunks; committed ones, or all."""

    async def count(self, topic: str, partition: int, until: int) -> tuple[int, bool]:
        """How many committed records stand before offset `until`, and whether the library could read them all. Where it
        could not, the worker's own reader has counted, which is then not checked by anybody else.
        """

    async def group_offsets(self, group: str, topic: str) -> Mapping[int, int] | None:
        """The offsets that a consumer group has committed; None if nobody may say."""


class ReadsOn(Protocol):
    """Topics that can be read from an offset on, for whoever follows them."""

    async def partitions(self, topic: str) -> Sequence[int]: ...

    async def bounds(self, topic: str, partition: int) -> Bounds: ...

    def read(
        self, topic: str, partition: int, until: int, *, committed: bool, first: int = 0
    ) -> AsyncIterator[Sequence[Record]]: ...
