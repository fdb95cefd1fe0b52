"""Taking a partition over: fence, ask, load, check, and only then take records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from protocol_fakes import (
    OURS,
    CountPipeline,
    FakeChangelog,
    FakeProducer,
    FakeSource,
    Stage,
    block,
    row_of,
    steps_of,
    until,
)

from stream.errors import Fenced, PublishFailed, StateRefused
from stream.protocol.control import CONTROL_KEY, PROGRESS_KEY, Control, encode_control, encode_progress
from stream.protocol.lane import Lane
from stream.protocol.session import Session

KEPT = {
    b"uann": row_of(3),
    b"ubob": row_of(1),
    CONTROL_KEY: encode_control(OURS),
    PROGRESS_KEY: encode_progress(20),
}


def kept(**changed: bytes) -> FakeChangelog:
    return FakeChangelog([list({**KEPT, **{name.encode(): value for name, value in changed.items()}}.items())])


def lane_of(session: Session) -> Lane:
    assert session.lane is not None
    return session.lane


def taking(session: Session) -> bool:
    return session.lane is not None


@asynccontextmanager
async def opened(stage: Stage, failures: list[BaseException] | None = None) -> AsyncIterator[Session]:
    session = Session(stage.world(), 0, (failures if failures is not None else []).append)
    try:
        await session.open()
        yield session
    finally:
        await session.close()


async def test_a_new_partition_starts_at_the_first_record_and_says_whose_it_is() -> None:
    stage = Stage(source=FakeSource(first=7))
    async with opened(stage) as session:
        lane_of(session).accept(block(7, 9))
        await until(lambda: stage.told.committed)
    written = stage.producers[0].calls
    assert written[0] == "start"
    changelog = next(call[1] for call in written if call[0] == "send changelog")
    assert {record.key: record.value for record in changelog}[CONTROL_KEY] == encode_control(OURS)


async def test_beliefs_are_there_before_the_first_record_is_taken() -> None:
    stage = Stage(changelog=kept(), source=FakeSource(group=20))
    async with opened(stage) as session:
        assert steps_of(stage.stores[0], b"ann") == 3
        lane_of(session).accept(block(20, 21))
        await until(lambda: stage.told.committed)
        assert steps_of(stage.stores[0], b"ann") == 4
    assert stage.producers[0].names.count("send released") == 1


async def test_records_before_the_progress_mark_are_not_released_again() -> None:
    stage = Stage(changelog=kept(), source=FakeSource(group=20))
    async with opened(stage) as session:
        lane_of(session).accept(block(0, 22))
        await until(lambda: stage.told.committed)
    assert stage.pipelines[0].blocks == [[20, 21]]
    assert stage.told.again == [(0, 20)]


@pytest.mark.parametrize("group", [None, 5, 90])
async def test_a_group_that_stands_elsewhere_is_put_back(group: int | None) -> None:
    stage = Stage(changelog=kept(), source=FakeSource(group=group))
    async with opened(stage):
        assert stage.producers[0].calls[1:4] == ["begin", ("offset", 20), "commit"]


async def test_a_group_that_stands_right_costs_no_transaction() -> None:
    stage = Stage(changelog=kept(), source=FakeSource(group=20))
    async with opened(stage):
        assert stage.producers[0].names == ["start"]


async def test_offsets_that_the_raw_topic_no_longer_holds_are_told() -> None:
    stage = Stage(changelog=kept(), source=FakeSource(group=20, first=35))
    async with opened(stage) as session:
        assert stage.told.gaps == [(0, 20, 35)]
        lane_of(session).accept(block(35, 36))
        await until(lambda: stage.told.committed)


@pytest.mark.parametrize(
    "theirs",
    [
        replace(OURS, pipeline="other"),
        replace(OURS, topic_id="made-again"),
        replace(OURS, partitions=8),
        replace(OURS, model="1:dddd"),
        replace(OURS, key_fingerprint="key-two"),
        replace(OURS, first_key_fingerprint="key-zero"),
    ],
)
async def test_beliefs_of_somebody_else_are_refused(theirs: Control) -> None:
    stage = Stage(changelog=kept(c=encode_control(theirs)), source=FakeSource(group=20))
    with pytest.raises(StateRefused, match="The stored beliefs have"):
        async with opened(stage):
            pass
    assert "send released" not in stage.producers[0].names
    assert stage.producers[0].names[-1] == "stop"


async def test_what_never_may_change_is_refused_before_anything_sealed_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(CountPipeline, "adopt", lambda self, store: asked.append(store) or 0)
    for theirs, opens in ((replace(OURS, topic_id="made-again"), 0), (replace(OURS, policy="0:old"), 1)):
        stage = Stage(changelog=kept(c=encode_control(theirs)), source=FakeSource(group=20, waiting=True))
        with pytest.raises(StateRefused, match="The stored beliefs have"):
            async with opened(stage):
                pass
        assert len(asked) == opens


@pytest.mark.parametrize("theirs", [replace(OURS, policy="0:old"), replace(OURS, key_epoch=0, key_fingerprint="old")])
async def test_policy_and_key_may_change_when_no_record_waits(theirs: Control) -> None:
    stage = Stage(changelog=kept(c=encode_control(theirs)), source=FakeSource(group=20))
    async with opened(stage) as session:
        lane_of(session).accept(block(20, 21))
        await until(lambda: stage.told.committed)
        assert stage.stores[0].marks()[CONTROL_KEY] == encode_control(OURS)
    waiting = Stage(changelog=kept(c=encode_control(theirs)), source=FakeSource(group=20, waiting=True))
    with pytest.raises(StateRefused, match=r"policy|key"):
        async with opened(waiting):
            pass


async def test_missing_beliefs_of_a_group_that_has_released_are_refused() -> None:
    stage = Stage(source=FakeSource(group=20))
    with pytest.raises(StateRefused, match="are gone"):
        async with opened(stage):
            pass


async def test_beliefs_without_a_control_record_are_refused() -> None:
    stage = Stage(changelog=FakeChangelog([[(b"uann", row_of(3))]]))
    with pytest.raises(StateRefused, match="are gone"):
        async with opened(stage):
            pass


async def test_unreadable_rows_are_set_aside_and_the_others_serve() -> None:
    stage = Stage(changelog=kept(ubob=b"garbage"), source=FakeSource(group=20))
    async with opened(stage):
        assert list(stage.stores[0].unreadable) == [b"bob"]
        assert steps_of(stage.stores[0], b"ann") == 3
        assert (stage.told.served[0].users, stage.told.served[0].unreadable) == (1, 1)


async def test_of_several_rows_of_a_user_the_last_counts_and_a_tombstone_removes() -> None:
    changelog = FakeChangelog([
        [(b"uann", row_of(1)), (b"ubob", b"garbage"), (b"ucy", row_of(4))],
        [(b"uann", row_of(2)), (b"ubob", row_of(9)), (b"ucy", None)],
        [(CONTROL_KEY, encode_control(OURS)), (PROGRESS_KEY, encode_progress(20)), (b"?", b"of a later version")],
    ])  # fmt: skip
    stage = Stage(changelog=changelog, source=FakeSource(group=20))
    async with opened(stage):
        store = stage.stores[0]
        assert [steps_of(store, key) for key in (b"ann", b"bob", b"cy")] == [2, 9, 0]
        assert list(store.unreadable) == []
        assert store.position() == 10
    assert [recovery.position for recovery in stage.told.recoveries] == [3, 6, 10]


async def test_a_lane_that_fails_is_told_once() -> None:
    failures: list[BaseException] = []
    stage = Stage(producers={0: FakeProducer(fail_at="commit", error=Fenced("Replaced."))})
    async with opened(stage, failures) as session:
        lane_of(session).accept(block(0, 1))
        await until(lambda: failures)
        assert [type(error) for error in failures] == [Fenced]
        assert stage.told.failures == failures


async def test_a_pause_finishes_the_block_at_work_and_resuming_goes_on_behind_it() -> None:
    stage = Stage(producers={0: FakeProducer(gate_at="commit")})
    async with opened(stage) as session:
        lane_of(session).accept(block(0, 2))
        await until(lambda: "commit" in stage.producers[0].names)
        pausing = asyncio.create_task(session.pause())
        await asyncio.sleep(0)
        assert not taking(session)
        stage.producers[0].gate.set()
        assert await pausing
        await session.resume()
        lane_of(session).accept(block(2, 3))
        await until(lambda: len(stage.told.committed) == 2)
        assert stage.changelog.asked == [(0, 0)]


async def test_a_block_that_does_not_end_is_aborted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream.protocol.session.FINISH_SECONDS", 0.01)
    stage = Stage(producers={0: FakeProducer(gate_at="commit")})
    async with opened(stage) as session:
        lane_of(session).accept(block(0, 2))
        await until(lambda: "commit" in stage.producers[0].names)
        assert not await session.pause()
    assert stage.producers[0].names[-2:] == ["abort", "stop"]
    assert steps_of(stage.stores[0], b"ann") == 0


@pytest.mark.parametrize("step", ["start", "stop"])
async def test_brokers_that_are_away_end_an_opening_and_do_not_hold_up_a_closing(step: str) -> None:
    stage = Stage(producers={0: FakeProducer(fail_at=step)})
    if step == "start":
        with pytest.raises(PublishFailed):
            async with opened(stage):
                pass
    else:
        async with opened(stage):
            pass
    assert stage.producers[0].names[-1] == "stop"
