"""Models by segment under `kill -9`: whoever takes over knows from each row which model serves its user."""

from __future__ import annotations

import asyncio
import faulthandler
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from broker import Broker
from fault_recount import header
from live_worker import VALUES, House, group_offsets, model_of, opened, until
from live_writing import FIRST_TIME, PARTITIONS, Raw, producing, write_with

from beliefs.alphabet import Categories
from beliefs.model_file import digest_of, parse, serialise_contexts

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
USERS, KILLS = 60, 3
BATCH, PAUSE_SECONDS, MOST = 600, 0.2, 300_000
MODELS = "{by: $.device, files: {sensor: model.json, phone: phone.json}, otherwise: other.json}"
PUBLIC = "{protect: {path: $.activity}, public: [$.n, $.device]}"
DEVICES = ("sensor", "phone", "watch", 7)
WINDOW = "{events: 4, stretch: 20s, deadline: 2s}"


def write_models(folder: Path, *, remembering: bool) -> dict[str, str]:
    """The digests of the models of each device; with a longer memory the phones' rows are wider than all others."""
    everything, flat = np.arange(len(VALUES)), np.full(len(VALUES), 0.25)
    leaning = np.array([0.5, 0.25, 0.125, 0.125])
    contexts = {(): (everything, flat), (0,): (everything, leaning), (1, 0): (everything, leaning[::-1].copy())}
    phone = serialise_contexts(Categories(VALUES), 2, flat, contexts, {})
    others = {"note": "another model, with the same numbers"}
    sticky = json.loads(model_of(Categories(VALUES)))
    (folder / "phone.json").write_bytes(phone if remembering else renamed(sticky, {"note": "phones"}))
    (folder / "other.json").write_bytes(renamed(sticky, others))
    files = {"sensor": "model.json", "phone": "phone.json", "watch": "other.json", "7": "other.json"}
    return {device: parse((folder / file).read_bytes()).short for device, file in files.items()}


def renamed(document: dict[str, Any], learnt_from: dict[str, str]) -> bytes:
    changed = {**document, "learnt_from": learnt_from}
    return json.dumps({**changed, "hash": f"sha256:{digest_of(changed)}"}).encode()


def events(seed: int) -> Iterator[Raw]:
    random = Random(seed)
    for number in count():
        user = random.randrange(USERS)
        device: Any = DEVICES[user % len(DEVICES)] if number % 40 else random.choice(DEVICES)
        document = {"activity": random.choice(VALUES), "n": number, "device": device, "secret": "s"}
        if number % 97 == 0:
            del document["device"]
        text = json.dumps(document).encode()
        yield Raw(user % PARTITIONS, b"user-%02d" % user, text, (), FIRST_TIME + 50 * number)


def by_definition(raw: Sequence[Any], models: dict[str, str]) -> tuple[Counter[str], dict[bytes, str]]:
    """From the raw topic alone: how many inputs are refused for which reason, and the model of each user."""
    first: dict[bytes, str] = {}
    refused: Counter[str] = Counter()
    for record in raw:
        device = json.loads(record.value).get("device")
        if device is None:
            refused["unknown_segment"] += 1
        elif first.setdefault(record.key, models[str(device)]) != models[str(device)]:
            refused["segment_changed"] += 1
    return refused, first


async def under_kills(house: House, seed: int) -> None:
    """Events keep coming while the worker is killed again and again."""
    random, records, killed = Random(seed), events(seed), asyncio.Event()

    async def feed() -> None:
        async with producing(house.broker) as producer:
            for _ in range(MOST // BATCH):
                if killed.is_set():
                    return
                await write_with(producer, house.raw, islice(records, BATCH))
                await asyncio.sleep(PAUSE_SECONDS)

    async def committed() -> int:
        return sum((await group_offsets(house.broker, house.name, house.raw)).values())

    async with asyncio.TaskGroup() as together:
        feeding = together.create_task(feed())
        for _ in range(KILLS):
            before = await committed()

            async def moves(before: int = before) -> bool:
                return await committed() > before

            await until(moves)
            await asyncio.sleep(random.uniform(0.0, 1.0))
            await house.worker.kill_child()
            assert not feeding.done()
        killed.set()


@pytest.mark.parametrize("windows", [False, True], ids=["single", "windows"])
async def test_each_user_keeps_his_model_whoever_is_killed(windows: bool, broker: Broker, tmp_path: Path) -> None:
    # This lasts longer than the time after which all threads' stacks are written while they run on, which can crash the
    # interpreter; the test has a time limit of its own.
    faulthandler.cancel_dump_traceback_later()
    settings = {"model": MODELS, "record": PUBLIC, "store": "{kind: disk, folder: beliefs}"}
    if windows:
        settings["window"] = WINDOW
    async with opened(broker.bootstrap, tmp_path, **settings) as house:
        models = write_models(tmp_path, remembering=not windows)
        await house.start()
        await under_kills(house, seed=9)
        await house.settled(restarts=KILLS)
        assert house.restarts == KILLS
        assert house.worker.said().count("killed by SIGKILL") == KILLS

        raw, released, dead = [await house.read(topic) for topic in (house.raw, house.released, house.dead)]
        refused, model = by_definition(raw, models)
        assert Counter(json.loads(letter.value)["reason"] for letter in dead) == refused
        assert min(refused.values()) > 100
        shown = {(record.key, header(record, "model").split(b"@")[0][2:].decode()) for record in released}
        assert shown == set(model.items())
        rows = await house.rows()
        tags = {key[1:]: row[4:8][::-1].hex() for key, row in rows.items()}
        assert tags == model
        assert len({len(row) for row in rows.values()}) == (1 if windows else 2)
        if not windows:
            counts = await house.check_identity(counters=False)
            assert counts.released + counts.forecast == len(raw) - sum(refused.values())
        await house.check_audit()
        await house.stop()

        await house.start()
        after = await house.rows()
        assert {key: row[4:8] for key, row in after.items()} == {key: row[4:8] for key, row in rows.items()}
        if not windows:
            assert after == rows
        await house.check_audit()
        await house.stop()
