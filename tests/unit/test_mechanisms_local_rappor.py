"""Bits that are kept: both levels by every outcome of several reports, permanent coins, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from beliefs.checks import Invalid, InvariantBroken
from mechanisms.contract import TOTAL
from mechanisms.local.coins import field_key, memoised_coins, permanent_coins, report_coins
from mechanisms.local.rappor import (
    DrawnRappor,
    drawn_rappor,
    drawn_rappor_of_level,
    level_of_reports,
    rappor,
    rappor_of_level,
)
from mechanisms.local.registry import drawn
from mechanisms.local.unary import DrawnBits

KEY = field_key(bytes(range(32)), "occupation")
CONSTANTS = ((0.5, 0.5, 0.75), (0.25, 0.1, 0.9), (0.9, 0.0, 0.5), (0.5, 0.75, 0.25), (0.3, 0.2, 1.0), (0.6, 0.4, 0.4))


def law_of_reports(flip: float, zero: float, one: float, own: int, times: int) -> np.ndarray:
    """The chance of every outcome of all reports of two bits, by every permanent vector."""
    law = np.zeros(4**times)
    for kept in itertools.product((0, 1), repeat=2):
        chance = math.prod(1 - flip / 2 if bit == (place == own) else flip / 2 for place, bit in enumerate(kept))
        bits = [(one if bit else zero, 1 - (one if bit else zero)) for bit in kept]
        report = np.array([a * b for a in bits[0] for b in bits[1]])
        together = np.ones(1)
        for _ in range(times):
            together = np.outer(together, report).ravel()
        law += chance * together
    return law


@pytest.mark.parametrize(("flip", "zero", "one"), CONSTANTS)
def test_several_reports_tell_what_every_outcome_of_them_tells(flip: float, zero: float, one: float) -> None:
    found, said = drawn_rappor(2, flip, zero, one), rappor(2, flip, zero, one)
    kept = math.log((1 - flip / 2) / (flip / 2))
    before = 0.0
    for times in (1, 2, 3, 5):
        own, other = (law_of_reports(flip, zero, one, value, times) for value in (0, 1))
        seen = (own > 0) | (other > 0)
        exact = float(np.abs(np.log(own[seen] / other[seen])).max())
        assert level_of_reports(kept, zero, one, times) == pytest.approx(exact, abs=1e-12)
        assert exact - 1e-12 <= found.level_of_reports(times) <= min(found.longitudinal, exact + 1e-10)
        assert before - 1e-15 <= exact <= times * said.level + 1e-12
        before = exact
        if times == 1:
            assert said.level == pytest.approx(exact, abs=1e-12)
            assert found.level == pytest.approx(exact, abs=1e-12)
    assert found.longitudinal == pytest.approx(2 * kept, abs=1e-12)
    assert found.level_of_reports(10**7) == pytest.approx(2 * kept if zero != one else 0.0, abs=1e-9)
    assert found.level_of_reports(0) == 0.0


def test_levels_at_the_ends() -> None:
    assert drawn_rappor(5, 0.0, 0.5, 0.75).longitudinal == math.inf
    assert drawn_rappor(5, 0.0, 0.5, 0.75).level_of_reports(3) == pytest.approx(3 * math.log(1.5) + 3 * math.log(2.0))
    assert drawn_rappor(5, 0.0, 0.0, 1.0).level == drawn_rappor(5, 0.0, 0.0, 1.0).level_of_reports(1) == math.inf
    assert drawn_rappor(5, 0.5, 0.0, 1.0).level_of_reports(1) == drawn_rappor(5, 0.5, 0.0, 1.0).longitudinal
    assert drawn_rappor(5, 1.0, 0.5, 0.75).longitudinal == drawn_rappor(5, 1.0, 0.5, 0.75).level == 0.0
    assert drawn_rappor(5, 1.0, 0.5, 0.75).level_of_reports(9) == 0.0
    assert DrawnBits(2, TOTAL, TOTAL // 2).level == math.inf


def test_a_level_chooses_the_flip_for_which_all_reports_together_keep_it() -> None:
    for epsilon in (1e-6, 0.3, 2.0, 30.0):
        found, said = drawn_rappor_of_level(6, epsilon), rappor_of_level(6, epsilon)
        assert 0.0 < epsilon - found.longitudinal < 1e-9
        assert said.named["longitudinal"] == epsilon
        assert found.level == pytest.approx(said.level, rel=1e-9)
        assert rappor(6, 2 / (1 + math.exp(epsilon / 2))).level == pytest.approx(said.level, rel=1e-6)
    assert rappor_of_level(6, 2_000.0).level == rappor(6, 0.0).level == pytest.approx(math.log(0.75 / 0.5 * 0.5 / 0.25))


def test_permanent_bits_are_the_users_and_the_values_for_ever_and_reports_are_fresh() -> None:
    found = drawn("rappor", 5, 2.0, report_zero=0.25, report_one=0.875)
    assert isinstance(found, DrawnRappor)
    users = [b"ada", b"bob", b"ada", b"ada"]
    values = np.array([3, 3, 3, 2])
    one, late = memoised_coins(KEY, users, values, 0, 10), memoised_coins(KEY, users, values, 10**9, 10)
    assert (one[:, :5] == late[:, :5]).all()
    assert (one[0, :5] == one[2, :5]).all()
    assert (one[0, :5] == permanent_coins(KEY, b"ada", 3, 5)[0]).all()
    assert len({row.tobytes() for row in one[:, :5]}) == 3
    assert len({row.tobytes() for row in np.concatenate([one, late])[:, 5:]}) == 8
    assert (late[:, 5:] == report_coins(KEY, 10**9, 4, 5)).all()
    other = memoised_coins(field_key(bytes(range(32)), "age"), users, values, 0, 10)
    assert (other[0, :5] != one[0, :5]).all()
    # The first half of the coins is the permanent bits', the second their report's.
    kept = found.permanent.draw(values, one[:, :5])
    assert (found.draw(values, one) == found.report(kept, one[:, 5:])).all()


def test_reports_of_kept_bits_scatter_as_these_say_and_not_as_fresh_ones() -> None:
    found = drawn_rappor(5, 0.5, 0.5, 0.75)
    kept = found.permanent.draw(np.array([3]), permanent_coins(KEY, b"ada", 3, 5))
    users, values = [b"ada"] * 40_000, np.full(40_000, 3)
    reports = found.draw(values, memoised_coins(KEY, users, values, 0, found.words))
    assert reports.mean(axis=0) == pytest.approx(np.where(kept[0] == 1, 0.75, 0.5), abs=0.015)
    fresh = found.draw(values, report_coins(KEY, 0, 40_000, found.words))
    assert fresh.mean(axis=0) == pytest.approx(np.where(np.arange(5) == 3, 0.6875, 0.5625), abs=0.015)


def test_what_is_no_chance_or_no_value_is_refused() -> None:
    for name, wrong in (
        ("flip", (-0.1, 0.5, 0.5)),
        ("report_zero", (0.5, 1.1, 0.5)),
        ("report_one", (0.5, 0.5, math.nan)),
    ):
        for make in (rappor, drawn_rappor):
            with pytest.raises(Invalid) as caught:
                make(3, *wrong)
            assert caught.value.field == name
    with pytest.raises(Invalid, match="report_one: is below report_zero"):
        rappor(3, 0.5, 0.75, 0.25).guess()
    found = drawn_rappor(3, 0.5)
    with pytest.raises(InvariantBroken):
        found.draw(np.array([3]), report_coins(KEY, 0, 1, found.words))
