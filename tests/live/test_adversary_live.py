"""A pipeline on the real broker, and an adversary over what it released: as the audit accounts for, under the bound,
and naming nobody.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from broker import Broker, free_port
from fault_workers import command
from live_worker import VALUES, House, fetch, opened, until
from live_writing import FIRST_TIME, PARTITIONS, Raw, write
from worker import SOTTOVOCE

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import serialise

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
CANARY = "canary-3c1f"
USERS = 12
RECORD = "{protect: {path: $.activity}, release_key: pseudonym}"


def events(count: int, seed: int) -> Iterator[Raw]:
    """Users who keep their value three times out of four, as the model says; one record in forty is broken."""
    source = np.random.default_rng(seed)
    at = source.integers(4, size=(PARTITIONS, USERS))
    for number in range(count):
        partition, user = int(source.integers(PARTITIONS)), int(source.integers(USERS))
        if source.random() < 0.25:
            at[partition, user] = (at[partition, user] + source.integers(1, 4)) % 4
        value = json.dumps({"activity": VALUES[at[partition, user]]}).encode()
        key = f"{CANARY}-{partition}-{user}".encode()
        yield Raw(partition, key, b"broken" if number % 40 == 39 else value, timestamp=FIRST_TIME + number)


async def adversary(house: House, *options: str, status: int = 0) -> str:
    answer = await command("adversary", str(house.file), *options)
    assert answer.status == status, answer.out + answer.said
    assert CANARY not in answer.out + answer.said
    assert "Traceback" not in answer.said
    return answer.out


async def test_the_adversary_agrees_with_the_audit_and_stays_under_the_bound(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path, record=RECORD) as house:
        await house.start()
        await write(broker.bootstrap, house.raw, events(3000, 1))
        await house.settled()
        counts = await house.count()
        found: dict[str, Any] = json.loads(await adversary(house, "--raw", "--smooth", "--json"))
        audit = json.loads((await house.audit("--json", "--accounts", "100")).out)
        assert audit["verdict"] == "agree"
        check_figures(found, counts.released, audit["accounts"])
        page = tmp_path / "page.html"
        text = await adversary(house, "--raw", "--exposed", "2", "--html", str(page))
        assert "UNDER THE BOUND" in text and "Most exposed" in text
        assert CANARY not in page.read_text()
        keys = [record.key.decode() for record in await house.read(house.released)]
        assert not any(key in page.read_text() for key in keys)
        async with serving(house) as address:
            await check_metrics(address, counts.released)
            await write(broker.bootstrap, house.raw, events(500, 2))
            await house.settled()
            await check_metrics(address, (await house.count()).released)
            metrics = fetch(address).text
            assert CANARY not in metrics and not any(key in metrics for key in keys)
        await house.stop()


async def test_windows_are_read_as_they_end_and_served(broker: Broker, tmp_path: Path) -> None:
    window = "{events: 4, stretch: 20s, deadline: 1s}"
    async with opened(broker.bootstrap, tmp_path, record=RECORD, window=window) as house:
        await house.start()
        await write(broker.bootstrap, house.raw, events(3000, 1))
        await house.settled()

        async def all_is_shown() -> bool:
            return len(await house.read(house.released)) == 3000 - 3000 // 40

        await until(all_is_shown)
        assert json.loads((await house.audit("--json")).out)["verdict"] == "agree"
        found: dict[str, Any] = json.loads(await adversary(house, "--raw", "--json"))
        check_guesses(found, 3000 - 3000 // 40)
        assert (found["bound"]["per"], found["bound"]["events_at_most"]) == ("window", 4)
        assert 0.5 < found["bound"]["largest_nats"] <= 1.0 + 1e-9
        async with serving(house) as address:
            await check_metrics(address, 3000 - 3000 // 40)
            assert 'sottovoce_adversary_bound_nats{per="window"} 1.0' in fetch(address).text
            assert CANARY not in fetch(address).text
        await house.stop()


async def test_each_segment_is_read_by_its_own_model(broker: Broker, tmp_path: Path) -> None:
    models = "{by: $.device, files: {sensor: model.json}, otherwise: phone.json}"
    record = "{protect: {path: $.activity}, public: [$.device]}"
    async with opened(broker.bootstrap, tmp_path, record=record, model=models) as house:
        restless = Chain.from_dense([0.25] * 4, [[0.25] * 4] * 4)
        (tmp_path / "phone.json").write_bytes(serialise(Categories(VALUES), restless, {"source": "a test"}))
        await house.start()
        await write(broker.bootstrap, house.raw, of_devices(events(3000, 1)))
        await house.settled()
        counts = await house.count()
        found: dict[str, Any] = json.loads(await adversary(house, "--raw", "--json"))
        check_guesses(found, counts.released)
        assert json.loads((await house.audit("--json")).out)["verdict"] == "agree"
        wrong = json.loads(await adversary(house, "--raw", "--json", "--model", str(tmp_path / "phone.json")))
        assert wrong["beliefs"]["sure"] < found["beliefs"]["sure"]
        assert (found["bound"]["nats"], wrong["bound"]["nats"]) == (1.0, 2.0)
        await house.stop()


def of_devices(records: Iterator[Raw]) -> Iterator[Raw]:
    """Every other user has a phone."""
    for raw in records:
        device = b"sensor" if (raw.key or b"")[-1] % 2 else b"phone"
        text = (raw.value or b"").replace(b"}", b', "device": "' + device + b'"}')
        yield raw._replace(value=text)


def check_guesses(found: dict[str, Any], released: int) -> None:
    guesses = found["guesses"]
    assert found["verdict"] == "under the bound"
    assert guesses["scored"] == found["events"]["released"] == released
    assert guesses["right_without_any_release"] < guesses["right"]
    assert guesses["right_interval"][0] <= guesses["allowed"]
    assert found["users"] == {"seen": PARTITIONS * USERS, "not_followed": 0}
    assert found["bound"]["releases_beyond"] == found["bound"]["users_beyond_the_ledger"] == 0


def check_figures(found: dict[str, Any], released: int, accounts: dict[str, Any]) -> None:
    assert found["verdict"] == "under the bound"
    guesses = found["guesses"]
    assert guesses["scored"] == found["events"]["released"] == released > 2900
    assert guesses["right_without_any_release"] < guesses["right"] <= guesses["right_interval"][1]
    assert guesses["right_interval"][0] <= guesses["allowed"]
    assert guesses["right"] < guesses["right_in_hindsight"]
    assert found["users"] == {"seen": PARTITIONS * USERS, "not_followed": 0}
    assert found["calibration"]["error"] < 0.05
    assert found["bound"]["releases_beyond"] == found["bound"]["users_beyond_the_ledger"] == 0
    gains = found["gain_over_users"]
    assert gains["ledger"] == accounts["counters"]
    assert gains["furthest_value_in_hindsight"] == pytest.approx(accounts["single_value"], abs=1e-8)


@asynccontextmanager
async def serving(house: House) -> AsyncIterator[str]:
    """The adversary as an exporter; it must end in order when it is told to."""
    port = free_port()
    options = ("adversary", str(house.file), "--raw", "--serve", str(port))
    process = await asyncio.create_subprocess_exec(
        *SOTTOVOCE, *options, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        assert b"metrics at" in await process.stderr.readline()
        yield f"http://127.0.0.1:{port}/metrics"
        process.send_signal(signal.SIGTERM)
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 0, said
        assert CANARY not in said
        assert "Traceback" not in said
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def check_metrics(address: str, released: int) -> None:
    """They come to count every release, and each guess has its truth."""

    async def has_come() -> bool:
        return value(fetch(address).text, "releases_total") == released

    await until(has_come, seconds=150)
    text = fetch(address).text
    assert value(text, "guesses_total") == released
    assert value(text, "releases_beyond_total") == value(text, "ledger_exceeded") == 0
    right, blind = value(text, 'guess_ratio{knows="releases"}'), value(text, 'guess_ratio{knows="model"}')
    assert blind is not None and right is not None
    assert blind < right < 1


def value(text: str, name: str) -> float | None:
    found = re.search(rf"^sottovoce_adversary_{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return None if found is None else float(found.group(1))
