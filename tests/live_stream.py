"""Raw records for windows of aggregates as they come in life: late, early, repeated, and from silent partitions."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from random import Random

from aggregate_lives import Sent
from live_aggregates import AggregateHouse
from live_writing import Raw, producing, write_with

SEED = 47


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")


def records(chance: Random, count: int, start: int) -> list[Raw]:
    """Events of some users: most on time, some late, far ahead, before the start, or repeated."""
    found: list[Raw] = []
    for _ in range(count):
        if found and chance.random() < 0.1:
            found.append(chance.choice(found[-20:]))
            continue
        user, now = chance.randrange(60), now_ms()
        behind = chance.choice((0, 0, 0, 300, 900, 1_500, 6_000, -3_000, -9_000))
        event = start - 5 if chance.random() < 0.01 else now - behind
        sent = Sent(b"person-%03d" % user, event, chance.randrange(-6, 24) / 2, chance.choice("abc"), now)
        found.append(Raw(user % 2, sent.user, sent.text, timestamp=now))
    return found


async def write_for(house: AggregateHouse, seconds: float, start: int) -> int:
    """Answers the time of the last event at most."""
    chance, ends = Random(SEED), time.monotonic() + seconds
    async with producing(house.broker) as producer:
        while time.monotonic() < ends:
            await write_with(producer, house.raw, records(chance, 40, start))
            await asyncio.sleep(0.1)
    return now_ms() + 9_000
