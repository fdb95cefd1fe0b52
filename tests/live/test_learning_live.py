"""A model learnt online under `kill -9`: epochs begin where they must, whoever is killed around a checkpoint, and every
release is the one that an undisturbed pipeline makes of the same raw records.
"""

from __future__ import annotations

import faulthandler
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from broker import Broker
from fault_workers import command
from learning_help import walks
from live_worker import House, group_offsets, opened, until
from live_writing import PARTITIONS, Raw, producing, write_with

from stream.clock_rows import rows_of_promise
from stream.commands.worker import pipelines_of
from stream.engine.connection import Connection
from stream.engine.topics import facts_of
from stream.learning.record import Epoch, decode_epoch, epoch_number
from stream.opening import open_pipeline
from stream.protocol.control import PROGRESS_KEY, encode_progress
from stream.protocol.inputs import InputBlock, before
from stream.protocol.ports import Outgoing
from stream.stores.memory import MemoryStore

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
BATCH, AROUND = 600, 300
SWITCH, DRIFTED, COUNT = 32_768, 41_000, 53_000
KILLS_AT = (2_048, 16_384, SWITCH, SWITCH + 3 * 4_096)
SETTINGS = {
    "model": "{learn: {values: [still, walking], doubt: 0.01, withheld: 0.3}}",
    "mechanism": "{name: optimal, epsilon: 3.0}",
    "record": "{protect: {path: $.activity}, public: [$.battery]}",
    "budget": "{nats: unlimited, window: 1d, when_spent: forecast}",
}


def raw_records() -> list[Raw]:
    """Users of partition 0 change their habits half-way; those of partition 1 have sent too little to learn from."""
    sticky, other = walks(DRIFTED, stay=0.7), walks(COUNT - DRIFTED, stay=0.3, seed=1, first=DRIFTED)
    first = [Raw(0, record.key, record.value, (), record.timestamp) for record in [*sticky, *other]]
    second = [Raw(1, b"one-" + (record.key or b""), record.value, (), record.timestamp) for record in walks(3_000)]
    return [*second, *first]


async def under_kills(house: House) -> None:
    """The worker is killed while it has the records around a checkpoint in its hands, each time after it had come so
    far.
    """
    records = raw_records()
    others = sum(record.partition != 0 for record in records)
    written = 0

    async with producing(house.broker) as producer:

        async def write_until(end: int) -> None:
            nonlocal written
            while written < end:
                size = min(BATCH, end - written)
                await write_with(producer, house.raw, records[written : written + size])
                written += size

        async def there(offset: int) -> bool:
            return (await group_offsets(house.broker, house.name, house.raw)).get(0, 0) >= offset

        for offset in KILLS_AT:
            await write_until(others + offset - AROUND)
            await until(lambda offset=offset: there(offset - AROUND), 120.0)  # type: ignore[misc]
            await write_until(others + offset + AROUND)
            await house.worker.kill_child()
        await write_until(len(records))


async def undisturbed(house: House) -> tuple[list[list[Outgoing]], list[list[Epoch]]]:
    """What a pipeline makes of the same raw records that nobody disturbs, in memory: each partition's releases and
    epochs.
    """
    found = open_pipeline(house.file, {})
    facts = (await facts_of(Connection((house.broker,)), [house.raw]))[house.raw]
    of_partition, codec = pipelines_of(found, facts), rows_of_promise(found.settings, found.promise)
    raw = await house.read(house.raw)
    releases: list[list[Outgoing]] = []
    epochs: list[list[Epoch]] = []
    for partition in range(PARTITIONS):
        records = [record for record in raw if record.partition == partition]
        pipeline, store = of_partition(partition), MemoryStore(codec)
        block, made = InputBlock.of(records), list[Outgoing]()
        while len(block):
            end = pipeline.cut(store, int(block.offsets[0]))
            count = before([block], end, min(1_777, len(block)))
            effects = pipeline.prepare(block[:count], store)
            marks = {PROGRESS_KEY: encode_progress(effects.next_offset), **effects.marks}
            store.apply(effects.keys, effects.heads, effects.codes, 1, marks)
            made += effects.releases
            block = block[count:]
        releases.append(made)
        epochs.append(epochs_in(store.marks().items()))
    return releases, epochs


def epochs_in(marks: Any) -> list[Epoch]:
    found = {number: value for key, value in marks if (number := epoch_number(key)) is not None}
    return [decode_epoch(found[number], "test") for number in sorted(found)]


def shown(record: Any) -> tuple[bytes | None, bytes | None, int, tuple[tuple[str, bytes], ...]]:
    return record.key, record.value, record.timestamp, tuple(record.headers)


def facts_of_epoch(epoch: Epoch) -> tuple[object, ...]:
    counts = None if epoch.counts is None else epoch.counts.tolist()
    return epoch.number, epoch.first, epoch.because, epoch.file, epoch.withheld_units, epoch.error, epoch.tests, counts


def of_partition(records: Sequence[Any], partition: int) -> list[Any]:
    return sorted((record for record in records if record.partition == partition), key=lambda record: record.offset)


async def test_a_model_is_learnt_and_given_up_under_kills(broker: Broker, tmp_path: Path) -> None:
    faulthandler.cancel_dump_traceback_later()
    async with opened(broker.bootstrap, tmp_path, **SETTINGS) as house:
        await house.start()
        await under_kills(house)
        await house.settled(restarts=len(KILLS_AT))
        assert house.worker.said().count("killed by SIGKILL") == len(KILLS_AT)
        metrics = await house.metrics()
        assert metrics.value("sottovoce_learning_epochs", partition="0") == 3.0
        assert metrics.value("sottovoce_learning_informed", partition="1") == 0.0
        assert "Learning the model" in (await house.page("/")).text
        await house.check_audit()
        await house.stop()

        releases, epochs = await undisturbed(house)
        assert [(epoch.phase, epoch.because) for epoch in epochs[0]] == [
            ("learning", "start"), ("informed", "learnt"), ("learning", "drift"),
        ]  # fmt: skip
        assert (epochs[0][1].first, len(epochs[1])) == (SWITCH, 1)
        assert epochs[0][2].first > DRIFTED

        released, uncommitted = [await house.read(house.released, committed=only) for only in (True, False)]
        for partition in range(PARTITIONS):
            found = [shown(record) for record in of_partition(released, partition)]
            assert found == [shown(record) for record in releases[partition]]
            expected = {dict(record.headers)["release-id"]: shown(record) for record in releases[partition]}
            seen = of_partition(uncommitted, partition)
            assert all(expected[dict(record.headers)["release-id"]] == shown(record) for record in seen)
            marks = [(each.key, each.value) for each in of_partition(await house.read(house.changelog), partition)]
            assert [*map(facts_of_epoch, epochs_in(marks))] == [*map(facts_of_epoch, epochs[partition])]
        told = await command("learnt", str(house.file), "--json")
        assert (told.status, told.said) == (0, "")
        first, second, third = json.loads(told.out)["partitions"]
        assert [epoch["first_offset"] for epoch in first["epochs"]] == [epoch.first for epoch in epochs[0]]
        assert (second["standing"]["informed"], third["standing"]) == (False, None)
        refused = await command("learnt", str(house.file), "--out", str(tmp_path / "learnt.json"))
        assert (refused.status, "wait until one has learnt a model" in refused.said) == (2, True)
        assert "has learnt a model" in house.worker.said()
        assert "learns anew" in house.worker.said()
