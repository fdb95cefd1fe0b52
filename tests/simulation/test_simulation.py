"""Ten thousand simulated runs of the release protocol, each with crashes, zombies, rebalances and torn transactions."""

from collections import Counter

import pytest
from sim_schedule import Outcome, run

SCHEDULES = 10_000
CHUNKS = 10
PORT_CALLS = (
    "start",
    "ask for the group's offset",
    "ask for the changelog's end",
    "read the changelog",
    "ask for the first offset",
    "ask for the last offset",
    "look for records",
    "begin",
    "send to released",
    "send to dead",
    "send to changelog",
    "send offset",
    "commit",
    "abort",
    "stop",
)
CRASH_POINTS = {("crash", f"{side} {call}") for call in PORT_CALLS for side in ("before", "after")}

hits: Counter[tuple[str, str]] = Counter()


def told(outcomes: list[Outcome]) -> str:
    return "\n".join(f"{'; '.join(o.violations)}\n    again: {o.replay()}" for o in outcomes)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_schedule_breaks_a_promise(chunk: int) -> None:
    broken = []
    size = SCHEDULES // CHUNKS
    for seed in range(chunk * size, (chunk + 1) * size):
        outcome = run(seed)
        hits.update(outcome.hits)
        if outcome.violations:
            broken.append(outcome)
    assert not broken, told(broken)


def test_every_crash_point_was_hit() -> None:
    """Runs after the chunks above, in the same process; alone it looks for the points by itself."""
    seed = SCHEDULES
    while CRASH_POINTS - hits.keys() and seed < 2 * SCHEDULES:
        hits.update(run(seed).hits)
        seed += 1
    assert CRASH_POINTS - hits.keys() == set()


def test_zombies_and_every_kind_of_fault_were_there() -> None:
    for seed in range(400):
        hits.update(run(seed).hits)
    kinds = {kind for kind, _ in hits}
    assert {"crash", "freeze", "rebalance", "expire", "reset group", "stop", "refuse", "slow"} <= kinds
    assert hits["failure", "Fenced"] > 0


def test_a_seed_runs_the_same_way_twice() -> None:
    for seed in range(50):
        assert run(seed).story == run(seed).story


@pytest.mark.long
def test_a_million_schedules() -> None:
    broken = []
    for seed in range(SCHEDULES, 100 * SCHEDULES):
        outcome = run(seed)
        if outcome.violations:
            broken.append(outcome)
    assert not broken, told(broken)
