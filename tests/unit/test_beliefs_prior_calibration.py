from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.checks import Invalid
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior import worst as search
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.calibration import (
    WEAKEST,
    WORST,
    Named,
    chain_scale,
    gaussian_scale,
    smallest,
    table_scale,
)
from beliefs.prior.chain_adversary import ChainAdversary
from beliefs.prior.top_up import share_kept, share_kept_geometric
from beliefs.prior.worst import EXACT, SOUND, worst_of_table
from beliefs.prior.worst_chain import worst_of_chain

BITS = np.array([0.0, 1.0])
PAIR = TableLaw(np.array([[0.3, 0.2], [0.2, 0.3]]), (BITS, BITS))


def test_the_scale_suffices_and_a_smaller_one_does_not() -> None:
    generator = np.random.default_rng(1)
    for _ in range(40):
        law = oracles.some_table(generator, int(generator.integers(1, 5)))
        query, epsilon = (
            Query.of(law, oracles.some_weights(generator, law.size)),
            float(generator.choice([0.1, 1.0, 30.0])),
        )
        found = table_scale(law, query, epsilon, WORST)
        assert found.method == EXACT
        if found.scale > 0.0:
            assert worst_of_table(law, query, found.scale).epsilon <= epsilon
            assert worst_of_table(law, query, found.scale * (1.0 - 1e-9)).epsilon > epsilon * (1.0 - 1e-12)
        weakest = table_scale(law, query, epsilon, WEAKEST)
        assert weakest.scale <= found.scale * (1.0 + 1e-9)
        named = table_scale(law, query, epsilon, WORST, Named(0, ()))
        assert named.scale <= weakest.scale * (1.0 + 1e-9)
        if named.scale > 0.0:
            seen = Seen.by(law, query, 0, ())
            assert seen.leak(named.scale) <= epsilon < seen.leak(named.scale * (1.0 - 1e-9)) * (1.0 + 1e-12)
        only = table_scale(law, query, epsilon, WORST, Named(0, None))
        assert named.scale * (1.0 - 1e-9) <= only.scale <= found.scale * (1.0 + 1e-9)
        assert table_scale(law, query, epsilon, WEAKEST, Named(0, None)).scale == named.scale


def test_plain_noise_would_not_do_and_group_noise_is_too_much() -> None:
    found = table_scale(PAIR, Query.of(PAIR), 0.5, WORST).scale
    assert found == pytest.approx(2.39450897404747, rel=1e-9)
    assert 2.0 < found < 4.0


def test_chains_need_what_their_tables_need() -> None:
    generator = np.random.default_rng(2)
    for _ in range(10):
        law, epsilon = oracles.some_chain(generator, (1, 5)), float(generator.choice([0.1, 1.0, 30.0]))
        table = law.table()
        for adversary in (WORST, WEAKEST):
            want = table_scale(table, Query.of(table), epsilon, adversary).scale
            assert chain_scale(law, epsilon, adversary).scale == pytest.approx(want, rel=1e-8, abs=1e-12)
        known = tuple(range(1, law.length, 2))
        want = table_scale(table, Query.of(table), epsilon, WORST, Named(0, known)).scale
        assert chain_scale(law, epsilon, WORST, Named(0, known)).scale == pytest.approx(want, rel=1e-8, abs=1e-12)
    with pytest.raises(Invalid, match="attacked"):
        chain_scale(law, 1.0, WORST, Named(0, None))


def test_ten_and_fifty_sticky_bits() -> None:
    law = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, 10)
    assert chain_scale(law, 1.0, WEAKEST).scale == pytest.approx(5.97625109021742, rel=1e-8)
    longer = MarkovLaw(law.transition, law.start, BITS, 50)
    assert chain_scale(longer, 1.0, WEAKEST).scale == pytest.approx(8.621, abs=1e-3)
    found = chain_scale(longer, 1.0, WORST)
    assert worst_of_chain(longer, found.scale).epsilon <= 1.0
    named = chain_scale(law, 1.0, WORST, Named(4, (0, 9))).scale
    assert ChainAdversary(law, 4, (0, 9)).leak(named) <= 1.0


def test_gaussian_noise_is_a_quotient() -> None:
    law = GaussianLaw(np.array([[1.0, 0.5], [0.5, 1.0]]), 1.0)
    ones = np.ones(2)
    assert gaussian_scale(law, ones, 0.5, WORST).scale == pytest.approx(3.0, rel=1e-11)
    assert gaussian_scale(law, ones, 0.5, WEAKEST).scale == 3.0
    assert gaussian_scale(law, ones, 0.5, WORST, Named(0, (1,))).scale == 2.0
    assert gaussian_scale(law, ones, 0.5, WEAKEST, Named(0, None)).scale == 3.0
    assert gaussian_scale(law, ones, 0.5, WORST, Named(0, None)).scale == pytest.approx(3.0, rel=1e-11)
    assert gaussian_scale(law, np.array([1.0, -2.0]), 0.5, WEAKEST, Named(0, None)).scale == 0.0


def test_where_nothing_can_be_told_no_noise_is_needed() -> None:
    alone = TableLaw(np.array([1.0]), (np.array([3.0]),))
    assert table_scale(alone, Query.of(alone), 1.0, WORST) == (0.0, EXACT)
    unseen = Query.of(PAIR, np.zeros(2))
    assert table_scale(PAIR, unseen, 1.0, WORST).scale == 0.0
    # Only the neighbour shows, whatever the noise: at most ln 1.5, below epsilon even without noise.
    neighbour = Query.of(PAIR, np.array([0.0, 1.0]))
    assert table_scale(PAIR, neighbour, 0.5, WORST, Named(0, ())).scale == 0.0
    assert table_scale(PAIR, neighbour, 0.3, WORST, Named(0, ())).scale > 0.0
    constant = MarkovLaw(np.array([[1.0]]), np.array([1.0]), np.array([5.0]), 9)
    assert chain_scale(constant, 1.0, WORST).scale == 0.0


def test_a_search_that_gives_up_still_gives_a_scale_that_suffices(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    for _ in range(4):
        law = oracles.some_table(generator, 4)
        query = Query.of(law)
        exact = table_scale(law, query, 1.0, WORST)
        monkeypatch.setattr(search, "WORK_MAX", 0)
        bounded = table_scale(law, query, 1.0, WORST)
        monkeypatch.undo()
        assert bounded.scale >= exact.scale * (1.0 - 1e-9)
        assert worst_of_table(law, query, bounded.scale).epsilon <= 1.0
        assert bounded.method == SOUND or bounded.scale == pytest.approx(exact.scale, rel=1e-9)


def test_the_smallest_scale_of_a_falling_leak() -> None:
    assert smallest(lambda scale: 3.0 / scale, 0.25, 100.0) == pytest.approx(12.0, rel=1e-12)
    assert 3.0 / smallest(lambda scale: 3.0 / scale, 0.25, 100.0) <= 0.25
    assert smallest(lambda scale: 1e-15 / scale, 1.0, 1.0) == pytest.approx(1e-15, rel=1e-12)
    assert smallest(lambda scale: 0.5, 1.0, 8.0) == 2.0**-56


def test_noise_that_is_added_later_makes_noise_of_the_larger_scale() -> None:
    before, after = Fraction(2), Fraction(5)
    kept = share_kept(before, after)
    for turned in (Fraction(1, 3), Fraction(2), Fraction(40)):
        one, two = 1 / (1 + before**2 * turned**2), 1 / (1 + after**2 * turned**2)
        assert one * (kept + (1 - kept) * two) == two
    first, second = Fraction(1, 4), Fraction(2, 3)
    kept = share_kept_geometric(first, second)
    assert 0 < kept < 1

    def transform(ratio: Fraction, point: Fraction) -> Fraction:
        return (1 - ratio) ** 2 / ((1 - ratio * point) * (1 - ratio / point))

    for point in (Fraction(9, 10), Fraction(5, 4)):
        both = transform(first, point) * (kept + (1 - kept) * transform(second, point))
        assert both == transform(second, point)
    assert share_kept(before, before) == share_kept_geometric(first, first) == 1
    for wrong in ((Fraction(2), Fraction(1)), (Fraction(0), Fraction(1))):
        with pytest.raises(Invalid, match="after"):
            share_kept(*wrong)
    for wrong in ((Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(1))):
        with pytest.raises(Invalid, match="after"):
            share_kept_geometric(*wrong)


def test_topped_up_noise_seen_in_a_sum() -> None:
    """Noise of scale 1, topped up to scale 3, as densities on a fine grid: it is noise of scale 3."""
    places = np.linspace(-50.0, 50.0, 8_001)
    step = places[1] - places[0]
    small, large = (np.exp(-np.abs(places) / scale) / (2.0 * scale) for scale in (1.0, 3.0))
    kept = float(share_kept(Fraction(1), Fraction(3)))
    topped = kept * small + (1.0 - kept) * np.convolve(small, large, mode="same") * step
    assert np.abs(topped - large).max() < 1e-3
    assert np.abs(small - large).max() > 0.3
    assert math.isclose(kept, 1.0 / 9.0)
