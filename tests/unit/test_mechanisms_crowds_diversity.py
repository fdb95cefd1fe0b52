from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from beliefs.checks import Invalid, InvariantBroken
from mechanisms.crowds.diversity import EVENTS_MOST, MILLION, Rule, millionths, no_counts

NO = np.zeros(0, dtype=np.int64)


def counts(*each: int) -> np.ndarray:
    return np.array(each, dtype=np.int64)


def test_every_small_crowd_against_fractions() -> None:
    checked = 0
    for people in itertools.product(range(4), repeat=3):
        users = sum(people)
        if not users:
            continue
        for everybody in itertools.product(range(3), repeat=3):
            if not sum(everybody):
                continue
            apart = (
                sum(
                    abs(Fraction(p, users) - Fraction(e, sum(everybody)))
                    for p, e in zip(people, everybody, strict=True)
                )
                / 2
            )
            for diverse in (1, 2, 3):
                mixed = all(share * diverse <= users for share in people)
                assert not mixed or sum(share > 0 for share in people) >= diverse  # so many different values at least
                for close in (-1, 0, 250_000, 333_333, 500_000, MILLION):
                    rule = Rule(3, 3, diverse, close)
                    want = users >= 3 and (diverse == 1 or mixed) and (close < 0 or apart <= Fraction(close, MILLION))
                    assert rule.allows(counts(*people), users, counts(*people), counts(*everybody)) == want
                    checked += 1
    assert checked > 20_000


def test_people_count_for_diversity_and_events_for_closeness() -> None:
    # Four users, of whom two have both values: three of four have each.
    people, events = counts(3, 3), counts(9, 1)
    assert not Rule(4, 2, 2).allows(people, 4, events, counts(9, 1))
    assert Rule(4, 2, 1, 0).allows(people, 4, events, counts(18, 2))
    assert not Rule(4, 2, 1, 0).allows(people, 4, events, counts(1, 1))


def test_nothing_known_of_everybody_is_close_to_nothing() -> None:
    assert not Rule(2, 2, 1, MILLION).allows(counts(1, 1), 2, counts(1, 1), counts(0, 0))
    assert not Rule(2, 2, 1, MILLION).allows(counts(0, 0), 2, counts(0, 0), counts(1, 1))


def test_the_largest_numbers_are_compared_exactly() -> None:
    half = EVENTS_MOST // 2
    everybody, one_off = counts(half, half), counts(half + 1, half - 1)
    assert Rule(2, 2, 1, 1).allows(one_off, EVENTS_MOST, one_off, everybody)  # 2^-20 is less than a millionth
    assert not Rule(2, 2, 1, 0).allows(one_off, EVENTS_MOST, one_off, everybody)
    far, other = counts(EVENTS_MOST, 0), counts(0, EVENTS_MOST)
    assert Rule(2, 2, 1, MILLION).allows(far, EVENTS_MOST, far, other)
    assert not Rule(2, 2, 1, MILLION - 1).allows(far, EVENTS_MOST, far, other)


def test_without_values_only_users_count() -> None:
    rule = Rule(3)
    assert no_counts(rule).size == 0
    assert [rule.allows(NO, users, NO, NO) for users in (2, 3, 4)] == [False, True, True]
    assert not rule.about_values
    assert not Rule(3, 5).about_values
    assert Rule(3, 5, 2).about_values
    assert Rule(3, 5, 1, 0).about_values


def test_a_distance_is_rounded_down() -> None:
    assert [millionths(close) for close in ("0.2", 0.1, "0.0000019", 1)] == [200_000, 100_000, 1, MILLION]


@pytest.mark.parametrize(
    "wrong", [(1,), (1_000_001,), (2, 0, 2), (2, 0, 1, 5), (2, 2, 1, -2), (2, 2, 1, MILLION + 1), (2, 2, 1, -1, 1.5)]
)
def test_rules_that_say_nothing_are_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(InvariantBroken):
        Rule(*wrong)


@pytest.mark.parametrize("wrong", [(3, 2, 3), (2, 5, 3), (3, 3, 0)])
def test_more_different_values_than_there_are_or_users_are_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(Invalid, match="at most k"):
        Rule(*wrong)
