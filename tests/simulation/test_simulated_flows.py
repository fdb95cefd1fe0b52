"""Flows of crowds under crashes, zombies and torn transactions: each event goes out once, in the same bytes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flow_lives import GROUPERS
from sim_flows import flow_parts
from sim_schedule import run
from sim_worker import Parts

from stream.crowds.flow import FlowPipeline
from stream.crowds.flow_standing import Standing
from stream.protocol.effects import Effects
from stream.protocol.ports import UserStore

SCHEDULES = 120


def violations(parts: Callable[[int], Parts], schedules: int = SCHEDULES) -> Iterator[str]:
    for seed in range(schedules):
        yield from (f"{violation} (seed {seed})" for violation in run(seed, parts(seed)).violations)


@pytest.mark.parametrize("grouper", GROUPERS)
def test_no_schedule_breaks_a_promise(grouper: str) -> None:
    assert list(violations(lambda seed: flow_parts(grouper, seed))) == []


class Forgetful(FlowPipeline):
    """Whoever goes on knows which events wait, and not what the grouper knew."""

    def adopt(self, store: UserStore) -> int:
        waiting = FlowPipeline.adopt(self, store)
        self._standing = Standing(self._standing.seen)
        return waiting


class Impatient(FlowPipeline):
    """Lets events go by the clock of whoever happens to be at work."""

    def prepare_overdue(self, store: UserStore, clock: int) -> Effects | None:
        return FlowPipeline.prepare_overdue(self, store, clock + clock % 7)


@pytest.mark.parametrize("kind", [Forgetful, Impatient])
def test_a_fault_is_found(kind: type[FlowPipeline]) -> None:
    def faulty(seed: int) -> Parts:
        parts = flow_parts("castle", seed)

        def new(partition: int) -> FlowPipeline:
            pipeline = parts.pipeline(partition)
            pipeline.__class__ = kind
            assert isinstance(pipeline, FlowPipeline)
            return pipeline

        return replace(parts, pipeline=new)

    assert any("that must be there" in each for each in violations(faulty, 30))
