from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from beliefs.checks import Invalid, InvariantBroken
from beliefs.leakage.sequence import log_up
from mechanisms.contract import TOTAL
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import HASH_RANGE_MAX, drawn_hashing, hashed
from mechanisms.local.histogram import SHE_EPSILON_MAX, SHE_EPSILON_MIN, DrawnHistogram, drawn_the
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import DRAWN, drawn, local
from mechanisms.local.subset import DrawnSubset, draw_sets
from mechanisms.local.unary import DrawnBits
from mechanisms.local.units import exponential_down

KEY = field_key(bytes(range(32)), "occupation")
EPSILONS = (1e-6, 0.1, 1.0, 3.7, 12.0, 32.0)


def exact_level(name: str, values: int, epsilon: float) -> Fraction:
    """The largest ratio of the whole numbers, written out: no logarithm, no rounding."""
    found = drawn(name, values, epsilon)
    if isinstance(found, DrawnResponse):
        assert found.high + (values - 1) * found.low == TOTAL
        return Fraction(found.high, found.low)
    if isinstance(found, DrawnBits):
        return Fraction(found.one, found.other) * Fraction(TOTAL - found.other, TOTAL - found.one)
    if isinstance(found, DrawnRappor):
        bits = (found.permanent.one, found.permanent.other)
        own, other = (one * found.if_one + (TOTAL - one) * found.if_zero for one in bits)
        return Fraction(own, other) * Fraction(TOTAL**2 - other, TOTAL**2 - own)
    if isinstance(found, DrawnHistogram):
        assert sum(found.other) == TOTAL
        assert min(found.other) > 0
        return found.ratio**2
    if isinstance(found, DrawnSubset):
        return Fraction(found.own * (values - found.size), (TOTAL - found.own) * found.size)
    return Fraction(found.response.high, found.response.low)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", DRAWN)
def test_the_printed_level_is_that_of_the_whole_numbers(name: str) -> None:
    for values, epsilon in itertools.product((2, 3, 17, 1_000), EPSILONS):
        beyond_cells = name == "she" and not SHE_EPSILON_MIN <= epsilon <= SHE_EPSILON_MAX
        if beyond_cells or (name == "olh" and epsilon > math.log(HASH_RANGE_MAX - 1)):
            with pytest.raises(Invalid):
                drawn(name, values, epsilon)
            continue
        found, nominal = drawn(name, values, epsilon), local(name, values, epsilon).level
        exact = exact_level(name, values, epsilon)
        assert log_up(exact) <= found.level <= log_up(exact) + 1e-12
        if isinstance(found, DrawnRappor):  # what is kept below epsilon is all reports together
            assert 0.0 < epsilon - found.longitudinal < 1e-12 + 2.0 * math.exp(epsilon) / TOTAL
            nominal *= 1.0 + 1e-12
        assert exact <= exponential_down(Fraction(nominal))
        coarse = 2.0 * (math.exp(nominal) + values) / TOTAL  # what one unit more or less does to the ratio
        coarse += 1e-6 if name == "she" else 1e-12
        assert nominal * (1.0 - 1e-12) - coarse <= found.level <= nominal


def test_the_exponential_is_rounded_down() -> None:
    for epsilon in (Fraction(1, 1_000_000), Fraction(1), Fraction(32)):
        low, whole = exponential_down(epsilon), Fraction(0)
        term = Fraction(1)
        for order in range(1, 200):
            whole += term
            term = term * epsilon / order
        assert whole * (1 - Fraction(1, 10**50)) < low <= whole


def test_what_cannot_be_drawn_is_refused() -> None:
    for values, epsilon, field in (
        (1, 1.0, "values"),
        (1 << 25, 1.0, "values"),
        (3, 0.0, "epsilon"),
        (3, 33.0, "epsilon"),
    ):
        for name in DRAWN:
            with pytest.raises(Invalid) as caught:
                drawn(name, values, epsilon)
            assert caught.value.field == field
    for wrong, options, field in (
        ("the", {"threshold": 0.49}, "threshold"),
        ("ss", {"subset_size": 3}, "subset_size"),
        ("rappor", {"report_one": 1.5}, "report_one"),
        ("grr", {"threshold": 0.7}, "threshold"),
        ("top_k", {}, "top"),
        ("thee", {}, "mechanism"),
    ):
        with pytest.raises(Invalid) as caught:
            drawn(wrong, 3, 1.0, **options)
        assert caught.value.field == field
    with pytest.raises(Invalid, match="hash_range"):
        drawn_hashing(3, 1.0, 1)


def test_sets_whose_draws_alone_may_tell_more_than_epsilon_are_refused() -> None:
    for values, epsilon in ((1 << 24, 1e-6), (1 << 24, 1.2e-4), (1 << 22, 1e-6)):
        with pytest.raises(Invalid, match="too small"):
            drawn("ss", values, epsilon)
    for values, epsilon in ((1 << 24, 1.3e-4), (1 << 22, 1e-5), (1 << 20, 1e-6)):
        assert drawn("ss", values, epsilon).level <= epsilon


@pytest.mark.parametrize("name", DRAWN)
def test_a_value_that_the_field_does_not_have_is_never_drawn_for(name: str) -> None:
    found = drawn(name, 3, 1.0)
    coins = report_coins(KEY, 0, 1, found.words)
    for value in (-1, 3):
        with pytest.raises(InvariantBroken):
            found.draw(np.array([value], dtype=np.int64), coins)
    nobody = found.draw(np.zeros(0, dtype=np.int64), report_coins(KEY, 0, 0, found.words))
    assert found.counts(nobody).tolist() == [0, 0, 0]


def test_cells_are_drawn_as_their_rows_say_and_their_sums_are_put_right() -> None:
    for epsilon in (SHE_EPSILON_MIN, 1.0, SHE_EPSILON_MAX):
        found = drawn("she", 3, epsilon)
        assert isinstance(found, DrawnHistogram)
        steps = np.arange(len(found.other)) + found.first
        chances = np.array([float(Fraction(units, TOTAL)) for units in found.other])
        assert found.cut == pytest.approx(float((steps * chances).sum()) / found.per_unit, abs=1e-9)
        own = float((steps * chances[::-1]).sum()) / found.per_unit
        assert own == pytest.approx(1.0 - found.cut, abs=1e-9)
        # What cutting off and the grid leave of the stated variance.
        variance = float((steps**2 * chances).sum()) / found.per_unit**2 - found.cut**2
        assert variance == pytest.approx(8.0 / epsilon**2, rel=0.02)
    found = drawn("she", 3, 1.0)
    assert isinstance(found, DrawnHistogram)
    limits = np.cumsum(np.array(found.other, dtype=object))
    coins = np.array([[*corners(int(limits[5])), 0]], dtype=np.uint64)
    assert found.draw(np.array([2]), coins).tolist() == [[found.first + 5, found.first + 6, found.first]]


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_coins_draw_the_same_reports(name: str) -> None:
    found = drawn(name, 6, 1.0)
    values = np.arange(60, dtype=np.int64) % 6
    whole = report_coins(KEY, 0, 60, found.words)
    late = report_coins(KEY, 40, 20, found.words)
    assert (whole[40:] == late).all()
    assert (report_coins(field_key(bytes(32), "occupation"), 0, 60, found.words) != whole).all()
    assert (report_coins(field_key(bytes(range(32)), "sex"), 0, 60, found.words) != whole).all()
    assert (found.counts(found.draw(values, whole)) == found.counts(found.draw(values, whole.copy()))).all()


def corners(cut: int) -> list[int]:
    """Coins whose points lie at both sides of a limit."""
    return [max(cut - 1, 0) << 2 | 3, min(cut, TOTAL - 1) << 2]


def test_a_response_changes_exactly_at_its_limits() -> None:
    found = drawn("grr", 4, 1.0)
    assert isinstance(found, DrawnResponse)
    limits = [found.high + step * found.low for step in range(3)]
    coins = np.array([coin for cut in limits for coin in corners(cut)], dtype=np.uint64)[:, None]
    reports = found.draw(np.full(6, 2, dtype=np.int64), coins)
    assert reports.tolist() == [2, 0, 0, 1, 1, 3]
    last = np.array([[(TOTAL - 1) << 2 | 3]], dtype=np.uint64)
    assert found.draw(np.array([2]), last).tolist() == [3]
    assert found.draw(np.array([3]), last).tolist() == [2]


def test_bits_change_exactly_at_their_limits() -> None:
    found = DrawnBits(2, TOTAL // 2, TOTAL // 8)
    rows = np.array(list(itertools.product(corners(TOTAL // 2), corners(TOTAL // 8))), dtype=np.uint64)
    assert found.draw(np.zeros(4, dtype=np.int64), rows).tolist() == [[1, 1], [1, 0], [0, 1], [0, 0]]


def test_sets_of_others_are_all_equally_likely() -> None:
    """With coins that run through all numbers up to each place, Floyd's draws meet every set equally often."""
    for values, size, own in ((5, 2, 0), (5, 3, 0), (5, 3, TOTAL), (6, 1, TOTAL), (4, 3, 0)):
        left = size - 1 if own else size
        spans = [range(values - 1 - left + step + 1) for step in range(left)]
        choices = list(itertools.product(*spans))
        coins = np.zeros((len(choices), 1 + size), dtype=np.uint64)
        for row, chosen in enumerate(choices):
            for step, number in enumerate(chosen):
                # The middle of the points that stand for this number.
                coins[row, 1 + step] = ((2 * number + 1) * TOTAL // (2 * len(spans[step]))) << 2
        for mine in (0, 2, values - 1):
            held = np.zeros((len(choices), values), dtype=np.int64)
            draw_sets(np.full(len(choices), mine, dtype=np.int64), size, own, coins, held)
            assert (held.sum(axis=1) == size).all()
            assert (held[:, mine] == (1 if own else 0)).all()
            seen = Counter(tuple(row) for row in held.tolist())
            assert len(seen) == math.comb(values - 1, left)
            assert len(set(seen.values())) == 1


def test_numbers_up_to_a_place_are_the_top_of_a_product() -> None:
    generator = np.random.default_rng(51)
    points = [0, TOTAL - 1, *generator.integers(0, TOTAL, 400).tolist()]
    for others in (2, 7, 1_000):
        for point in points:
            held = np.zeros((1, others + 1), dtype=np.int64)
            draw_sets(np.array([others]), 1, 0, np.array([[0, point << 2]], dtype=np.uint64), held)
            assert held[0, point * others // TOTAL] == 1


def test_two_values_have_the_same_hash_once_in_the_range() -> None:
    coins = report_coins(KEY, 0, 200_000, 2)
    for span in (2, 5, 64):
        one = hashed(np.uint64(3), coins[:, 0], coins[:, 1], span)
        other = hashed(np.uint64(1_000_003), coins[:, 0], coins[:, 1], span)
        assert one.min() == 0
        assert one.max() == span - 1
        apart = (one == other).mean() - 1.0 / span
        assert abs(apart) <= 5.0 * math.sqrt(1.0 / span / 200_000)


def test_thresholds_are_drawn_as_bits_of_at_most_the_level() -> None:
    for threshold in (0.5, 0.67, 1.0):
        assert drawn_the(4, 1.0, threshold).level <= local("she", 4, 1.0).level
        assert drawn_the(4, 1.0, threshold).level > 0.4
