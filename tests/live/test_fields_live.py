"""Five fields of an event on the real broker: a worker that dies on the way, an audit that agrees, and one total."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from broker import Broker
from live_worker import House, opened
from live_writing import FIRST_TIME, PARTITIONS, Raw, write

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

USERS = 60
SEXES, JOBS = ("f", "m"), ("clerk", "nurse", "pilot")
SEX = "{path: $.sex, values: [f, m], mechanism: grr, epsilon: 0.25, lasting: true, cap: 4, beyond: lower}"
GROUPS = "{desk: [clerk], away: [nurse, pilot]}"
JOB = (
    "{path: $.job, values: [clerk, nurse, pilot], mechanism: grr, epsilon: 0.5, lasting: true, cap: 9, "
    f"beyond: coarsen, coarser: {GROUPS}}}"
)
AGE = "{path: $.age, values: {kind: bins, low: 0, high: 100, cells: 10}, mechanism: oue, epsilon: 0.03, cap: 60}"
MODE = "{path: $.mode, values: [bus, car, foot, train], mechanism: olh, epsilon: 0.02}"
APPS = "{path: $.apps, values: [a, b, c, d, e], mechanism: ss, epsilon: 0.02, at_most: 3}"
EACH = f"{{sex: {SEX}, job: {JOB}, age: {AGE}, mode: {MODE}, apps: {APPS}}}"
ALONE = {"model": "", "mechanism": "", "budget": "", "record": "{public: [$.n]}"}
JOINT = {
    "format": "sottovoce-joint",
    "version": 1,
    "names": ["sex", "job"],
    "labels": [SEXES, JOBS],
    "weights": [[3, 6, 1], [3, 1, 5]],
}


def events(count: int, first: int = 0) -> Iterator[Raw]:
    random = Random(first)
    for number in range(first, first + count):
        user = random.randrange(USERS)
        document: dict[str, Any] = {
            "sex": SEXES[user % 2],
            "job": JOBS[user % 3],
            "age": 20 + user,
            "mode": random.choice(("bus", "car", "foot", "train")),
            "apps": sorted(random.sample("abcde", random.randrange(4))),
            "activity": random.choice(("still", "walking")),
            "n": number,
            "secret": "canary",
        }
        if number % 50 == 49:
            del document["job"]
        text = json.dumps(document).encode()
        yield Raw(user % PARTITIONS, f"user-{user}".encode(), text, (), FIRST_TIME + number)


async def kill_on_the_way(house: House, first: int) -> None:
    """Half of the events, then kill -9 of the worker in the midst of the others."""
    await write(house.broker, house.raw, events(1_500, first))
    await house.settled()
    writing = asyncio.create_task(write(house.broker, house.raw, events(1_500, first + 1_500)))
    await house.worker.kill_child()
    await writing
    await house.settled(restarts=1)


def figures(report: dict[str, Any]) -> dict[str, float]:
    return {name: list(facts["total_nats"].values())[-1] for name, facts in report["fields"].items()}


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside"])
async def test_five_fields_survive_a_death_and_the_audit_finds_the_exported_totals(
    broker: Broker, tmp_path: Path, beside: bool
) -> None:
    (tmp_path / "joint.json").write_text(json.dumps(JOINT), encoding="utf-8")
    settings = {"fields": f"{{joint: joint.json, each: {EACH}}}"}
    if beside:
        settings |= {
            "record": "{protect: {path: $.activity}, public: [$.n]}",
            "budget": "{nats: 1.5, window: forever, when_spent: forecast}",
        }
    else:
        settings |= ALONE
    async with opened(broker.bootstrap, tmp_path, **settings) as house:
        await house.start()
        await kill_on_the_way(house, 0)
        counts = await house.check_identity(counters=False)
        assert counts.dead_lettered == 60
        released = await house.read(house.released)
        assert Counter(json.loads(record.value)["n"] for record in released).most_common(1)[0][1] == 1
        assert not any(b"canary" in (record.value or b"") for record in released)
        found = await house.audit("--json")
        assert (found.status, found.said.count("Traceback")) == (0, 0), found.out + found.said
        metrics = await house.metrics()
        audited = figures(json.loads(found.out))
        for name, total in audited.items():
            exported = metrics.value("sottovoce_field_total_nats", field=name, quantile="1")
            assert exported == pytest.approx(total, abs=1e-9), name
        assert audited["sex"] <= 4
        assert audited["job"] <= 9
        await house.stop()
