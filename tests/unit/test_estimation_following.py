"""Topics that are read for estimates, followed and written to: without a broker, which tests/live has."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from aiokafka.errors import KafkaTimeoutError, MessageSizeTooLargeError
from audit_memory import Kept
from estimate_help import Topics, asked_with, settings_of, task_with
from test_estimation_command import RELEASED, gathered, hourly_records

from stream.engine.connection import Connection
from stream.engine.publisher import Publisher
from stream.errors import CannotEstimate
from stream.estimation.estimate import estimate
from stream.estimation.gathering import Gathering
from stream.estimation.results import WindowResult
from stream.estimation.run import TopicReader, follow, require_topic
from stream.estimation.sinks import JsonLines, TopicSink
from stream.estimation.told import finished


@pytest.fixture(scope="module")
def records() -> list[Kept]:
    return hourly_records()


def reader_of(logs: list[list[Kept]], asked: Any = None, **options: Any) -> tuple[TopicReader, Topics]:
    topics = Topics({RELEASED: logs}, **options)
    return TopicReader(Gathering(task_with(settings_of(), asked)), topics, lambda doing, records: None), topics


def looked(reader: TopicReader, into: list[WindowResult] | None = None) -> list[WindowResult]:
    found = [] if into is None else into

    async def look() -> None:
        async for result in reader.look():
            found.append(result)

    asyncio.run(look())
    return found


def test_a_topic_is_read_side_by_side_and_on(records: list[Kept]) -> None:
    hourly, parts = asked_with("1h", "5m"), [records[0::3], records[1::3], records[2::3]]
    reader, topics = reader_of(parts, hourly, seen=40, chunk=7)
    first = looked(reader)
    assert [one.complete for one in first] == [True] * len(first) and len(reader.gathering.windows) == 1
    assert looked(reader) == []
    topics.seen = 1 << 30
    rest = looked(reader)
    windows = [*first, *rest, *finished(reader.gathering)]
    alone = estimate(settings_of(), records, window="1h", late="5m").windows
    assert [one.start for one in windows] == [one.start for one in alone]
    assert [one.fields[0] for one in windows] == [one.fields[0] for one in alone]
    assert reader.gathering.reader.counts["late"] == reader.gathering.reader.counts["again"] == 0
    assert [one.complete for one in windows] == [True, True, True, False]


def test_a_look_that_breaks_off_is_taken_up_again(records: list[Kept]) -> None:
    parts = [records[0::2], records[1::2]]
    reader, _ = reader_of(parts, asked_with("1h"), breaks=[2, 5], chunk=30)
    results: list[WindowResult] = []
    for _number in range(2):
        with pytest.raises(CannotEstimate, match="cannot be read") as refusal:
            looked(reader, results)
        assert refusal.value.why == "NodeNotReadyError" and refusal.value.fix
    results = [*looked(reader, results), *finished(reader.gathering)]
    assert sum(one.fields[0].reports for one in results) == 400
    assert not any(reader.gathering.reader.counts.values())


async def test_following_waits_for_brokers_that_go_away_and_tells_each_window_once(records: list[Kept]) -> None:
    reader, topics = reader_of([records[0::2], records[1::2]], asked_with("1h"), seen=60, breaks=[0, 9], chunk=30)
    stop, told, shown = asyncio.Event(), list[WindowResult](), list[str]()

    async def take(result: WindowResult) -> None:
        told.append(result)

    def show(text: str) -> None:
        shown.append(text)
        topics.seen += 60
        if topics.seen > 400:
            stop.set()

    with pytest.raises(CannotEstimate, match="cannot be read"):
        await follow(reader, take, show, stop, every=0.0)
    await follow(reader, take, show, stop, every=0.0)
    ups = ["estimate_up 1.0" in text for text in shown]
    assert ups.count(False) == 1 and ups[0] and ups[-1]
    assert [one.start for one in told] == sorted({one.start for one in told}) and len(told) == 3
    assert not any(reader.gathering.reader.counts.values())
    whole, topics = reader_of([records])
    stop.clear()
    await follow(whole, take, show, stop, every=0.0)
    assert 'estimate_reports{field="work"} 400.0' in shown[-1] and len(told) == 3


async def test_a_topic_takes_results_and_says_what_it_does_not_take(records: list[Kept]) -> None:
    class Producer:
        sent: ClassVar[list[tuple[object, ...]]] = []

        async def send_and_wait(self, topic: str, value: bytes, key: bytes, timestamp_ms: int) -> None:
            if key == b"place":
                raise MessageSizeTooLargeError
            if key == b"tags":
                raise KafkaTimeoutError
            self.sent.append((topic, key, timestamp_ms, json.loads(value)["field"]))

        async def stop(self) -> None:
            self.sent.append(())

    publisher = Publisher(Connection(("127.0.0.1:9",)), "results")
    result = next(finished(gathered(records)))
    with pytest.raises(CannotEstimate, match="Nothing can be written yet"):
        await TopicSink(publisher).take(result)
    publisher._producer = Producer()  # a broker of its own is in tests/live
    for fields, why in ((result.fields[:3], "larger than the brokers take"), (result.fields[3:], "KafkaTimeoutError")):
        with pytest.raises(CannotEstimate, match="cannot be written") as refusal:
            await TopicSink(publisher).take(replace(result, fields=fields))
        assert why in refusal.value.why and refusal.value.where == "--to topic:results" and refusal.value.fix
    await TopicSink(publisher).close()
    assert Producer.sent == [("results", name, result.end - 1, name.decode()) for name in (b"work", b"age")] + [()]


def test_a_topic_that_is_cut_or_missing_is_noticed(records: list[Kept]) -> None:
    reader, topics = reader_of([records[50:]])
    assert looked(reader) == [] and reader.is_cut
    asyncio.run(require_topic(topics, RELEASED, "here", "there"))
    with pytest.raises(CannotEstimate, match="does not exist"):
        asyncio.run(require_topic(topics, "nothing", "here", "there"))


def test_a_disk_that_is_full_is_said(tmp_path: Path, records: list[Kept], monkeypatch: pytest.MonkeyPatch) -> None:
    sink = JsonLines(tmp_path / "o.jsonl")

    def full(*_: object) -> Iterator[None]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sink._out, "writelines", full)
    with pytest.raises(CannotEstimate, match="cannot be written") as refusal:
        asyncio.run(sink.take(next(finished(gathered(records)))))
    assert refusal.value.why == "No space left on device"
    asyncio.run(sink.close())
