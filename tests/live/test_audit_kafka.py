"""The audit against a real broker: a run is written there in transactions, and read by the command."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import live_kafka
import pytest
from audit_world import Kept, Run, run, settings_text, with_value
from broker import Broker
from live_writing import write_transaction

from beliefs.model_file import serialise

pytestmark = pytest.mark.live
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Stage:
    """A finished run whose topics are on the broker, and the settings file that names them."""

    broker: Broker
    finished: Run
    file: Path

    @property
    def released(self) -> str:
        return self.finished.settings.kafka.released_topic

    async def write(self, topic: str, partition: int, records: Sequence[Kept], *, commit: bool = True) -> None:
        name = f"{topic}-{partition}"
        await write_transaction(self.broker.bootstrap, name, topic, partition, records, commit=commit)

    async def write_all(self) -> None:
        for topic, log in self.finished.topics.logs.items():
            for partition, records in enumerate(log):
                half = len(records) // 2
                await self.write(topic, partition, records[:half])
                await self.write(topic, partition, records[half:])

    async def audit(self, *more: str) -> tuple[int, dict[str, Any]]:
        command = (sys.executable, "-m", "stream", "audit", str(self.file), "--json", *more)
        process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
        return process.returncode or 0, json.loads(out)


@pytest.fixture
async def stage(broker: Broker, tmp_path: Path) -> AsyncIterator[Stage]:
    name = f"audited-{uuid.uuid4().hex[:8]}"
    finished = run(4, events=1200, users=12, partitions=2, name=name)
    (tmp_path / "model.json").write_bytes(serialise(finished.model.alphabet, finished.model.chain, {}))
    file = tmp_path / "audit.yaml"
    file.write_text(settings_text(name=name, broker=broker.bootstrap))
    topics = list(finished.topics.logs)
    for topic in topics:
        await live_kafka.create_topic(broker.bootstrap, topic, partitions=2)
    yield Stage(broker, finished, file)
    broker.start()
    await live_kafka.delete_topics(broker.bootstrap, topics)


async def test_a_right_run_agrees_and_aborted_repeats_are_counted(stage: Stage) -> None:
    records = stage.finished.topics.logs[stage.released][0]
    await stage.write(stage.released, 0, records[:100], commit=False)
    await stage.write_all()
    status, report = await stage.audit()
    assert report["findings"] == []
    assert status == 0
    assert report["events"]["inputs"] == 2400
    assert report["uncommitted"]["identical_repeats"] == 100
    assert report["compared"]["in = sum of outcomes"] == "agrees"


async def test_another_value_in_an_aborted_block_is_found(stage: Stage) -> None:
    first = stage.finished.topics.logs[stage.released][0][0]
    other = "act1" if b"act0" in (first.value or b"") else "act0"
    await stage.write(stage.released, 0, [with_value(first, other)], commit=False)
    await stage.write_all()
    status, report = await stage.audit()
    assert status == 1
    assert [finding["code"] for finding in report["findings"]] == ["two_values"]
    assert (await stage.audit("--no-uncommitted"))[0] == 0


async def test_a_lost_release_is_found(stage: Stage) -> None:
    log = stage.finished.topics.logs[stage.released][1]
    del log[10]
    await stage.write_all()
    status, report = await stage.audit()
    assert status == 1
    assert {finding["code"] for finding in report["findings"]} == {"lost_event", "identity"}


async def test_what_cannot_be_audited_is_said_with_status_2(stage: Stage) -> None:
    missing = stage.file.with_name("other.yaml")
    missing.write_text(stage.file.read_text().replace(".released\n", ".nowhere\n"))
    status, report = await replace(stage, file=missing).audit()
    assert status == 2
    assert report["error"] == "CannotAudit"
    assert "does not exist" in report["what"]
    status, report = await stage.audit("--brokers", "127.0.0.1:9")
    assert status == 2
    assert "did not answer" in report["what"]
