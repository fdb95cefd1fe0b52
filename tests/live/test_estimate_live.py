"""Statistics back from a real topic: shares inside their intervals, results in a topic, metrics that follow."""

from __future__ import annotations

import asyncio
import hashlib
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
from conftest import NewTopic
from estimate_help import records_of, settings_text, task_with, values_of
from fault_workers import command
from live_kafka import consume_all
from live_worker import fetch, until
from live_writing import FIRST_TIME, Raw, write, write_transaction
from worker import SOTTOVOCE

from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.wire import write as written
from stream.estimation.asked import Task
from stream.settings.load import load_settings

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

RUNS, PARTITIONS, CATEGORIES = 20, 3, 12
VALUES = [f"category {place}" for place in range(CATEGORIES)]
SHARES = np.arange(CATEGORIES, 0, -1) / (CATEGORIES * (CATEGORIES + 1) / 2)
HOUR = 3_600_000
START = FIRST_TIME // HOUR * HOUR


def settings_file(folder: Path, broker: Broker, topic: str, fields: str) -> Path:
    text = settings_text(broker=broker.bootstrap, fields=fields).replace("phones.released", topic)
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    return folder / "s.yaml"


def reported(task: Task, values: np.ndarray[Any, Any]) -> Iterator[Raw]:
    """One hour for each run, reports drawn by the mechanism with the coins of their numbers."""
    (form,) = task.forms
    units, shape = form.reporters[0].drawn, form.reporters[0].shape
    key, model = field_key(bytes(32), form.name), min(task.models)
    each = values.shape[0] // RUNS
    for start in range(0, values.shape[0], 10_000):
        part = values[start : start + 10_000]
        reports = units.draw(part, report_coins(key, start, part.shape[0], units.words))
        for number, report in enumerate(written(shape, reports), start):
            name = hashlib.blake2b(number.to_bytes(8, "big"), digest_size=16).hexdigest().encode()
            headers = (
                ("release-id", name),
                ("policy", task.policy),
                ("model", model),
                ("step", b"1"),
                ("fields", b"0"),
            )
            time = START + number // each * HOUR + number % each * HOUR // each
            yield Raw(number % PARTITIONS, b"user-%d" % number, json.dumps({"c": report}).encode(), headers, time)


async def estimated(*arguments: object) -> list[dict[str, Any]]:
    """The lines of the file that is written."""
    answer = await command("estimate", *map(str, arguments))
    assert answer.status == 0, answer.out + answer.said
    return [json.loads(line) for line in Path(str(arguments[-1])).read_text().splitlines()]


def inside(document: dict[str, Any], truth: np.ndarray[Any, Any]) -> int:
    table = document["tables"]["frequency"]
    return int(((np.array(table["low"]) <= truth) & (truth <= np.array(table["high"]))).sum())


@pytest.mark.parametrize(
    ("mechanism", "events"),
    [("grr", 1_000_000), ("olh", 100_000), pytest.param("olh", 1_000_000, marks=pytest.mark.long)],
)
async def test_twelve_shares_lie_inside_their_intervals(
    broker: Broker, new_topic: NewTopic, tmp_path: Path, mechanism: str, events: int
) -> None:
    topic = await new_topic("released", partitions=PARTITIONS)
    field = f"    c: {{path: $.c, values: {json.dumps(VALUES)}, mechanism: {mechanism}, epsilon: 2.0}}"
    file = settings_file(tmp_path, broker, topic, field)
    each = events // RUNS
    values = np.repeat(np.arange(CATEGORIES), np.round(SHARES * each).astype(int))[:each]
    values = np.tile(np.concatenate([values, np.zeros(each - values.shape[0], dtype=np.int64)]), RUNS)
    truth = np.bincount(values) / events
    assert await write(broker.bootstrap, topic, reported(task_with(load_settings(file)), values)) == events
    windows = await estimated(file, "--window", "1h", "--late", "1m", "--to", tmp_path / "w.jsonl")
    assert [one["reports"] for one in windows] == [each] * RUNS
    assert sum(inside(one, truth) for one in windows) >= 0.93 * RUNS * CATEGORIES
    (whole,) = await estimated(file, "--to", tmp_path / "o.jsonl")
    assert whole["reports"] == events
    table = whole["tables"]["frequency"]
    assert (np.abs(np.array(table["estimate"]) - truth) < 4 * np.sqrt(table["variance"])).all()
    widths = [np.array(one["tables"]["frequency"]["variance"]) ** 0.5 for one in (whole, windows[0])]
    assert widths[0] == pytest.approx(widths[1] / RUNS**0.5, rel=0.05)


FIELDS = "    work: {path: $.work, values: [clerk, nurse, pilot, cook], mechanism: grr, epsilon: 2.0}"


@asynccontextmanager
async def following(*arguments: str) -> AsyncIterator[str]:
    """The command as it follows a topic, and the address of its metrics; it must end in order when it is told to."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *SOTTOVOCE, "estimate", *arguments, "--serve", str(port), stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        while b"metrics at" not in (line := await process.stderr.readline()):
            assert line
        yield f"http://127.0.0.1:{port}/metrics"
        process.send_signal(signal.SIGTERM)
        said = (await process.stderr.read()).decode()
        assert await process.wait() == 0, said
        assert "Traceback" not in said
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def value(address: str, name: str) -> float | None:
    found = re.search(rf"^sottovoce_estimate_{re.escape(name)} (\S+)$", fetch(address).text, re.MULTILINE)
    return None if found is None else float(found.group(1))


async def require_told(address: str, hours: int) -> None:
    """The last window that has been told of ends so many hours behind the first one's start."""

    async def is_told() -> bool:
        return value(address, "window_end_seconds") == (START + hours * HOUR) / 1000

    await until(is_told, seconds=60)


async def test_results_go_to_a_topic_and_metrics_follow(broker: Broker, new_topic: NewTopic, tmp_path: Path) -> None:
    """Of committed records only, each once: an aborted transaction and a repeated block count for nothing."""
    topic, results = await new_topic("released", partitions=PARTITIONS), await new_topic("results", partitions=1)
    file = settings_file(tmp_path, broker, topic, FIELDS)
    times = START + np.arange(600) * 20_000
    records = records_of(task_with(load_settings(file)), {"work": values_of(600)["work"]}, times=times)
    parts = [records[partition::PARTITIONS] for partition in range(PARTITIONS)]

    async def write_all(start: int, stop: int, *, commit: bool = True) -> None:
        for number, part in enumerate(parts):
            name = f"{topic}-{number}"
            await write_transaction(broker.bootstrap, name, topic, number, part[start:stop], commit=commit)

    await write_all(0, 150)
    await write_all(150, 200, commit=False)
    await write_all(120, 150)
    async with following(str(file), "--window", "1h", "--to", f"topic:{results}") as address:
        await require_told(address, 2)
        assert value(address, 'reports{field="work"}') == 180
        assert value(address, 'passed_over_total{reason="again"}') == 90
        await write_all(150, 200)
        await require_told(address, 3)
    told = await consume_all(broker.bootstrap, results)
    assert {one.key for one in told} == {b"work"}
    documents = [json.loads(one.value) for one in told]
    windows = [(one["window"]["start"], one["window"]["complete"]) for one in documents]
    assert windows == [(START + hour * HOUR, hour < 3) for hour in range(4)]
    assert [one["reports"] for one in documents] == [180, 180, 180, 60]
    assert [one.timestamp for one in told] == [START + (hour + 1) * HOUR - 1 for hour in range(4)]
    assert await estimated(file, "--window", "1h", "--to", tmp_path / "w.jsonl") == documents


async def test_a_topic_that_is_not_there_is_refused(broker: Broker, tmp_path: Path) -> None:
    file = settings_file(tmp_path, broker, "nowhere-to-be-found", FIELDS)
    for options in ((), ("--serve", "0"), ("--to", "topic:nowhere-either", "--window", "1h", "--follow")):
        answer = await command("estimate", str(file), *options)
        assert answer.status == 2 and "does not exist" in answer.said, answer.said
