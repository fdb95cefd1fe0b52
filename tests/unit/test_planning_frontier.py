"""Which points no other beats, which one is chosen, and what is nearest when none can be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planning_help import point

from mechanisms.registry import MECHANISMS
from stream.commands.expectation import DAY_MS
from stream.errors import CannotPlan
from stream.planning.frontier import choose, dominates, frontier, nearest
from stream.planning.points import half_width, kept_per_day, notion_of, releases_per_day
from stream.planning.target import Target, gaps

SOME = st.builds(
    lambda name, kept, delay, worst: point(name, agreement=kept, delay_ms=delay, worst_per_day=worst),
    st.sampled_from(["optimal", "top_k_grr", "published_crr"]),
    *[st.sampled_from([0.25, 0.5, 0.75])] * 3,
)


def test_better_in_one_thing_and_as_good_in_all_others_dominates() -> None:
    better, worse = point(agreement=0.6), point(agreement=0.5)
    assert dominates(better, worse, False) and not dominates(worse, better, False)
    assert not dominates(better, better, False)
    assert not dominates(point(agreement=0.6, delay_ms=1.0), worse, False)
    assert not dominates(point(agreement=0.6, worst_per_day=11.0), worse, False)


def test_a_promise_of_a_weaker_kind_dominates_nothing() -> None:
    local = point("top_k_grr", agreement=0.4)
    assert not dominates(point(agreement=0.9), local, False)
    assert dominates(point("top_k_grr", agreement=0.6), point(agreement=0.5), False)


def test_by_distance_less_is_better() -> None:
    near, far = point(agreement=0.1, distance=1.0), point(agreement=0.9, distance=2.0)
    assert dominates(near, far, True) and dominates(far, near, False)


@given(st.lists(SOME, min_size=1, max_size=12))
def test_the_frontier_is_what_nothing_dominates_and_covers_the_rest(points: list) -> None:  # type: ignore[type-arg]
    best = frontier(points, False)
    assert best
    assert not any(dominates(one, other, False) for one in best for other in best)
    for each in points:
        assert each in best or any(dominates(one, each, False) for one in best)


def test_of_those_that_keep_enough_the_least_promise_is_chosen() -> None:
    points = [
        point(agreement=0.9, worst_per_day=9.0),
        point(agreement=0.8, worst_per_day=4.0),
        point(agreement=0.85, worst_per_day=4.0),
        point(agreement=0.7, worst_per_day=1.0),
    ]
    assert choose(points, Target(agreement=0.75), False) is points[2]


def test_a_simulated_share_counts_with_the_lower_end_of_its_interval() -> None:
    unsure = point(agreement=0.81, agreement_error=0.02)
    assert choose([unsure], Target(agreement=0.8), False) is None
    assert choose([unsure], Target(agreement=0.79), False) is unsure


def test_a_promise_for_a_day_is_met_by_a_budget_alone() -> None:
    by_rate, by_budget = point(worst_per_day=4.0), point(agreement=0.4, worst_per_day=4.0, kept_per_day=5.0)
    assert choose([by_rate, by_budget], Target(leakage=5.0), False) is by_budget


def test_where_values_are_not_asked_for_the_most_of_them_is_chosen() -> None:
    points = [
        point(agreement=0.5, worst_per_day=1.0, kept_per_day=1.0),
        point(agreement=0.6, worst_per_day=4.0, kept_per_day=4.0),
    ]
    assert choose(points, Target(leakage=5.0), False) is points[1]
    assert choose(points, Target(), False) is None


def test_what_is_nearest_to_being_met_is_named_with_what_would_meet_it() -> None:
    points = [
        point(agreement=0.9, worst_per_day=9.0, kept_per_day=9.0),
        point(agreement=0.7, worst_per_day=4.0, kept_per_day=4.0),
    ]
    target = Target(agreement=0.8, leakage=5.0)
    assert choose(points, target, False) is None
    missed = nearest(points, target)
    assert (missed.name, missed.best, missed.point, missed.others_kept) == ("agreement", 0.7, points[1], True)
    assert gaps(points[1], target) == {"agreement": pytest.approx(0.125)}
    hopeless = nearest([point(delay_ms=20.0)], Target(agreement=0.9, delay=10))
    assert (hopeless.others_kept, hopeless.name) == (False, "agreement")


@pytest.mark.parametrize(
    "target",
    [
        Target(agreement=-0.1),
        Target(agreement=1.5),
        Target(agreement=math.nan),
        Target(distance=-1.0),
        Target(leakage=-5.0),
        Target(leakage=0.0),
        Target(leakage=math.inf),
    ],
)
def test_impossible_targets_are_refused(target: Target) -> None:
    with pytest.raises(CannotPlan) as caught:
        target.check()
    assert caught.value.where.startswith("--") and caught.value.why and caught.value.fix


def test_what_a_day_may_tell() -> None:

    assert kept_per_day(2.5, 86_400_000) == 5.0
    assert kept_per_day(2.5, None) == 2.5
    assert kept_per_day(1.0, 3_600_000) == 25.0
    # 10 events in a row touch at most 4 windows of 4: 1 + 4 + 4 + 1.
    assert releases_per_day(10, 4) == 4
    assert releases_per_day(96, 1) == 96
    assert releases_per_day(1, 20) == 1
    for events in range(2, 30):
        for length in range(2, 8):
            touched = max((first + events - 1) // length + 1 for first in range(length))
            assert releases_per_day(events, length) == touched


@pytest.mark.parametrize("stretch", [3_600_000, 5_000_000, 20_000_000, 90_000_000])
def test_stretches_end_windows_early(stretch: int) -> None:
    """Windows of a user whose events come evenly, cut by number and stretch, from wherever the day begins."""
    for per_day, length in ((10, 4), (24, 7), (24, 20), (97, 5)):
        spacing, held, first = DAY_MS // per_day, 0, 0
        windows: list[int] = []
        for event in range(5 * per_day):
            time = event * spacing
            if held == length or (held and time // stretch > first // stretch):
                held = 0
            first = time if held == 0 else first
            windows.append(event if held == 0 else windows[-1])
            held += 1
        numbers = np.array(windows)
        most = max(len(set(numbers[begin : begin + per_day].tolist())) for begin in range(4 * per_day))
        assert most <= releases_per_day(per_day, length, stretch)


def test_an_epsilon_bears_the_kind_of_its_promise() -> None:
    assert notion_of(MECHANISMS["optimal"], 1.0) == "SIP 1"
    assert notion_of(MECHANISMS["top_k_grr"], 1.0) == "LDP 1"
    assert notion_of(MECHANISMS["randomised_response_double"], 1.0) == "LDP 2"
    assert notion_of(MECHANISMS["published_crr"], 1.0) == "no bound"


def test_the_interval_is_students() -> None:
    # Quantiles of Student's law at .975: 2.228 for 10 degrees of freedom, 2.042 for 30.
    for count, quantile in ((11, 2.228), (31, 2.042)):
        values = [float(value) for value in range(count)]
        mean = sum(values) / count
        spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
        assert half_width(values) == pytest.approx(quantile * spread / math.sqrt(count), rel=2e-3)
    assert half_width([1.0, 2.0]) == math.inf
