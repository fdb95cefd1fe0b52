"""A hundred thousand malformed records, mixed with good ones, through real workers: nothing stops, all adds up.

Every refusal of a worker is compared with a reading of the same records that shares no code with it.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import strict_reference
from broker import Broker
from live_worker import House, opened
from live_writing import FIRST_TIME, PARTITIONS, Raw, write
from malformed import NOT_OF_A_RECORD_ALONE, record

from beliefs.alphabet import Categories
from stream import names

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
WORDS = ("still", "walking", "running", "a:b", "größe")
MALFORMED = 58_000
"""For each of two pipelines."""
GOOD_AMONG_THEM = 6
"""After so many malformed records comes a good one."""
USERS = 50
MAX_BYTES = 2_000
LARGE = 900_000

FIRST_LEVEL = f"{{protect: {{path: $.activity}}, public: [$.n], max_bytes: {MAX_BYTES}}}"
NESTED = f"""{{user: {{path: $.id, and_key: true}}, event_time: {{path: $.device.time, unit: iso8601}}, \
protect: {{path: $.device.activity}}, public: [$.device.level, "$.list[1]", $.n], max_bytes: {MAX_BYTES}}}"""

WANTED_FIRST_LEVEL = strict_reference.Wanted(
    protected=("activity",), alphabet=WORDS, user=None, and_key=False, time=None, unit="",
    public={"$.n": ("n",)}, max_bytes=MAX_BYTES,
)  # fmt: skip
WANTED_NESTED = strict_reference.Wanted(
    protected=("device", "activity"), alphabet=WORDS, user=("id",), and_key=True, time=("device", "time"),
    unit="iso8601", public={"$.device.level": ("device", "level"), "$.list[1]": ("list", 1), "$.n": ("n",)},
    max_bytes=MAX_BYTES,
)  # fmt: skip


def traffic(first: int) -> Iterator[Raw]:
    for number in range(first, first + MALFORMED):
        value, key, timestamp = record(number)
        yield at_home(key, value, timestamp, number)
        if number % GOOD_AMONG_THEM == 0:
            yield good(number)
        if number % (MALFORMED // 10) == 0:
            yield from large_ones(number)


def at_home(key: bytes | None, value: bytes | None, timestamp: int, number: int) -> Raw:
    """A user stays in one partition, as any keyed producer would have it."""
    home = number if key is None else zlib.crc32(key)
    return Raw(home % PARTITIONS, key, value, timestamp=max(-1, timestamp))


def good(number: int) -> Raw:
    user = f"user-{number % USERS}"
    activity = WORDS[number % len(WORDS)]
    device = {"activity": activity, "level": number / 7, "time": "2023-11-14T22:13:20Z"}
    document = {"activity": activity, "device": device, "id": user, "n": number, "list": [1, number]}
    text = json.dumps(document, ensure_ascii=bool(number % 2)).encode()
    return at_home(user.encode(), text, FIRST_TIME + number, number)


def large_ones(number: int) -> Iterator[Raw]:
    """Far above the largest size that is read, in value, key and headers that nobody has chosen."""
    yield Raw(number % PARTITIONS, b"u1", b" " * LARGE)
    yield Raw(number % PARTITIONS, b"u1", b"[" * LARGE)
    yield Raw(number % PARTITIONS, b"u" * LARGE, good(number).value)
    yield good(number)._replace(headers=(("large", b"x" * LARGE), ("large", b"")))


def refused(wanted: strict_reference.Wanted, raw: list[Any]) -> set[tuple[int, int]]:
    """Where the reference finds a record that must not be released."""
    places = set()
    for one in raw:
        try:
            strict_reference.select(wanted, one.value, one.key, one.timestamp)
        except strict_reference.RefusedError:
            places.add((one.partition, one.offset))
    return places


async def check(house: House, wanted: strict_reference.Wanted) -> Counter[str]:
    """Answers how often each reason was given."""
    pid = await house.worker.child()
    assert len(await house.settled()) == PARTITIONS
    counts = await house.check_identity()
    letters = [(letter, json.loads(letter.value)) for letter in await house.read(house.dead)]
    places = [(told["partition"], told["offset"]) for _, told in letters]
    assert len(places) == len(set(places)) == counts.dead_lettered
    assert set(places) == refused(wanted, await house.read(house.raw))
    assert {(letter.key, letter.headers) for letter, _ in letters} == {(None, ())}
    assert all(letter.partition == told["partition"] for letter, told in letters)
    reasons = Counter(told["reason"] for _, told in letters)
    metrics = await house.metrics()
    assert {name: metrics.value("sottovoce_dead_letters_total", reason=name) for name in reasons} == reasons
    await house.check_audit()
    assert (house.restarts, await house.worker.child()) == (0, pid)
    assert "Traceback" not in house.worker.said()
    await house.stop()
    return reasons


async def test_a_hundred_thousand_malformed_records_stop_nothing(broker: Broker, tmp_path: Path) -> None:
    words = Categories(WORDS)
    first = opened(broker.bootstrap, tmp_path / "first", alphabet=words, record=FIRST_LEVEL)
    second = opened(broker.bootstrap, tmp_path / "second", alphabet=words, record=NESTED)
    async with first as a, second as b:
        await asyncio.gather(a.start(), b.start())
        await write(broker.bootstrap, a.raw, traffic(0))
        await write(broker.bootstrap, b.raw, traffic(MALFORMED))
        reasons = await check(a, WANTED_FIRST_LEVEL) + await check(b, WANTED_NESTED)
        assert reasons.total() >= 100_000, reasons
        assert {name for name in set(names.REASONS) - NOT_OF_A_RECORD_ALONE if reasons[name] < 20} == set(), reasons


GROWING = "{protect: {path: $.activity}, public: [$.n], headers: [trace, tags], max_bytes: 1000000}"


def those_that_grow() -> Iterator[Raw]:
    """Records that are larger released than raw, or that carry more beside their value than has room there."""
    numbers = b'{"activity":"still","n":[' + b",".join([b"1e15"] * 190_000) + b"]}"
    yield Raw(0, b"u1", numbers)
    yield Raw(1, b"u2", good(1).value, (("trace", b"x" * 1_040_000),))
    yield Raw(1, b"u2", good(2).value, (("tags", b"x"),) * 60_000)
    yield Raw(1, b"u2", good(3).value, (("trace", b"x" * 12_000), ("cookie", b"x" * 1_000_000)))
    yield Raw(2, b"u" * 1_024, numbers, (("trace", b"x" * 12_000),))
    yield from (Raw(number, b"v%d" % number, good(number).value) for number in range(PARTITIONS))


async def test_no_record_is_too_large_to_be_released_once_it_is_accepted(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path, alphabet=Categories(WORDS), record=GROWING) as house:
        await house.start()
        await write(broker.bootstrap, house.raw, those_that_grow())
        await house.settled()
        counts = await house.check_identity()
        assert (counts.released, counts.dead_lettered) == (6, 2)
        letters = [json.loads(letter.value) for letter in await house.read(house.dead)]
        assert [(letter["reason"], letter["path"]) for letter in letters] == [(names.TOO_LARGE, "$headers")] * 2
        assert max(len(record.value) for record in await house.read(house.released)) > 3_000_000
        await house.check_audit()
        await house.stop()
