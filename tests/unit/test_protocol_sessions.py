"""Partitions come and go: what is lost is closed, what comes back goes on, and a stale assignment opens nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from protocol_fakes import FakeProducer, Stage, block, until

from stream.errors import PublishFailed
from stream.protocol.sessions import Sessions


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def failures() -> list[BaseException]:
    return []


@pytest.fixture
async def sessions(stage: Stage, failures: list[BaseException]) -> AsyncIterator[Sessions]:
    made = Sessions(stage.world(), failures.append)
    yield made
    await made.close()


async def test_blocks_reach_the_lane_of_their_partition(sessions: Sessions, stage: Stage) -> None:
    assert await sessions.assign([0, 1])
    sessions.accept(block(0, 2, partition=1))
    await until(lambda: stage.told.committed)
    assert stage.told.committed[0].partition == 1
    assert stage.producers[0].names == ["start"]


async def test_nothing_is_taken_for_a_partition_that_is_not_ours(sessions: Sessions, stage: Stage) -> None:
    assert not sessions.has_room(0)
    sessions.accept(block(0, 2))
    assert await sessions.assign([0])
    assert sessions.has_room(0)
    await sessions.revoke()
    assert not sessions.has_room(0)
    sessions.accept(block(0, 2))
    await asyncio.sleep(0)
    assert stage.pipelines[0].blocks == []


async def test_what_comes_back_keeps_its_producer_and_its_store(sessions: Sessions, stage: Stage) -> None:
    await sessions.assign([0, 1, 2])
    sessions.accept(block(0, 2))
    await until(lambda: stage.told.committed)
    await sessions.revoke()
    assert await sessions.assign([0, 3])
    assert stage.made == [0, 1, 2, 3]
    assert stage.producers[0].names.count("start") == 1
    assert [stage.producers[number].names[-1] for number in (1, 2)] == ["stop", "stop"]
    sessions.accept(block(2, 3))
    await until(lambda: len(stage.told.committed) == 2)
    assert [entry for entry in stage.changelog.asked if entry[0] == 0] == [(0, 0)]


async def test_a_revocation_ends_what_is_being_opened(stage: Stage, sessions: Sessions, failures: list[object]) -> None:
    stage.producers[1] = FakeProducer(gate_at="start")
    assigning = asyncio.create_task(sessions.assign([0, 1]))
    await until(lambda: 1 in stage.producers and "start" in stage.producers[1].names)
    await sessions.revoke()
    assert not await assigning
    assert not sessions.has_room(1)
    assert failures == []


async def test_a_partition_that_cannot_be_opened_is_a_failure(
    stage: Stage, sessions: Sessions, failures: list[BaseException]
) -> None:
    stage.producers[1] = FakeProducer(fail_at="start")
    assert not await sessions.assign([0, 1])
    assert [type(error) for error in failures] == [PublishFailed]


async def test_a_pause_that_had_to_abort_closes_the_session(
    stage: Stage, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stream.protocol.session.FINISH_SECONDS", 0.01)
    stage.producers[0] = FakeProducer(gate_at="commit")
    await sessions.assign([0])
    sessions.accept(block(0, 1))
    await until(lambda: "commit" in stage.producers[0].names)
    await sessions.revoke()
    assert stage.producers[0].names[-1] == "stop"
    stage.producers[0].gate_at = ""
    assert await sessions.assign([0])
    assert stage.made == [0, 0]


async def test_closing_stops_every_producer(stage: Stage, sessions: Sessions) -> None:
    await sessions.assign([0, 1])
    await sessions.close()
    assert [producer.names[-1] for producer in stage.producers.values()] == ["stop", "stop"]
    assert sessions.lanes() == {}
