"""The audit against a real broker: a run is written there in transactions, aborted ones between, and read by the command."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from audit_world import CHANGELOG, DEAD, RAW, RELEASED, SETTINGS, Kept, Run, run
from broker import Broker
from conftest import NewTopic

from beliefs.model_file import serialise

pytestmark = pytest.mark.live
COLUMNS = {"mechanism": "optimal", "epsilon": 1.0, "nats": 4, "window": "1m", "when_spent": "forecast"}
ROOT = Path(__file__).resolve().parents[2]


class Stage:
    """Topics of one test, and the settings file that names them."""

    def __init__(self, broker: Broker, folder: Path, names: dict[str, str]) -> None:
        self.broker, self.names, self.file = broker, names, folder / "audit.yaml"

    async def write(self, finished: Run, copies: dict[str, int]) -> None:
        """Every topic's records in transactions of a few, with an aborted copy of some of them before."""
        for topic, log in finished.topics.logs.items():
            for partition, records in enumerate(log):
                await self._write(self.names[topic], partition, records, copies.get(topic, 0))

    async def _write(self, topic: str, partition: int, records: Sequence[Kept], aborted: int) -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=self.broker.bootstrap, transactional_id=f"{topic}-{partition}", retry_backoff_ms=5
        )
        await producer.start()
        try:
            await producer.begin_transaction()
            await _send(producer, topic, partition, records[:aborted])
            await producer.abort_transaction()
            for start in range(0, len(records), 400):
                async with producer.transaction():
                    await _send(producer, topic, partition, records[start : start + 400])
        finally:
            await producer.stop()

    async def audit(self, *more: str) -> tuple[int, dict[str, Any]]:
        command = (sys.executable, "-m", "stream", "audit", str(self.file), "--json", *more)
        process = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await process.communicate()
        assert not err or b"audit:" in err, err.decode()
        return process.returncode or 0, json.loads(out)


async def _send(producer: Any, topic: str, partition: int, records: Sequence[Kept]) -> None:
    for one in records:
        await producer.send(
            topic, one.value, one.key, partition=partition, timestamp_ms=one.timestamp, headers=list(one.headers)
        )
    await producer.flush()


@pytest.fixture
async def stage(broker: Broker, new_topic: NewTopic, tmp_path: Path) -> Stage:
    changelog = await new_topic("audited", partitions=2)
    names = {name: await new_topic(name, partitions=2) for name in (RAW, RELEASED, DEAD)}
    text = SETTINGS.format(**COLUMNS).replace("127.0.0.1:9092", broker.bootstrap)
    for name, made in names.items():
        text = text.replace(f": {name}\n", f": {made}\n")
    (tmp_path / "audit.yaml").write_text(text)
    return Stage(broker, tmp_path, {**names, CHANGELOG: changelog})


@pytest.fixture
def finished() -> Run:
    return run(4, events=1500, users=15, partitions=2)


async def test_a_run_on_a_broker_agrees_and_aborted_copies_are_seen(stage: Stage, finished: Run, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(serialise(finished.model.alphabet, finished.model.chain, {}))
    await stage.write(finished, {RELEASED: 300})
    status, report = await stage.audit()
    assert status == 0, report
