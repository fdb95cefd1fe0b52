"""Windows of aggregates on the real broker: every window once, true sums under the noise, whoever is killed when."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import live_kafka
import pytest
from aggregate_lives import Sent
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions
from broker import Broker
from fault_workers import command
from live_aggregates import AggregateHouse, housed
from live_worker import fetch
from live_writing import Raw, create_raw, producing, write_with

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 47
SILENT = 2
"""A partition of the raw topic to which nobody writes."""


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


async def test_every_window_once_under_kills_with_two_workers(broker: Broker, tmp_path: Path) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start)) as house:
        first = await house.start("w1")
        writing = asyncio.create_task(write_for(house, 45, start))
        await asyncio.sleep(3)
        await first.kill_child()
        second = await house.start("w2", f"{{kind: disk, folder: {tmp_path / 'disk'}}}")
        for victim in (first, second, first):
            await asyncio.sleep(4)
            await victim.kill_child()
        last = await writing
        await house.released_past(last)
        outcomes = await house.check(last)
        assert {"counted", "late", "time_ahead", "before_start"} <= set(outcomes)
        await house.check_nobody_is_named(b"person-", b'"job"', b'"v"')
        said = await house.released()
        assert {each["outcome"] for each in said} == {"released"}
        assert sum(each["aggregates"]["people"]["value"] for each in said) > 100
        for worker in (second, first):
            status, _ = await worker.terminate()
            assert status == 0, worker.log_tail()


async def test_a_calm_worker_counts_everything_and_withholds_what_the_target_does_not_pay(
    broker: Broker, tmp_path: Path
) -> None:
    """Two nats a window, five in any four in a row: two of any four windows, whatever is in them."""
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start), "{nats: 5, windows: 4}") as house:
        worker = await house.start("w1")
        last = await write_for(house, 5, start)
        await house.released_past(last)
        outcomes = await house.check(last)
        said = await house.released()
        assert [each["reason"] for each in said[:8]] == [None, None, "budget", "budget"] * 2
        metrics = await worker.metrics()
        counts = {
            name: metrics.value("sottovoce_events_total", outcome=name)
            for name in ("taken", "repeated", "replayed", "dead_lettered")
        }
        assert sum(counts.values()) == outcomes.total()
        assert counts["dead_lettered"] == outcomes.total() - outcomes["counted"]
        assert Counter(outcomes)["counted"] == counts["taken"] + counts["repeated"]
        assert counts["repeated"] > 0
        page = await asyncio.to_thread(fetch, f"{worker._address}/readyz")
        assert page.status == 200
        status, seconds = await worker.terminate()
        assert (status, seconds < 15) == (0, True), worker.log_tail()


async def test_topics_that_were_made_again_are_refused(broker: Broker, tmp_path: Path) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start)) as house:
        worker = await house.start("w1")
        await house.released_past(start + 2_000)
        assert (await worker.terminate())[0] == 0
        await live_kafka.delete_topics(house.broker, [house.partials])
        await asyncio.sleep(1)
        answer = await command("run", str(house.files[0]))
        assert answer.status == 2
        assert "was deleted and made again" in answer.said
        await live_kafka.delete_topics(house.broker, [house.raw])
        await asyncio.sleep(1)
        await create_raw(house.broker, house.raw)
        answer = await command("run", str(house.files[0]))
        assert answer.status == 2
        assert "was deleted and made again" in answer.said


async def test_another_number_of_partitions_is_refused(broker: Broker, tmp_path: Path) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start)) as house:
        worker = await house.start("w1")
        await house.released_past(start + 2_000)
        assert (await worker.terminate())[0] == 0
        admin = AIOKafkaAdminClient(bootstrap_servers=house.broker)
        await admin.start()
        try:
            for topic in (house.raw, house.dead, house.changelogs[0]):
                await admin.create_partitions({topic: NewPartitions(4)})
        finally:
            await admin.close()
        answer = await command("run", str(house.files[0]))
        assert answer.status == 2
        assert "partition count has changed" in answer.said
