"""Raw records for windows of event time as they come in life: late, early, repeated, and from silent partitions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

from aggregate_lives import Sent
from live_house import TwoStageHouse
from live_writing import Raw, producing, write_with

SEED = 47


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).isoformat().replace("+00:00", "Z")


Write = Callable[[Random, int, int, int], Raw]
"""Makes a record of a user, of the event's time and of its own."""


def sent(chance: Random, user: int, event: int, now: int) -> Raw:
    """For windows of aggregates."""
    made = Sent(b"person-%03d" % user, event, chance.randrange(-6, 24) / 2, chance.choice("abc"), now)
    return Raw(user % 2, made.user, made.text, timestamp=now)


def records(chance: Random, count: int, start: int, write: Write) -> list[Raw]:
    """Events of some users: most on time, some late, far ahead, before the start, or repeated."""
    found: list[Raw] = []
    for _ in range(count):
        if found and chance.random() < 0.1:
            found.append(chance.choice(found[-20:]))
            continue
        user, now = chance.randrange(60), now_ms()
        behind = chance.choice((0, 0, 0, 300, 900, 1_500, 6_000, -3_000, -9_000))
        event = start - 5 if chance.random() < 0.01 else now - behind
        found.append(write(chance, user, event, now))
    return found


async def write_for(house: TwoStageHouse, seconds: float, start: int, write: Write = sent) -> int:
    """Answers the time of the last event at most."""
    chance, ends = Random(SEED), time.monotonic() + seconds
    async with producing(house.broker) as producer:
        while time.monotonic() < ends:
            await write_with(producer, house.raw, records(chance, 40, start, write))
            await asyncio.sleep(0.1)
    return now_ms() + 9_000
