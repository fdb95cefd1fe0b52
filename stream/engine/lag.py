"""How many raw records wait, asked of the brokers once a second: also while no block comes, and above all then."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from stream.errors import PublishFailed
from stream.protocol.lane import Lane
from stream.protocol.observer import Observer

EVERY_SECONDS = 1.0

log = logging.getLogger("sottovoce.lag")


class Ends(Protocol):
    async def decided_ends(self, topic: str, partitions: Sequence[int]) -> dict[int, int]: ...


class Lanes(Protocol):
    def lanes(self) -> dict[int, Lane]: ...


class LagWatch:
    """`nothing` says of a partition between which two offsets there is no record (`Lane.lag`)."""

    def __init__(
        self, topic: str, ends: Ends, lanes: Lanes, nothing: Mapping[int, tuple[int, int]], observer: Observer
    ) -> None:
        self._topic = topic
        self._ends = ends
        self._lanes = lanes
        self._nothing = nothing
        self._observer = observer

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(EVERY_SECONDS)

    async def look(self) -> None:
        """Tell the lag of every partition that is served. Brokers that do not answer leave what was told before."""
        partitions = sorted(self._lanes.lanes())
        if not partitions:
            return
        try:
            ends = await self._ends.decided_ends(self._topic, partitions)
        except PublishFailed as failure:
            # The lanes find out by themselves when the brokers are away; the lag alone is no reason to stop.
            log.warning("How many records wait is not known anew: %s", failure.why)
            return
        for partition, lane in self._lanes.lanes().items():
            if partition in ends:
                self._observer.lag(partition, lane.lag(ends[partition], self._nothing.get(partition, (0, 0))))
