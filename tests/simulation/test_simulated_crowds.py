"""Windows of crowds under crashes, zombies and torn transactions: each once, the same bytes, the right people."""

from __future__ import annotations

from dataclasses import replace

from sim_aggregates import violations
from sim_crowds import GATHER, new_gather, new_windows, second_promise, window_parts

from stream.crowds.gather import CrowdGather
from stream.crowds.windows import CrowdWindows
from stream.protocol.ports import UserStore


def test_no_schedule_breaks_a_promise_of_the_first_stage() -> None:
    assert list(violations(lambda _: GATHER, 150)) == []


def test_no_schedule_breaks_a_promise_of_the_second_stage() -> None:
    assert list(violations(window_parts, 150)) == []


class Forgetful(CrowdGather):
    """Whoever goes on begins with the first window again."""

    def adopt(self, store: UserStore) -> int:
        waiting = CrowdGather.adopt(self, store)
        self._stand(0, 0, 0)
        return waiting


def test_closings_that_are_forgotten_are_found() -> None:
    def forgetful(partition: int) -> CrowdGather:
        pipeline = new_gather(partition)
        pipeline.__class__ = Forgetful
        return pipeline

    found = set(violations(lambda _: replace(GATHER, pipeline=forgetful), 30))
    assert any("other people than those" in each or "closed twice" in each for each in found)


class Guardless(CrowdWindows):
    """Whoever goes on has forgotten who was in earlier windows."""

    def adopt(self, store: UserStore) -> int:
        waiting = CrowdWindows.adopt(self, store)
        self._guarded.adopt({})
        return waiting


def test_people_who_are_forgotten_are_found() -> None:
    def parts(seed: int) -> object:
        def guardless(partition: int) -> CrowdWindows:
            pipeline = new_windows(second_promise(seed), partition)
            pipeline.__class__ = Guardless
            return pipeline

        return replace(window_parts(seed), pipeline=guardless)

    found = set(violations(parts, 40))  # type: ignore[arg-type]
    assert any("that must be there" in each or "holds something else" in each for each in found)
