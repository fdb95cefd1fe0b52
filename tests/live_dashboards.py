"""One loaded worker of each kind of pipeline, with a Prometheus that reads it from before its first record."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from crowd_lives import SUM
from learning_help import walks
from live_aggregates import AggregateHouse
from live_crowds import TOPPED, CrowdHouse, walked
from live_flows import FlowHouse
from live_house import TwoStageHouse, lived_in
from live_stream import moment, now_ms, sent, write_for
from live_worker import VALUES, House, opened
from live_writing import PARTITIONS, Raw, write
from panels import Pipeline
from prometheus_server import JOB, Prometheus, watching

SHOWN_FROM_ONE = "metrics: {small_count_floor: 1}\n"
SECONDS = 8
BATCHES = 8
SEX = "{path: $.sex, values: [f, m], mechanism: grr, epsilon: 0.25, lasting: true, cap: 4, beyond: lower}"
WORK = "{path: $.work, values: [clerk, nurse], mechanism: grr, epsilon: 0.1, lasting: true, cap: 9}"
JOINT = {
    "format": "sottovoce-joint",
    "version": 1,
    "names": ["sex", "work"],
    "labels": [["f", "m"], ["clerk", "nurse"]],
    "weights": [[3, 6], [4, 2]],
}
FOLLOWED: Mapping[str, str] = {
    "budget": "{nats: 20, window: 1d, when_spent: forecast}",
    "metrics": "{small_count_floor: 1, accounts: 20}",
}
BESIDE: Mapping[str, str] = {
    "budget": "{nats: 1.5, window: forever, when_spent: forecast}",
    "fields": f"{{joint: joint.json, each: {{sex: {SEX}, work: {WORK}}}}}",
}
LEARNT: Mapping[str, str] = {
    "model": "{learn: {values: [still, walking], doubt: 0.01, withheld: 0.3}}",
    "mechanism": "{name: optimal, epsilon: 3.0}",
    "record": "{protect: {path: $.activity}, public: [$.battery]}",
    "budget": "{nats: unlimited, window: 1d, when_spent: forecast}",
}
UNTIL_LEARNT = 36_000
"""The first model may be learnt from 32,768 records of a partition."""


class Watched(NamedTuple):
    prometheus: Prometheus
    instance: str

    def asked(self, query: str) -> str:
        """A panel's query as Grafana would send it."""
        chosen = {"$job": JOB, "$instance": self.instance, "$__rate_interval": "1m"}
        for name, value in chosen.items():
            query = query.replace(name, value)
        return query


def events(count: int, first: int) -> list[Raw]:
    """Of users who stay in one partition each, with one in fifty that nobody can release."""
    chance, found = Random(first), []
    for number in range(first, first + count):
        user = chance.randrange(60)
        document = {
            "activity": "flying" if number % 50 == 49 else chance.choice(VALUES),
            "n": number,
            "sex": "fm"[user % 2],
            "work": ("clerk", "nurse")[user % 3 % 2],
        }
        found.append(Raw(user % PARTITIONS, b"user-%d" % user, json.dumps(document).encode(), timestamp=now_ms()))
    return found


def habits(count: int, first: int) -> list[Raw]:
    """Of users who stay at what they do, all in one partition, from which a model can be learnt."""
    found = [
        Raw(0, each.key, each.value, timestamp=now_ms()) for each in walks(count, stay=0.7, seed=first, first=first)
    ]
    return [*found, Raw(1, b"user-0", b'{"activity":"flying","battery":1}', timestamp=now_ms())]


async def in_batches(house: House, make: Callable[[int, int], list[Raw]], count: int) -> None:
    each = count // BATCHES
    for batch in range(BATCHES):
        await write(house.broker, house.raw, make(each, batch * each))
        await asyncio.sleep(SECONDS / BATCHES)
    await house.settled()


def of_users(
    settings: Mapping[str, str], make: Callable[[int, int], list[Raw]], count: int
) -> Callable[[str, Path], AbstractAsyncContextManager[Watched]]:
    @asynccontextmanager
    async def live(broker: str, folder: Path) -> AsyncIterator[Watched]:
        (folder / "joint.json").write_text(json.dumps(JOINT), encoding="utf-8")
        async with opened(broker, folder, **settings) as house:
            await house.start()
            instance = f"127.0.0.1:{house.port}"
            async with watching(folder, instance) as prometheus:
                await in_batches(house, make, count)
                yield Watched(prometheus, instance)

    return live


class Aggregates(AggregateHouse):
    def __init__(self, broker: str, folder: Path) -> None:
        super().__init__(broker, folder, moment(now_ms() - 5_000), "{nats: 5, windows: 4}")

    @property
    def section(self) -> str:
        return super().section + SHOWN_FROM_ONE


class Crowds(CrowdHouse):
    def __init__(self, broker: str, folder: Path) -> None:
        super().__init__(broker, folder, moment(now_ms() - 5_000), SUM, TOPPED, "all")

    @property
    def section(self) -> str:
        return f"{super().section}\n{SHOWN_FROM_ONE}"


class Delays(FlowHouse):
    def __init__(self, broker: str, folder: Path) -> None:
        super().__init__(broker, folder, "castle")

    @property
    def section(self) -> str:
        return super().section + SHOWN_FROM_ONE


async def load(house: TwoStageHouse) -> None:
    if isinstance(house, FlowHouse):
        await house.write_for(SECONDS)
    else:
        await write_for(house, SECONDS, now_ms() - 5_000, walked if isinstance(house, Crowds) else sent)


def of_everybody(
    make: Callable[[str, Path], TwoStageHouse],
) -> Callable[[str, Path], AbstractAsyncContextManager[Watched]]:
    @asynccontextmanager
    async def live(broker: str, folder: Path) -> AsyncIterator[Watched]:
        async with lived_in(make(broker, folder)) as house:
            worker = await house.start("w1")
            instance = worker._address.removeprefix("http://")
            async with watching(folder, instance) as prometheus:
                await load(house)
                yield Watched(prometheus, instance)

    return live


LIVES: Mapping[Pipeline, Callable[[str, Path], AbstractAsyncContextManager[Watched]]] = {
    Pipeline.EVENTS: of_users(FOLLOWED, events, 4_000),
    Pipeline.FIELDS: of_users(BESIDE, events, 4_000),
    Pipeline.LEARNING: of_users(LEARNT, habits, UNTIL_LEARNT),
    Pipeline.AGGREGATES: of_everybody(Aggregates),
    Pipeline.CROWD_WINDOWS: of_everybody(Crowds),
    Pipeline.CROWD_DELAY: of_everybody(Delays),
}
