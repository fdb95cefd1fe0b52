"""What a worker knows survives it: on disk, in the changelog, under every policy; and the audit agrees each time."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from broker import Broker
from live_worker import STEPS_AT, VALUES, Counts, House, opened
from live_writing import FIRST_TIME, PARTITIONS, Raw, write

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
USERS = 40
EVENT_MS = 500
READ = re.compile(r"Partition (\d+) serves; its belief changelog was read from offset (\d+) to (\d+) in")

DISK = "{kind: disk, folder: beliefs}"
NESTED = """{user: {path: "$.who[0].id", and_key: true}, event_time: {path: $.when.at, unit: s}, \
protect: {path: $.what.activity}, public: ["$.list[2]", $.what.n, $.note], headers: [trace]}"""
PSEUDONYM = "{user: {path: $.id, and_key: true}, protect: {path: $.activity}, public: [$.n], release_key: pseudonym}"


def walk(first: int, count: int) -> Iterator[Raw]:
    """Events that all records settings of this file can read, with one in a hundred that nobody can."""
    random = Random(first)
    for number in range(first, first + count):
        user = random.randrange(USERS)
        name = f"user-{user}"
        activity = "flying" if number % 100 == 99 else random.choice(VALUES)
        time = FIRST_TIME + number * EVENT_MS
        document = {
            "activity": activity,
            "n": number,
            "id": name,
            "who": [{"id": name}, "nobody"],
            "when": {"at": time / 1000},
            "what": {"activity": activity, "n": {"deep": [number]}},
            "list": [0, 1, "größe", 3],
            "secret": "s",
        }
        text = json.dumps(document, ensure_ascii=False).encode()
        yield Raw(user % PARTITIONS, name.encode(), text, (("trace", b"%d" % number), ("cookie", b"c")), time)


def last_reads(house: House) -> dict[int, tuple[int, int]]:
    """From where to where each partition's changelog was read at the latest start, by what the worker said."""
    return {int(part): (int(start), int(end)) for part, start, end in READ.findall(house.worker.said())}


def steps_in(rows: Mapping[bytes, bytes]) -> dict[bytes, int]:
    return {key: int(struct.unpack_from("<q", row, STEPS_AT)[0]) for key, row in rows.items()}


async def feed(house: House, first: int, count: int, restarts: int = 0) -> Counts:
    """So many events more; afterwards the topics add up, and what a worker exports that has seen them all."""
    await write(house.broker, house.raw, walk(first, count))
    await house.settled(restarts)
    counts = await house.check_identity(counters=first == 0)
    assert counts.inputs == first + count
    return counts


async def test_a_store_on_disk_goes_on_where_it_stood(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path, store=DISK) as house:
        await house.start()
        await feed(house, 0, 2_000)
        await house.check_audit()
        assert {start for start, _ in last_reads(house).values()} == {0}
        users = (await house.metrics()).value("sottovoce_tracked_users")
        await house.stop()
        before = await house.rows()

        await house.start()
        assert await house.rows() == before
        assert (await house.metrics()).value("sottovoce_tracked_users") == users == USERS
        # The marker of its own last commit may stand behind the last record, and nothing else.
        assert all(start > 0 and end - start <= 1 for start, end in last_reads(house).values())
        await feed(house, 2_000, 1_000)
        await house.worker.kill_child()
        await feed(house, 3_000, 1_000, restarts=1)
        assert all(start > 0 for start, _ in last_reads(house).values())
        await house.stop()
        after = steps_in(await house.rows())
        assert sum(after.values()) == 4_000 * 99 // 100
        assert all(after[key] > steps for key, steps in steps_in(before).items())

        await only_what_is_newer_is_read(house)
        await a_lost_folder_is_filled_again(house)


async def only_what_is_newer_is_read(house: House) -> None:
    """Another worker, which keeps nothing on disk, goes on for a while; then the one with the disk comes back."""
    stood = {record.partition: record.offset for record in await house.read(house.changelog)}
    house.write_settings(store="{kind: memory}")
    await house.start()
    assert {start for start, _ in last_reads(house).values()} == {0}
    await feed(house, 4_000, 500)
    await house.stop()

    house.write_settings(store=DISK)
    await house.start()
    reads = last_reads(house)
    assert {part: start for part, (start, _) in reads.items()} == {part: at + 1 for part, at in stood.items()}
    assert all(end > start + 1 for start, end in reads.values())
    await feed(house, 4_500, 500)
    await house.check_audit()
    await house.stop()


async def a_lost_folder_is_filled_again(house: House) -> None:
    shutil.rmtree(house.folder / "beliefs")
    await house.start()
    assert {start for start, _ in last_reads(house).values()} == {0}
    assert (await house.metrics()).value("sottovoce_tracked_users") == USERS
    await feed(house, 5_000, 500)
    await house.check_audit()
    await house.stop()


class Case(NamedTuple):
    settings: dict[str, str]
    must_happen: tuple[str, ...]
    must_not_happen: tuple[str, ...] = ()


CASES = {
    "suppress in small windows, on disk": Case(
        {"budget": "{nats: 2.5, window: 1m, when_spent: suppress}", "store": DISK},
        ("released", "suppressed"),
        ("forecast",),
    ),
    "stop for ever, under a pseudonym": Case(
        {"budget": "{nats: 6, window: forever, when_spent: stop}", "record": PSEUDONYM},
        ("released", "suppressed"),
        ("forecast",),
    ),
    "a draw for a forecast, nested paths, user and time from fields": Case(
        {
            "budget": "{nats: 3, window: 2m, when_spent: forecast_draw}",
            "record": NESTED,
            "mechanism": "{name: marginal_preserving, epsilon: 0.7}",
            "store": DISK,
        },
        ("released", "forecast"),
        ("suppressed",),
    ),
    "the published mechanism, a forecast when spent": Case(
        {
            "budget": "{nats: 4, window: 5m, when_spent: forecast}",
            "record": PSEUDONYM,
            "mechanism": "{name: published_crr, epsilon: 0.8, accept_unbounded: true}",
        },
        ("released", "forecast"),
        ("suppressed",),
    ),
}


async def test_each_policy_survives_a_restart_and_its_audit_agrees(broker: Broker, tmp_path: Path) -> None:
    """All at once: a worker spends most of its start waiting."""
    async with asyncio.TaskGroup() as group:
        for number, name in enumerate(CASES):
            group.create_task(live_through(broker.bootstrap, tmp_path / str(number), CASES[name]), name=name)


async def live_through(broker: str, folder: Path, case: Case) -> None:
    async with opened(broker, folder, **case.settings) as house:
        await house.start()
        first = await feed(house, 0, 3_000)
        await house.stop()
        await house.start()
        second = await feed(house, 3_000, 3_000)
        assert all(getattr(first, outcome) > 0 for outcome in case.must_happen), (case, first)
        assert not any(getattr(second, outcome) for outcome in case.must_not_happen), (case, second)
        stopped = USERS if "when_spent: stop" in case.settings["budget"] else 0
        assert (await house.metrics()).value("sottovoce_stopped_users") == stopped, case
        await house.check_audit()
        await check_released(house, pseudonym="pseudonym" in case.settings.get("record", ""))
        await house.stop()


async def check_released(house: House, *, pseudonym: bool) -> None:
    """Only what was declared, under the declared key; and one user is one key."""
    released = await house.read(house.released)
    named = {b"user-%d" % user for user in range(USERS)}
    keys = {record.key for record in released}
    assert len(keys) == USERS
    assert keys.isdisjoint(named) if pseudonym else keys == named
    assert {key[1:] for key in await house.rows()} == keys
    for record in released:
        value = json.loads(record.value)
        if "what" in value:
            assert set(value) == {"what", "list"}
            assert set(value["what"]) == {"activity", "n"}
            assert value["list"] == [None, None, "größe"]
            number = value["what"]["n"]["deep"][0]
            assert ("trace", b"%d" % number) in record.headers
            assert record.timestamp == FIRST_TIME + number * EVENT_MS
        else:
            assert set(value) == {"activity", "n"}
        assert "cookie" not in dict(record.headers)
