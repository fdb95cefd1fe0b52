"""Levels, lists, groups and pairs put together: mean and variance over everything that could have been reported."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from report_laws import made, reports_about

from beliefs.checks import Invalid
from mechanisms.contract import TOTAL, Floats
from mechanisms.local.contract import Drawn
from mechanisms.local.inverted import cells_of, inverted, sums_of
from mechanisms.local.pairs import PairTally, joint_of
from mechanisms.local.pooled import Level, levels_apart, pooled, pooled_sum, weights_of
from mechanisms.local.pooled_groups import pooled_groups
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import drawn

NEAR = 1e-9


def everything(people: Sequence[tuple[Drawn, int]]) -> Iterator[tuple[list[Any], float]]:
    """Each way in which all of these may report, with its chance."""
    for told in itertools.product(*(list(reports_about(found, value)) for found, value in people)):
        yield [report for report, _ in told], float(np.prod([float(chance) for _, chance in told]))


def level_of(found: Drawn, reports: Sequence[Any]) -> Level:
    of = inverted(found)
    sums = sum((sums_of(found, report) for report in reports), start=np.zeros(of.cells, dtype=np.int64))
    return Level(of, len(reports), of.rows(sums / len(reports)))


def moments(found: Iterator[tuple[Floats, float]]) -> tuple[Floats, Floats]:
    told = list(found)
    mean = sum(chance * each for each, chance in told)
    return np.asarray(mean), np.asarray(sum(chance * (each - mean) ** 2 for each, chance in told))


def levels_at(people: Sequence[tuple[Drawn, int]], truth: Floats) -> list[Level]:
    """The levels with the truth in the place of what was estimated."""
    found: dict[Drawn, int] = {}
    for one, _ in people:
        found[one] = found.get(one, 0) + 1
    return [Level(inverted(one), count, truth) for one, count in found.items()]


@pytest.mark.parametrize("name", ["grr", "oue", "ss"])
@pytest.mark.parametrize("pooling", ["precision", "shares"])
def test_levels_together_have_no_bias_and_the_stated_variance(name: str, pooling: Any) -> None:
    """Both levels have the same values, one each of 0 and 1."""
    full, half = made(name, 3, 2.0), made(name, 3, 1.0)
    people, truth = [(full, 0), (full, 1), (half, 0), (half, 1)], np.array([0.5, 0.5, 0.0])
    levels = levels_at(people, truth)
    weights, size = weights_of(levels, pooling), np.array([1.0, 0.0, 4.0])

    def told(reports: list[Any]) -> Floats:
        found = [level_of(full, reports[:2]), level_of(half, reports[2:])]
        assert weights_of(found, pooling).tolist() == weights.tolist()
        mean = pooled_sum(found, weights, size, truth).estimate
        return np.array([*pooled(found, weights).frequencies, mean])

    mean, scatter = moments((told(reports), chance) for reports, chance in everything(people))
    assert mean == pytest.approx([0.5, 0.5, 0.0, 0.5], abs=NEAR)
    assert scatter[:3] == pytest.approx(pooled(levels, weights).variances, rel=NEAR)
    assert scatter[3] == pytest.approx(pooled_sum(levels, weights, size, truth).variance, rel=NEAR)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] > 0.7 if pooling == "precision" else weights[0] == 0.5


def test_shares_have_no_bias_where_levels_and_values_go_together() -> None:
    full, half = made("grr", 3, 2.0), made("grr", 3, 1.0)
    people = [(full, 0), (full, 0), (half, 1)]
    for pooling, wanted in (("shares", [2 / 3, 1 / 3, 0.0]), ("precision", [0.9, 0.1, 0.0])):

        def told(reports: list[Any], pooling: Any = pooling) -> Floats:
            found = [level_of(full, reports[:2]), level_of(half, reports[2:])]
            return pooled(found, weights_of(found, pooling)).frequencies

        mean, _ = moments((told(reports), chance) for reports, chance in everything(people))
        assert mean == pytest.approx(wanted, abs=NEAR if pooling == "shares" else 0.05)


def slots_of(lists: Sequence[Sequence[int]], slots: int, empty: int) -> Iterator[tuple[list[int], float]]:
    """Each choice of a slot of every list, with its chance."""
    filled = [[*each, *[empty] * (slots - len(each))] for each in lists]
    for chosen in itertools.product(*filled):
        yield list(chosen), float(slots) ** -len(lists)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_of_lists_the_coin_that_chooses_a_slot_is_part_of_the_variance(name: str) -> None:
    found, lists, slots = made(name, 4, 2.0), [[0, 1], [1]], 2
    truth = np.array([0.5, 1.0, 0.0, 0.5])  # of lists; the last is the mean number of empty slots

    def each() -> Iterator[tuple[Floats, float]]:
        for chosen, likely in slots_of(lists, slots, empty=3):
            for reports, chance in everything([(found, value) for value in chosen]):
                yield slots * level_of(found, reports).frequencies, likely * chance

    mean, scatter = moments(each())
    assert mean == pytest.approx(truth, abs=NEAR)
    levels = [Level(inverted(found), 2, truth / slots)]
    stated = pooled(levels, np.ones(1), slots, empty=3).variances * slots**2
    assert scatter[:3] == pytest.approx(stated[:3], rel=NEAR)
    assert scatter[3] <= stated[3] < 1.2 * scatter[3]


@pytest.mark.parametrize("name", ["grr", "oue", "ss"])
def test_groups_are_told_by_reports_of_values_and_of_groups(name: str) -> None:
    fine, coarse, members = made(name, 4, 2.0), made(name, 3, 2.0), np.array([0, 1, 1, 2])
    values, groups = [2, 1], [1]
    people = [*((fine, value) for value in values), *((coarse, group) for group in groups)]
    truth = np.array([0.0, 1.0, 0.0])
    levels = [Level(inverted(fine), 2, np.array([0.0, 0.5, 0.5, 0.0]))], Level(inverted(coarse), 1, truth)

    def told(reports: list[Any]) -> Floats:
        found = pooled_groups([level_of(fine, reports[:2])], level_of(coarse, reports[2:]), members, 3, "precision")
        return found.frequencies

    mean, scatter = moments((told(reports), chance) for reports, chance in everything(people))
    assert mean == pytest.approx(truth, abs=NEAR)
    assert scatter == pytest.approx(pooled_groups(*levels[:1], levels[1], members, 3, "precision").variances, rel=NEAR)
    alone = pooled_groups([], levels[1], members, 3, "precision")
    assert alone.variances == pytest.approx(pooled([levels[1]], np.ones(1)).variances)


def test_kept_bits_make_reports_of_one_user_hang_together() -> None:
    """Two users with two reports each: all kept bits and all reports of them."""
    found = drawn("rappor", 2, 2.0)
    assert isinstance(found, DrawnRappor)
    share = {kept: units / TOTAL for kept, units in ((0, found.if_zero), (1, found.if_one))}
    own, other = found.permanent.one / TOTAL, found.permanent.other / TOTAL
    sums: dict[tuple[int, int], dict[int, float]] = {}
    for place, value in itertools.product(range(2), repeat=2):  # how often a user's bit at the place is told as 1
        one = own if place == value else other
        law: dict[int, float] = {}
        for kept, chance in ((1, one), (0, 1.0 - one)):
            for told in itertools.product((0, 1), repeat=2):
                likely = chance * np.prod([share[kept] if bit else 1.0 - share[kept] for bit in told])
                law[sum(told)] = law.get(sum(told), 0.0) + float(likely)
        sums[place, value] = law
    of, truth = inverted(found), np.array([0.5, 0.5])
    stated = pooled([Level(of, 4, truth, again=4)], np.ones(1)).variances
    for place in range(2):
        both = [
            (float(of.rows(np.array([(a + b) / 4]))[0]), p * q)
            for a, p in sums[place, 0].items()
            for b, q in sums[place, 1].items()
        ]
        mean = sum(p * each for each, p in both)
        assert mean == pytest.approx(0.5, abs=NEAR)
        assert sum(p * (each - mean) ** 2 for each, p in both) == pytest.approx(stated[place], rel=NEAR)
    assert (stated > 1.05 * pooled([Level(of, 4, truth)], np.ones(1)).variances).all()


def tally_of(first: Drawn, second: Drawn, reports: Sequence[tuple[Any, Any]]) -> PairTally:
    found = PairTally(first, second)
    for one, other in reports:
        found.add(one, other)
    return found


@pytest.mark.parametrize(("one", "other"), [("grr", "grr"), ("grr", "oue"), ("ss", "top_k")])
def test_joint_tables_have_no_bias_and_the_stated_variance(one: str, other: str) -> None:
    first, second = made(one, 3, 2.0), made(other, 3, 1.5)
    people, cells = [(0, 1), (2, 0)], (cells_of(first), cells_of(second))
    truth = np.zeros(cells)
    for a, b in people:
        truth[a, {0: 1, 1: 2, 2: 0}[b] if other == "top_k" else b] += 1 / 2
    laws = [
        list(reports_about(found, value)) for pair in people for found, value in zip((first, second), pair, strict=True)
    ]

    def each() -> Iterator[tuple[Floats, float]]:
        for told in itertools.product(*laws):
            pairs = [(told[2 * at][0], told[2 * at + 1][0]) for at in range(2)]
            chance = float(np.prod([float(p) for _, p in told]))
            yield joint_of([tally_of(first, second, pairs)], "precision").frequencies, chance

    mean, scatter = moments(each())
    assert mean == pytest.approx(truth, abs=NEAR)
    assert scatter == pytest.approx(stated_joint(first, second, truth, 2), rel=1e-6)


def stated_joint(first: Drawn, second: Drawn, truth: Floats, people: int) -> Floats:
    """The variances of a tally that says exactly the truth, which is no tally of whole numbers."""
    found = PairTally(first, second)
    one, other = found.of
    rows, columns = truth.sum(axis=1), truth.sum(axis=0)
    products = (
        truth * one.span * other.span
        + rows[:, None] * one.span * other.low
        + columns[None, :] * one.low * other.span
        + one.low * other.low
    )
    found.products = products * people  # type: ignore[assignment]
    found.firsts, found.seconds = (  # type: ignore[assignment]
        people * (rows * one.span + one.low),
        people * (columns * other.span + other.low),
    )
    found.reports = people
    told = joint_of([found], "precision")
    assert told.frequencies == pytest.approx(truth, abs=1e-9)
    return told.variances


def test_pairs_of_lists_and_of_levels_add_up() -> None:
    found = [made("oue", 3, epsilon) for epsilon in (2.0, 1.0)]
    reports = [(np.array([[1, 0, 1]]), np.array([[0, 1, 0]])), (np.array([[0, 0, 1]]), np.array([[1, 1, 0]]))]
    tallies = [tally_of(found[0], found[1], reports), tally_of(found[1], found[0], reports[:1])]
    alone = joint_of(tallies[:1], "shares")
    lists = joint_of(tallies[:1], "shares", (2, 3))
    assert lists.frequencies == pytest.approx(6 * alone.frequencies)
    assert (lists.variances > alone.variances).all()
    both = joint_of(tallies, "shares")
    assert both.reports == 3
    assert both.frequencies == pytest.approx((2 * alone.frequencies + joint_of(tallies[1:], "shares").frequencies) / 3)
    assert tally_of(found[0], found[0], reports).products.tolist() == [[0, 1, 0], [0, 0, 0], [1, 2, 0]]


def test_what_cannot_be_put_together_is_refused() -> None:
    with pytest.raises(Invalid, match="cells; at most"):
        PairTally(drawn("grr", 2000, 1.0), drawn("grr", 2000, 1.0))
    with pytest.raises(Invalid, match="none of both fields"):
        joint_of([], "shares")
    with pytest.raises(Invalid, match="nothing can be estimated"):
        inverted(drawn("rappor", 3, 1.0, report_zero=0.5, report_one=0.5))


def test_levels_that_are_about_other_people_are_noticed() -> None:
    of, other = inverted(drawn("grr", 3, 2.0)), inverted(drawn("grr", 3, 1.0))
    alike = [Level(of, 10_000, np.array([0.5, 0.3, 0.2])), Level(other, 10_000, np.array([0.49, 0.32, 0.19]))]
    unlike = [alike[0], Level(other, 10_000, np.array([0.3, 0.5, 0.2]))]
    near, far = levels_apart(alike), levels_apart(unlike)
    assert near is not None and far is not None
    assert near > 0.05 and far < 1e-4
    assert levels_apart(alike[:1]) is None
