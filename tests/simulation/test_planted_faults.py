"""The simulation can fail: each fault that is planted here is found, and the guard that is taken away is named."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest
from sim_brokers import Part
from sim_pipeline import SimPipeline
from sim_ports import SimChangelog, SimProducer
from sim_schedule import run
from sim_worker import Parts

from stream.protocol import lane as lane_module
from stream.protocol.control import CLOCK_KEY
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.lane import Lane
from stream.protocol.ports import Block
from stream.protocol.publish import publish

SEEDS = range(1_500)


def violations(parts: Parts | None = None, seeds: range = SEEDS) -> Iterator[str]:
    for seed in seeds:
        yield from run(seed, parts).violations


def is_found(what: str, parts: Parts | None = None) -> bool:
    return any(what in violation for violation in violations(parts))


def test_state_applied_before_the_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def apply_then_publish(lane: Lane, records: InputBlock, next_offset: int) -> None:
        effects = lane._pipeline.prepare(records, lane._store)
        effects.next_offset = next_offset
        marks = lane._add_marks(effects, 0, {})
        lane._store.apply(effects.keys, effects.heads, effects.codes, 1 << 40, marks)
        await publish(lane._producer, lane._topics, effects, 10.0)

    monkeypatch.setattr(Lane, "_carry_out", apply_then_publish)
    assert is_found("AheadOfCommit")


class Unfenced(SimProducer):
    def fence(self) -> int:
        seat = self._brokers.seats.get(self._name)
        return self._brokers.start_producer(self._name) if seat is None else seat.epoch


def test_no_fencing_on_assignment_is_found() -> None:
    assert is_found("times", Parts(producer=Unfenced))


class Unkeyed(SimPipeline):
    draws = count(1)

    def noise(self, offset: int) -> int:
        return next(self.draws)


def test_unkeyed_noise_is_found() -> None:
    assert is_found("two values in the uncommitted view", Parts(pipeline=Unkeyed))


class Unmarked(SimPipeline):
    def is_repeated(self, offset: int, watermark: int) -> bool:
        return False


class Forgetful(SimPipeline):
    """Of a segment that only its row tells it knows nothing."""

    def is_stranger(self, row: Sequence[int], raw: bytes) -> bool:
        return False


def test_a_segment_that_no_row_remembers_is_found() -> None:
    assert is_found("the recount says", Parts(pipeline=Forgetful))


def keep_all(lane: Lane, records: InputBlock) -> InputBlock:
    return records


def test_no_watermark_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two guards hold repeats off, the users' watermarks and the lane's own position; both are taken away."""
    monkeypatch.setattr(Lane, "_new_only", keep_all)
    assert is_found("times", Parts(pipeline=Unmarked))


def test_each_guard_against_repeats_holds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lane's position suffices for everything; watermarks alone suffice for whatever concerns a user."""
    assert list(violations(Parts(pipeline=Unmarked), range(400))) == []
    monkeypatch.setattr(Lane, "_new_only", keep_all)
    found = [what for what in violations(seeds=range(400)) if "released" not in what]
    assert found == []


def test_offset_one_too_far_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    take = Lane._take

    def too_far(lane: Lane) -> tuple[InputBlock, int]:
        records, next_offset = take(lane)
        return records, next_offset + 1

    monkeypatch.setattr(Lane, "_take", too_far)
    assert is_found("was lost")


class EarlyEnd(SimChangelog):
    def end(self, part: Part) -> int:
        end = super().end(part)
        return end - 4 if end > 12 else end


def test_loader_stopping_early_is_found() -> None:
    assert is_found("times", Parts(changelog=EarlyEnd))


def test_a_block_lost_on_the_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    losing = Parts(blocks_lost=0.05)
    assert list(violations(losing, range(200))) == []
    accept = Lane.accept

    def trusting(lane: Lane, block: Block) -> None:
        lane._expected = max(lane._expected, block.start)
        accept(lane, block)

    monkeypatch.setattr(Lane, "accept", trusting)
    assert is_found("was lost", losing)


def test_a_window_closed_before_its_clock_mark_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    only_mark = Lane._commit

    async def unmarked(
        lane: Lane, records: InputBlock, effects: Effects, timestamp: int, more: Any, *rest: Any
    ) -> None:
        if CLOCK_KEY not in more:
            await only_mark(lane, records, effects, timestamp, more, *rest)

    monkeypatch.setattr(Lane, "_commit", unmarked)
    assert is_found("another window") or is_found("times")


def test_a_closing_that_nobody_finishes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_module, "closing_begun", lambda marks, where: None)
    assert is_found("was released 1 times, ") or is_found("another window")
