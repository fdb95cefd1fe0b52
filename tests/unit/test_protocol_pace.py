"""Blocks of a slow mechanism stay short, blocks of a fast one become long."""

from __future__ import annotations

import pytest

from stream.protocol.limits import LaneLimits
from stream.protocol.pace import GROWTH, Pace

LIMITS = LaneLimits()


def carried_out(pace: Pace, seconds_an_event: float, blocks: int = 20) -> list[int]:
    """How many records the blocks have while more than enough wait, each of which costs a millisecond besides."""
    sizes = []
    for _ in range(blocks):
        sizes.append(pace.records)
        pace.took(pace.records, 0.001 + pace.records * seconds_an_event)
    return sizes


@pytest.mark.parametrize("seconds", [1e-4, 1e-3, 3e-3, 0.09])
def test_a_slow_block_takes_no_longer_than_it_may(seconds: float) -> None:
    first, *others = carried_out(Pace(LIMITS), seconds)
    assert first == LIMITS.first_block_records
    assert all(size * seconds <= LIMITS.block_seconds for size in others)
    assert others[-1] * seconds > 0.8 * LIMITS.block_seconds


def test_a_fast_pipeline_has_whole_blocks_at_once() -> None:
    assert carried_out(Pace(LIMITS), 2e-6, 5) == [250, 1000, 4000, 4000, 4000]


def test_one_event_may_take_longer_than_a_block_may() -> None:
    assert carried_out(Pace(LIMITS), 1.0)[1:] == [1] * 19


def test_a_slow_moment_is_soon_forgotten() -> None:
    pace = Pace(LIMITS)
    carried_out(pace, 2e-6)
    pace.took(1, 5.0)
    assert pace.records == 1
    sizes = carried_out(pace, 2e-6)
    assert sizes[:3] == [1, GROWTH, GROWTH**2]
    assert sizes[-1] == LIMITS.max_block_records


def test_the_wished_limit_and_a_clock_that_stands_are_kept_to() -> None:
    pace = Pace(LaneLimits(max_block_records=3))
    for _ in range(3):
        assert pace.records == 3
        pace.took(3, 0.0)
