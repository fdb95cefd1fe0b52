"""Windows of aggregates on the real broker: every window once, true sums under the noise, whoever is killed when."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import live_kafka
import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions
from broker import Broker
from fault_workers import command
from live_aggregates import housed
from live_stream import moment, now_ms, write_for
from live_worker import fetch
from live_writing import create_raw

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


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
        await house.check_audit()
        await house.check_nobody_is_named(b"person-", b'"job"', b'"v": ')
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
        await live_kafka.delete_topics(house.broker, [house.between])
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
