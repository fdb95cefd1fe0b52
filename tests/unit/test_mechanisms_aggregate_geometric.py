"""Noise of aggregates: the same bits singly and many at once, exact levels, scales that never tell more than asked."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import Invalid, InvariantBroken
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric, scale_for, simplest_between, slimmed
from mechanisms.coins import keystream

KEY = bytes(range(32))
SCALES = [
    (1, 1024),
    (1, 3),
    (1, 1),
    (7, 5),
    (5, 1),
    (1072694276, 214538855),
    (12345678911, 7),
    ((1 << 61) - 1, 1 << 40),
    ((1 << 62) - 1, (1 << 61) - 1),
    (1 << 44, 1),
]


@pytest.mark.parametrize(("num", "den"), SCALES)
def test_many_at_once_are_the_single_draws_and_leave_the_same_place(num: int, den: int) -> None:
    noise, one, many = Geometric(num, den), CoinStream(KEY, 3, 1), CoinStream(KEY, 3, 1)
    drawn = noise.draws(many, 300)
    assert drawn.dtype == np.int64
    assert drawn.tolist() == [noise.draw(one) for _ in range(300)]
    assert one.bits(64) == many.bits(64)


def test_however_the_words_are_cut_the_draws_are_the_same() -> None:
    noise, whole, parts = Geometric(5, 1), CoinStream(KEY, 1, 0), CoinStream(KEY, 1, 0)
    expected = noise.draws(whole, 60_000)
    found = [noise.draws(parts, count) for count in (1, 0, 2, 59_997)]
    assert np.concatenate(found).tolist() == expected.tolist()


@pytest.mark.parametrize("words", [1, 2, 5, 17])
def test_words_that_run_out_within_a_draw_change_nothing(words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Geometric(7, 5).draws(CoinStream(KEY, 2, 0), 200)
    whole = CoinStream.ahead
    monkeypatch.setattr("mechanisms.aggregate.geometric._WORDS_A_CELL", 1)
    monkeypatch.setattr(CoinStream, "ahead", lambda stream, count: whole(stream, count)[: max(words, count)])
    assert Geometric(7, 5).draws(CoinStream(KEY, 2, 0), 200).tolist() == expected.tolist()


def test_windows_queries_and_keys_share_no_word() -> None:
    streams = [
        CoinStream(KEY, 0, 0),
        CoinStream(KEY, 1, 0),
        CoinStream(KEY, 0, 1),
        CoinStream(KEY, 1 << 32, 0),
        CoinStream(bytes(32), 0, 0),
    ]
    words = [stream.ahead(1000)[:1000].tolist() for stream in streams]
    assert len({word for each in words for word in each}) == 5000
    assert words[0] == keystream(KEY, 0, 125).reshape(-1).tolist()


def test_bits_take_whole_words_and_the_first_is_highest() -> None:
    first, second = keystream(KEY, 5 << 32, 1, 2)[0, :2].tolist()
    assert CoinStream(KEY, 5, 2).bits(0) == 0
    assert CoinStream(KEY, 5, 2).bits(64) == first
    assert CoinStream(KEY, 5, 2).bits(3) == first >> 61
    assert CoinStream(KEY, 5, 2).bits(100) == (first << 64 | second) >> 28


def test_a_coin_falls_as_often_as_it_says() -> None:
    stream = CoinStream(KEY, 0, 0)
    heads = sum(stream.bernoulli(3, 7) for _ in range(20_000))
    assert abs(heads / 20_000 - 3 / 7) < 5 * math.sqrt(12 / 49 / 20_000)
    assert not any(stream.bernoulli(0, 5) for _ in range(50))
    assert all(stream.bernoulli(5, 5) for _ in range(50))


@pytest.mark.parametrize(("window", "query"), [(-1, 0), (0, -1), (0, 1 << 32), (1 << 63, 0)])
def test_what_has_no_nonce_has_no_stream(window: int, query: int) -> None:
    with pytest.raises(InvariantBroken):
        CoinStream(KEY, window, query)


@given(st.integers(1, 1 << 31), st.integers(1, 1 << 45), st.integers(0, 1 << 33))
def test_a_scale_tells_no_more_than_asked_and_hardly_less(sensitivity: int, loss: int, shift: int) -> None:
    asked = Fraction(sensitivity * UNITS_PER_NAT, loss)
    if not Fraction(1, 1024) <= asked <= 1 << 43:
        return
    noise = scale_for(sensitivity, loss)
    assert asked <= noise.scale <= asked * (1 + Fraction(1, 1 << 30))
    assert noise.loss(sensitivity) <= loss
    told = Fraction(shift) / noise.scale * UNITS_PER_NAT
    assert min(told, INFINITE) <= noise.loss(shift) < told + 1
    assert noise.loss(-shift) == noise.loss(shift)


def test_much_may_be_told_and_some_noise_stays() -> None:
    noise = scale_for(1, INFINITE)
    assert noise.scale == Fraction(1, 1024)
    assert noise.loss(1) == 1024 * UNITS_PER_NAT
    assert noise.loss(1 << 60) == INFINITE


@pytest.mark.parametrize(("sensitivity", "loss"), [(1, 0), (1, -5), (1 << 40, 1 << 20)])
def test_what_no_noise_can_keep_is_refused(sensitivity: int, loss: int) -> None:
    with pytest.raises(Invalid) as refused:
        scale_for(sensitivity, loss)
    assert refused.value.field == "epsilon"


@given(st.fractions(min_value=1, max_value=1000), st.integers(1 << 30, 1 << 41))
def test_slimmed_noise_tells_at_most_its_part(factor: Fraction, loss: int) -> None:
    noise = scale_for(3, loss)
    more = slimmed(noise, factor)
    assert noise.scale * factor <= more.scale <= noise.scale * factor * (1 + Fraction(1, 1 << 30))
    with pytest.raises(InvariantBroken):
        slimmed(noise, Fraction(999, 1000))


@given(st.fractions(min_value=0, max_value=100, max_denominator=1000), st.integers(5, 1000))
def test_the_simplest_fraction_is_the_one_with_the_smallest_denominator(low: Fraction, finer: int) -> None:
    low += Fraction(1, 7)
    high = low * (1 + Fraction(1, finer))
    den = next(den for den in range(1, 10_000) if Fraction(math.ceil(low * den), den) <= high)
    assert simplest_between(low, high) == Fraction(math.ceil(low * den), den)


@pytest.mark.parametrize(("num", "den"), [(1, 3), (1, 1), (7, 5), (5, 1), (200, 3)])
@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.95, Fraction(39, 40), 0.999999])
def test_the_interval_is_the_smallest(num: int, den: int, confidence: float | Fraction) -> None:
    noise, q = Geometric(num, den), math.exp(-den / num)
    most = noise.interval(confidence)
    outside = 1 - float(confidence)
    assert 2 * q ** (most + 1) / (1 + q) <= outside
    assert most == 0 or 2 * q**most / (1 + q) > outside


@pytest.mark.parametrize(("num", "den"), [(1, 3), (1, 1), (7, 5), (50, 1)])
def test_the_variance_is_that_of_the_law(num: int, den: int) -> None:
    sizes = np.arange(-4000, 4001)
    weights = np.exp(-np.abs(sizes) * den / num)
    expected = float((weights * sizes**2).sum() / weights.sum())
    assert Geometric(num, den).variance == pytest.approx(expected, rel=1e-9)


def test_wide_and_narrow_noise_has_intervals_and_a_variance() -> None:
    wide, narrow = Geometric(1 << 44, 1), Geometric(1, 1024)
    assert wide.variance == pytest.approx(2.0**89, rel=1e-9)
    assert wide.interval(0.95) == pytest.approx(2.0**44 * math.log(20), rel=1e-9)
    assert (narrow.interval(0.95), 0 < narrow.variance < 1e-300) == (0, True)


@pytest.mark.parametrize(("num", "den"), [(0, 1), (1, 0), (-1, 1), (1, 1025), ((1 << 44) + 1, 1), (1 << 62, 1 << 40)])
def test_a_scale_outside_the_limits_is_no_noise(num: int, den: int) -> None:
    with pytest.raises(InvariantBroken):
        Geometric(num, den if num != 1 << 62 else den + 1)


def test_equal_scales_are_one_noise() -> None:
    assert Geometric(10, 4) == Geometric(5, 2)
    assert Geometric(10, 4).draw(CoinStream(KEY, 0, 0)) == Geometric(5, 2).draw(CoinStream(KEY, 0, 0))


def test_a_confidence_is_a_share() -> None:
    for confidence in (0.0, 1.0, 1.5):
        with pytest.raises(InvariantBroken):
            Geometric(5, 1).interval(confidence)
