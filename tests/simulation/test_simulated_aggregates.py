"""Windows of aggregates under crashes, zombies and torn transactions: every window once, the same bytes, true sums."""

from dataclasses import replace
from itertools import count

from sim_aggregates import GATHER, TOTAL_PROMISE, new_gather, new_total, total_parts, violations

from stream.aggregates.gather import GatherPipeline
from stream.aggregates.release import Releases
from stream.aggregates.total import TotalPipeline
from stream.protocol.ports import UserStore

numbers = count()


def test_no_schedule_breaks_a_promise_of_the_first_stage() -> None:
    assert list(violations(lambda _: GATHER)) == []


def test_no_schedule_breaks_a_promise_of_the_second_stage() -> None:
    assert list(violations(total_parts)) == []


class Forgetful(GatherPipeline):
    """Whoever goes on begins with the first window again."""

    def adopt(self, store: UserStore) -> int:
        waiting = GatherPipeline.adopt(self, store)
        self._stand(0, 0, 0)
        return waiting


def test_closings_that_are_forgotten_are_found() -> None:
    def forgetful(partition: int) -> GatherPipeline:
        pipeline = new_gather(partition)
        pipeline.__class__ = Forgetful
        return pipeline

    found = set(violations(lambda _: replace(GATHER, pipeline=forgetful), 30))
    assert any("the partials do not hold" in each or "closed twice" in each for each in found)


def test_noise_that_is_drawn_anew_is_found() -> None:
    def anew(partition: int) -> TotalPipeline:
        pipeline = new_total(partition)
        pipeline._releases = Releases(TOTAL_PROMISE, next(numbers).to_bytes(16, "big"))
        return pipeline

    found = set(violations(lambda seed: replace(total_parts(seed), pipeline=anew), 20))
    assert any("that must be there" in each for each in found)
