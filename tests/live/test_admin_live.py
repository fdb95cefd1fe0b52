"""What a running worker says about itself, and who may ask: sockets, readiness, lag, counters and users' histograms."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from fault_workers import children
from live_worker import House, Page, opened, until
from live_writing import FIRST_TIME, PARTITIONS, Raw, producing, write, write_with

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
LISTENS = "0A"
LOOPBACK = "0100007F"  # 127.0.0.1 as the kernel writes it
ACTIVITIES = ("still", "walking", "running", "cycling")
OVER_USERS = ("sottovoce_lifetime_leakage_nats", "sottovoce_budget_spent_ratio")


def walk(first: int, count: int, users: int = 60) -> Iterator[Raw]:
    """Events of users who each stay in one partition, with one in fifty that nobody can release."""
    random = Random(first)
    for number in range(first, first + count):
        user = random.randrange(users)
        activity = "flying" if number % 50 == 49 else random.choice(ACTIVITIES)
        value = json.dumps({"activity": activity, "n": number, "place": "here"}).encode()
        yield Raw(user % PARTITIONS, b"user-%d" % user, value, timestamp=FIRST_TIME + 1000 * number)


def listening(pids: Collection[int]) -> list[tuple[str, int]]:
    """Address and port of every socket on which one of these processes takes connections."""
    mine = set()
    for pid in pids:
        links = [link for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
        mine |= {link.readlink().name for link in links}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS and f"socket:[{fields[9]}]" in mine:
                address, port = fields[1].split(":")
                found.append((address, int(port, 16)))
    return found


async def processes_of(house: House) -> list[int]:
    """The supervisor, its worker, and whatever that has started."""
    worker = await house.worker.child()
    return [house.worker.supervisor, worker, *children(worker)]


async def ready_pages(house: House) -> list[Page]:
    """What /readyz answers from the moment at which anybody answers until it says yes."""
    pages: list[Page] = []
    async with asyncio.timeout(200):
        while not pages or pages[-1].status != 200:
            try:
                pages.append(await house.page("/readyz"))
            except OSError:  # nobody listens yet
                assert house.worker.running, house.worker.log_tail()
            await asyncio.sleep(0.02)
    return pages


async def test_a_worker_is_ready_after_recovery_and_its_users_stand_as_before(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path) as house:
        await write(broker.bootstrap, house.raw, walk(0, 6_000))
        house.worker.start()
        first = await ready_pages(house)
        await house.settled()
        await check_who_listens(house)
        before = await house.metrics()
        assert before.value("sottovoce_worker_restarts_total") == 0
        await house.check_identity()
        await house.stop()

        house.worker.start()
        second = await ready_pages(house)
        after = await house.metrics()
        for pages in (first, second):
            assert pages[0].status == 503
            assert {page.status for page in pages} == {503, 200}
            reasons = [reason for page in pages for reason in json.loads(page.text)["reasons"]]
            assert any("joined" in reason or "recovered" in reason for reason in reasons)
            assert json.loads(pages[-1].text) == {"ready": True, "reasons": []}
        # Nothing has been released since the restart: all this is read from the changelog.
        assert after.total("sottovoce_events_total") == 0
        assert after.value("sottovoce_tracked_users") == before.value("sottovoce_tracked_users") == 60
        for name in OVER_USERS:
            assert users_in(after, name) == users_in(before, name) != []
        assert after.value("sottovoce_state_bytes") == 60 * (64 + 4 * len(ACTIVITIES))

        await house.worker.kill_child()
        await write(broker.bootstrap, house.raw, walk(6_000, 1_000))
        await house.settled(restarts=1)
        await until(lambda: restarts_are(house, 1))
        await house.check_identity(counters=False)
        await house.check_audit()
        await house.stop()


async def check_who_listens(house: House) -> None:
    """One port on loopback, which answers four questions, is all that the supervisor and its worker open."""
    assert listening(await processes_of(house)) == [(LOOPBACK, house.port)]
    assert [(await house.page(path)).status for path in ("/", "/metrics", "/livez", "/readyz")] == [200] * 4
    assert (await house.page("/beliefs")).status == 404


def users_in(metrics: object, name: str) -> list[tuple[object, float]]:
    """Every bucket of a histogram over users, on both sides."""
    values = metrics._values  # type: ignore[attr-defined]
    return sorted((labels, value) for (found, labels), value in values.items() if found == f"{name}_bucket")


async def restarts_are(house: House, wanted: int) -> bool:
    return (await house.metrics()).value("sottovoce_worker_restarts_total") == wanted


async def test_the_lag_is_asked_for_while_nothing_is_committed(broker: Broker, tmp_path: Path) -> None:
    """Records of an open or aborted transaction are nobody's work, though they stand behind the last commit."""
    async with (
        opened(broker.bootstrap, tmp_path) as house,
        producing(broker.bootstrap, transactional_id=house.name) as other,
    ):
        await write(broker.bootstrap, house.raw, walk(0, 900))
        await other.begin_transaction()
        await write_with(other, house.raw, walk(900, 300))
        await house.start()
        await until(lambda: lag_is(house, 0, committed=900))
        await other.abort_transaction()
        await write(broker.bootstrap, house.raw, walk(1_200, 30))
        await until(lambda: lag_is(house, 0, committed=930))
        await other.begin_transaction()
        await write_with(other, house.raw, walk(1_230, 30))
        await other.abort_transaction()
        # Now aborted records and markers stand at the end of every partition, and no commit will ever name them.
        await asyncio.sleep(2)
        assert await lag_is(house, 0, committed=930)
        assert json.loads((await house.page("/livez")).text) == {"alive": True, "reasons": []}
        await house.stop()


async def lag_is(house: House, wanted: int, *, committed: int) -> bool:
    metrics = await house.metrics()
    return metrics.total("sottovoce_events_total") == committed and metrics.total("sottovoce_lag_records") == wanted


async def test_what_waits_is_shown_and_goes_down_to_nothing(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path, limits="{max_block_records: 50}") as house:
        await house.start()
        seen: list[float] = []
        writing = asyncio.create_task(write(broker.bootstrap, house.raw, walk(0, 30_000)))
        async with asyncio.timeout(200):
            while not seen or seen[-1] or not writing.done() or not await lag_is(house, 0, committed=30_000):
                seen.append((await house.metrics()).total("sottovoce_lag_records"))
        assert max(seen) > 50
        await house.settled()
        await house.check_identity()
        await house.stop()
