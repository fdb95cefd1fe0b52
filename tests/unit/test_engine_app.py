"""What we rely on in Faust and aiokafka, and what we took away from them; a new version of either meets these first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.producer import sender
from aiokafka.structs import TopicPartition
from faust.types import TP
from protocol_fakes import Stage, block, until

from stream.engine.app import AGENT_NAME, EVERYTHING, TABLE_NAME, BlockApp
from stream.engine.connection import Connection
from stream.engine.consumer import BlockConsumer, FetchThread
from stream.engine.failures import publishing
from stream.engine.gate import Gate
from stream.engine.plan import Plan
from stream.engine.seams import high_watermark, positions, shorten_wait_between_transactions
from stream.errors import Fenced, PublishFailed
from stream.names import CHANGELOG_SUFFIX
from stream.protocol.publish import Topics
from stream.protocol.sessions import Sessions

TOPICS = Topics("raw", "released", "dead", f"pipe{CHANGELOG_SUFFIX}")
RAW, OTHER = TP("raw", 0), TP("other", 0)


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is changed in aiokafka is changed for a worker's whole process; here it is put back."""
    monkeypatch.setattr(fetcher, "PartitionRecords", fetcher.PartitionRecords)
    monkeypatch.setattr(sender, "BACKOFF_OVERRIDE", sender.BACKOFF_OVERRIDE)


@pytest.fixture
def failures() -> list[BaseException]:
    return []


@pytest.fixture
async def app(failures: list[BaseException], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    monkeypatch.setenv("WEB_ENABLED", "yes")
    monkeypatch.setenv("FAUST_DEBUG", "yes")
    plan = Plan("pipe", Connection(("127.0.0.1:1",)), TOPICS, "w1", record_bytes=1_000, row_bytes=100)
    made: Any = BlockApp(Gate(plan, Sessions(Stage().world(), failures.append), failures.append))
    yield made
    if made._consumer is not None:
        made._consumer._thread.thread_loop.close()


async def test_fausts_web_server_is_never_among_its_services(app: Any) -> None:
    services = [type(service).__name__ for service in app.boot_strategy.server()]
    assert not [name for name in services if "Web" in name or "Cache" in name]
    app.conf.web_enabled = True
    assert not [name for name in services if "Web" in name]
    assert not list(app.boot_strategy.web_server())


async def test_faust_has_no_producer_of_its_own(app: Any) -> None:
    assert not list(app.boot_strategy.kafka_producer())
    await app.producer.flush()


async def test_names_are_literals_and_not_python_paths(app: Any) -> None:
    (agent,) = app.agents.values()
    assert agent.name == AGENT_NAME
    assert app.tables.changelog_topics == {TOPICS.changelog}
    assert list(app.tables) == [TABLE_NAME]
    assert app.conf.id == "pipe"


async def test_fausts_recovery_has_nothing_to_do(app: Any) -> None:
    table = app.tables[TABLE_NAME]
    assert table.data.persisted_offset(TP(TOPICS.changelog, 0)) == EVERYTHING


async def test_faust_makes_no_topics_and_no_folders(app: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await app.on_first_start()
    assert list(tmp_path.iterdir()) == []
    assert not app.conf.topic_allow_declare


@pytest.fixture
def consumer(app: Any) -> Any:
    made = BlockConsumer.__new__(BlockConsumer)
    made.app = app
    made._acked = {RAW: [4, 5], OTHER: [4, 5]}
    made._acked_index = {RAW: {4, 5}, OTHER: {4, 5}}
    made._gap = {RAW: None, OTHER: None}
    made._committed_offset = {RAW: 1, OTHER: 3}
    return made


def test_faust_commits_nothing_for_the_raw_topic(consumer: Any) -> None:
    assert consumer._new_offset(RAW) is None
    assert consumer._acked[RAW] == []
    assert consumer._new_offset(OTHER) == 6


async def test_faust_counts_no_gaps_in_the_raw_topic(consumer: Any) -> None:
    await consumer._add_gap(RAW, 2, 9)
    with pytest.raises(AttributeError):
        await consumer._add_gap(OTHER, 4, 9)


async def test_what_faust_gives_up_for_ends_the_worker(app: Any, failures: list[BaseException]) -> None:
    reason = RuntimeError("why")
    app._crash(reason)
    assert failures == [reason]


async def test_a_recovery_that_outlived_its_assignment_opens_nothing(app: Any) -> None:
    app.gate.assigned({0})
    await app.gate.revoked()
    await app.gate.recovered()
    assert not app.gate.has_room(0)


async def test_an_assignment_opens_its_partitions_and_blocks_reach_them(failures: list[BaseException]) -> None:
    stage = Stage()
    plan = Plan("pipe", Connection(("127.0.0.1:1",)), TOPICS, None, record_bytes=1_000, row_bytes=100)
    sessions = Sessions(stage.world(), failures.append)
    gate = Gate(plan, sessions, failures.append)
    gate.assigned({0, 1})
    await gate.recovered()
    assert gate.has_room(0)
    gate.accept(block(0, 2))
    await until(lambda: stage.told.committed)
    gate.accept(block(7, 8))
    assert [type(error) for error in failures] == [PublishFailed]
    await sessions.close()


async def test_the_consumer_is_set_up_for_committed_records_and_short_waits(app: Any) -> None:
    thread = FetchThread.__new__(FetchThread)
    thread.app = app
    made = thread._create_worker_consumer(None)
    try:
        assert made._isolation_level == "read_committed"
        assert made._fetch_max_wait_ms <= 100
        assert made._group_instance_id == "w1"
        assert made._session_timeout_ms == 10_000
        assert made._heartbeat_interval_ms * 3 < made._session_timeout_ms
        assert not made._enable_auto_commit
    finally:
        await made.stop()


async def test_positions_are_read_where_aiokafka_keeps_them() -> None:
    part, unknown = TopicPartition("raw", 0), TopicPartition("raw", 1)
    subscription = SubscriptionState()
    consumer = SimpleNamespace(_subscription=subscription, highwater=lambda _: None)
    assert positions(consumer, [part]) == {}
    subscription.assign_from_user({part, unknown})
    subscription.seek(part, 7)
    assert positions(consumer, [TP("raw", 0), TP("raw", 1), TP("elsewhere", 0)]) == {part: 7}
    assert high_watermark(consumer, part, 7) == 7
    consumer.highwater = lambda _: 12
    assert high_watermark(consumer, part, 7) == 12


def test_the_wait_between_two_transactions_is_where_it_was() -> None:
    """`AddPartitionsToTxnHandler` answers it when the markers of the last commit are not written yet."""
    assert "BACKOFF_OVERRIDE" in sender.AddPartitionsToTxnHandler.handle_response.__code__.co_names
    shorten_wait_between_transactions()
    assert sender.BACKOFF_OVERRIDE < 0.02


def test_the_fetcher_makes_its_records_where_we_step_in() -> None:
    assert "PartitionRecords" in fetcher.Fetcher._proc_fetch_request.__code__.co_names
    assert "_consumer_record" in fetcher.PartitionRecords._unpack_records.__code__.co_names


async def test_a_clients_error_is_told_by_its_kind_alone() -> None:
    from aiokafka.errors import KafkaError, MessageSizeTooLargeError, ProducerFenced

    for error, kind in ((ProducerFenced(), Fenced), (MessageSizeTooLargeError("canary"), PublishFailed)):
        with pytest.raises(kind) as told, publishing("Writing", "here"):
            raise error
        assert "canary" not in str(told.value)
    with pytest.raises(PublishFailed) as told, publishing("Writing", "here"):
        raise KafkaError("canary")
    assert "canary" not in str(told.value)
    with pytest.raises(asyncio.CancelledError), publishing("Writing", "here"):
        raise asyncio.CancelledError
