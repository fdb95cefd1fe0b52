"""The pipeline that is really run, over a model that remembers two values, under the same crashes and zombies."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from sim_brokers import Part
from sim_memory import PARTS, new_pipeline
from sim_ports import SimChangelog
from sim_schedule import run
from sim_worker import Parts

from stream.pipeline import PartitionPipeline

SCHEDULES = 400
numbers = count()


def violations(parts: Parts, schedules: int = SCHEDULES) -> Iterator[str]:
    for seed in range(schedules):
        yield from (f"{violation} (seed {seed})" for violation in run(seed, parts).violations)


def test_no_schedule_breaks_a_promise() -> None:
    assert list(violations(PARTS)) == []


def with_coins_of_its_own(partition: int) -> PartitionPipeline:
    """Each process draws anew."""
    pipeline = new_pipeline(partition)
    pipeline._door._coin_key = next(numbers).to_bytes(32, "big")
    return pipeline


def test_coins_that_are_not_keyed_are_found() -> None:
    planted = replace(PARTS, pipeline=with_coins_of_its_own)
    assert any("has another value" in violation for violation in violations(planted))


class EarlyEnd(SimChangelog):
    def end(self, part: Part) -> int:
        return max(0, super().end(part) - 4)


def test_beliefs_that_are_not_read_to_their_end_are_found() -> None:
    found = set(violations(replace(PARTS, changelog=EarlyEnd), 100))
    assert any("the changelog holds other beliefs" in violation for violation in found)
