"""A pipeline of aggregates on the real broker: its topics, its workers, and what must have come of its raw records."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from aggregate_lives import Sent, told, without_noise
from aggregate_recount import Recount, closings_by_clock
from live_house import TwoStageHouse, lived_in
from live_kafka import consume_all
from live_writing import PARTITIONS

from stream.aggregates.opening import open_aggregates
from stream.aggregates.promise import AggregatePromise
from stream.engine.connection import Connection
from stream.engine.topics import facts_of
from stream.keys import derived_key
from stream.names import PURPOSE_NOISE

QUERIES = (
    "people: {count: users, epsilon: 0.5}",
    "paid: {sum: $.v, low: -2, high: 8, grid: 0.5, take: sum, at_most: 3, epsilon: 0.5}",
    "pace: {mean: $.v, low: -2, high: 8, grid: 0.5, epsilon: 0.5}",
    "job: {histogram: $.job, values: [a, b, c], take: first, epsilon: 0.5}",
)
SECTION = """\
aggregate:
  window: 1s
  from: {start}
  lateness: 2s
  grace: 1s
  ahead: 5s
  each:
{queries}
  dependence: {{users: independent}}
  target: {target}
"""


class AggregateHouse(TwoStageHouse):
    between_suffix = "partials"

    def __init__(self, broker: str, folder: Path, start: str, target: str) -> None:
        super().__init__(broker, folder)
        self._start, self._target = start, target

    @property
    def section(self) -> str:
        queries = "".join(f"    {query}\n" for query in QUERIES).rstrip()
        return SECTION.format(start=self._start, queries=queries, target=self._target)

    @property
    def promise(self) -> AggregatePromise:
        return open_aggregates(self.files[0], {}).promise

    async def released(self) -> list[dict[str, Any]]:
        return told(await consume_all(self.broker, self.out))

    async def released_past(self, time: int) -> None:
        """Returns when every window that ends by then has its record."""
        await self.until_released(lambda records: records and records[-1].timestamp >= time)

    async def check(self, time: int) -> Counter[str]:
        """Everything that was released up to this time, against a recount; answers what became of the raw records."""
        promise = self.promise
        facts = await facts_of(Connection((self.broker,)), [self.raw])
        topic: UUID = facts[self.raw].id
        key = derived_key(promise.ring.current.secret, PURPOSE_NOISE, f"{promise.pipeline} {topic.hex}")
        said = await self.released()  # before the recount: windows go on closing
        sums, outcomes = await self.recount(promise)
        numbers = [each["window"]["number"] for each in said]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= (time - promise.start) // promise.length
        for each in said:
            number = each["window"]["number"]
            if each["outcome"] == "released":
                assert without_noise(promise, each, key) == sums[number], number
        await self.check_same_bytes()
        return outcomes

    async def recount(self, promise: AggregatePromise) -> tuple[dict[int, list[int]], Counter[str]]:
        """The cells of every closed window, from the raw topic and from when the clock closed windows."""
        changelog = await consume_all(self.broker, self.changelogs[0])
        raw, total, outcomes = await consume_all(self.broker, self.raw), {}, Counter[str]()
        refused = []
        for partition in range(PARTITIONS):
            by_clock = closings_by_clock((each.key, each.value) for each in changelog if each.partition == partition)
            recount = Recount(promise, promise.start, promise.start)
            for record in (record for record in raw if record.partition == partition):
                recount.closed = max([recount.closed, *(to for offset, to in by_clock if offset <= record.offset)])
                event = json.loads(record.value)
                recount.see(Sent(record.key, event["t"], event["v"], event["job"], record.timestamp))
                if recount.outcomes[-1] != "counted":
                    refused.append((partition, record.offset, recount.outcomes[-1]))
            recount.closed = max([recount.closed, *(to for _, to in by_clock)])
            outcomes.update(recount.outcomes)
            for number, row in recount.sums().items():
                total[number] = total.get(number, np.zeros(promise.cells, np.int64)) + row
        letters = [json.loads(record.value) for record in await consume_all(self.broker, self.dead)]
        assert sorted((each["partition"], each["offset"], each["reason"]) for each in letters) == refused
        return {number: row.tolist() for number, row in total.items()}, outcomes


def housed(
    broker: str, folder: Path, start: str, target: str = "{nats: unlimited, windows: 60}"
) -> AbstractAsyncContextManager[AggregateHouse]:
    """A pipeline whose workers have not been started."""
    return lived_in(AggregateHouse(broker, folder, start, target))
