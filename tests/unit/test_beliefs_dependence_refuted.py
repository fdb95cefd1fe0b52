"""Claims about dependent attributes that fail, with the numbers by which they do, and what covers each."""

from __future__ import annotations

import math

import dependence_oracles as oracles
import numpy as np
import prior_oracles
import pytest

from beliefs.dependence.chain import ChainInfluence
from beliefs.dependence.coefficients import coefficients
from beliefs.dependence.grouped import grouped_leaks
from beliefs.dependence.information import information_bound, mutual_information
from beliefs.dependence.leak import Asked
from beliefs.dependence.parallel import told_together
from beliefs.dependence.scale import sufficient_scale
from beliefs.dependence.tree import TreeInfluence
from beliefs.laws.components import all_together
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.prior.adversary import Query
from beliefs.prior.calibration import WEAKEST, chain_scale
from beliefs.prior.releases import joint_leak
from beliefs.prior.worst_chain import worst_of_chain
from beliefs.rounding import UNITS_PER_NAT

BITS = np.array([0.0, 1.0])
STICKY = np.array([[0.9, 0.1], [0.1, 0.9]])


def weakest(law: TableLaw, scale: float, times: int = 1) -> float:
    return Asked.of_sum(law, Query.of(law)).leak(scale, times, knows_others=False)


def test_coefficients_of_pairs_miss_a_parity_and_those_on_average_cover_it() -> None:
    """Any two of three bits are independent: coefficients 0, and yet the sum at scale 1 tells 1.4338, or 2."""
    law = TableLaw(oracles.PARITY, (BITS,) * 3)
    pair = np.full((2, 2), 0.5)
    assert coefficients(pair, BITS, 1.0).exact == coefficients(pair, BITS, 1.0).wasserstein == 0.0
    assert weakest(law, 1.0) == pytest.approx(1.4338, abs=5e-5)
    assert Asked.of_sum(law, Query.of(law)).leak(1.0, 1, knows_others=True) == pytest.approx(2.0)
    for method in ("farthest", "jensen", "group"):
        assert weakest(law, sufficient_scale(law, Query.of(law), 1.0, method)) <= 1.0 + 1e-11


def test_some_laws_of_three_bits_pass_what_pairs_allow_and_none_passes_what_means_allow() -> None:
    generator, over, worst = np.random.default_rng(7), 0, 0.0
    for _ in range(60):
        law = TableLaw(generator.dirichlet(np.full(8, 0.12)).reshape(2, 2, 2), (BITS,) * 3)
        told = weakest(law, sufficient_scale(law, Query.of(law), 1.0, "exact"))
        over += told > 1.0 + 1e-9
        worst = max(worst, told)
        for method in ("farthest", "jensen"):
            assert weakest(law, sufficient_scale(law, Query.of(law), 1.0, method)) <= 1.0 + 1e-11
    assert over > 2
    assert worst > 1.01


def test_pairs_do_for_a_target_whose_dependents_are_independent_given_it() -> None:
    """A star: all others are tied to attribute 0 alone, and only it is attacked."""
    generator = np.random.default_rng(8)
    for _ in range(60):
        law, _ = oracles.some_tree(generator, 1, 2)
        kernels = generator.dirichlet(np.ones(2), (3, 2))
        star = TreeLaw(np.array([-1, 0, 0, 0]), law.roots, kernels, np.array([0, 0, 1, 2]), BITS).table()
        scale = float(generator.choice([0.5, 1.0, 4.0]))
        rows = [oracles.conditional(star, 0, other, {}) for other in (1, 2, 3)]
        allowed = (1.0 + sum(coefficients(each, BITS, scale).exact for each in rows)) / scale
        context = next(Asked.of_sum(star, Query.of(star)).seen_by(0, ()))
        assert context.leak(scale, 1) <= allowed * (1.0 + 1e-11)


def test_a_threshold_passes_what_its_attribute_moves_and_contributions_cover_it() -> None:
    """D_j moves from .45 to .55 with D_i, in [0, 1]: coefficient .1; the answer jumps by 1."""
    values = np.array([0.0, 0.45, 0.55, 1.0])
    rows = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    found = coefficients(rows, values, 1.1)
    assert found.exact == pytest.approx(0.1)
    assert found.farthest == pytest.approx(0.55)
    joint, answers = 0.5 * rows, BITS[:, None] + (values >= 0.5)
    asked = Asked.of_answers(joint, answers)
    assert asked.leak(1.1, 1, knows_others=False) == pytest.approx(1.818, abs=5e-4)
    assert asked.leak(1.55, 1, knows_others=False) == pytest.approx(1.290, abs=5e-4)
    counted = np.array([[1.0, 0.0], [0.0, 1.0]])
    share = coefficients(counted, BITS, 2.0).exact
    assert share == 1.0
    assert asked.leak(1.0 + share, 1, knows_others=False) <= 1.0 + 1e-12


def test_a_map_that_moves_nothing_further_may_still_tell_nearly_twice_as_much() -> None:
    """D_j is even or odd as D_i is, on a long grid: by itself it hardly shows in noise, its last digit does."""
    values = np.arange(65.0)
    rows = np.stack([values % 2.0 == 0.0, values % 2.0 == 1.0]).astype(float)
    rows /= rows.sum(axis=1, keepdims=True)
    scale = 1.0
    for _ in range(20):
        scale = 1.0 + coefficients(rows, values, scale).exact
    asked = Asked.of_answers(0.5 * rows, BITS[:, None] + values % 2.0)
    assert asked.leak(scale, 1, knows_others=False) == pytest.approx(1.97, abs=5e-3)
    assert asked.leak(2.0, 1, knows_others=False) <= 1.0 + 1e-12, "the contributions are copies: twice the noise"


def test_parities_of_coins_tell_everything_together() -> None:
    """x xor y and y: each alone says nothing of x, both at once without noise all."""
    noise = [1e-3, 1e-3]
    law = TableLaw(oracles.PARITY, (BITS,) * 3)
    sums = [Query.of(law, np.array(row)) for row in ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0])]
    assert all(joint_leak(law, [each], noise[:1], 0) < 1e-9 for each in sums)
    assert joint_leak(law, sums, noise, 0) > 900.0
    noisy = 1.3423898779
    assert weakest(law, noisy) == pytest.approx(1.0)
    assert weakest(law, noisy, 2) == pytest.approx(2.3362, abs=5e-5)
    assert weakest(law, noisy, 20) == pytest.approx(29.10, abs=5e-3)
    losses = np.full(3, int(20 / noisy * UNITS_PER_NAT) + 1)
    assert grouped_leaks(all_together(3), losses)[0] / UNITS_PER_NAT >= weakest(law, noisy, 20)


@pytest.mark.parametrize("averages", ["farthest", "jensen"])
def test_what_means_allow_adds_up_over_releases_of_sums(averages: str) -> None:
    generator = np.random.default_rng(9)
    for _ in range(25):
        law = prior_oracles.some_table(generator, size=3, values=2)
        scale = sufficient_scale(law, Query.of(law), 0.7, averages)
        assert scale == 0.0 or weakest(law, scale, 3) <= 2.1 * (1.0 + 1e-11)


def test_cells_that_copies_cross_tell_their_sum() -> None:
    """Two cells, an attribute in each: copies tell 2, and with flips of .1 they tell 1.7761, not 1."""
    for flip, told in ((0.0, 2.0), (0.1, 1.7761)):
        joint = np.array([[0.5 - flip / 2.0, flip / 2.0], [flip / 2.0, 0.5 - flip / 2.0]])
        law = TableLaw(joint, (BITS, BITS))
        cells = [Query.of(law, row) for row in np.eye(2)]
        exact = joint_leak(law, cells, [1.0, 1.0], 0)
        assert exact == pytest.approx(told, abs=5e-5)
        share = coefficients(oracles.conditional(law, 0, 1, {}), BITS, 1.0).exact
        assert told_together(np.ones(2), np.array([[1.0, share], [share, 1.0]])).epsilon == pytest.approx(exact)
        tree = TreeInfluence.of(
            TreeLaw(np.array([-1, 0]), np.full((1, 2), 0.5), (2.0 * joint)[None], np.zeros(2, dtype=np.int64), BITS)
        )
        assert tree.worst(np.full(2, UNITS_PER_NAT)).units / UNITS_PER_NAT == pytest.approx(exact)


def test_ten_noisy_copies_tell_those_who_know_nobody_more_than_those_who_know_everybody() -> None:
    """A hidden fair bit, ten copies with flips of .05 at epsilon .5 each: .4116 nats or .0051; .0311 for one."""
    flip, fair = 0.05, np.array([0.5, 0.5])
    binomials = [
        np.array([math.comb(9, k) * p**k * (1.0 - p) ** (9 - k) for k in range(10)]) for p in (flip, 1.0 - flip)
    ]
    rows = np.zeros((2, 11))
    for own in (0, 1):
        for hidden, others in enumerate(binomials):
            chance = 1.0 - flip if own == hidden else flip
            rows[own, own : own + 10] += chance * others
    support = np.arange(11.0)
    assert mutual_information(fair, rows, support, 2.0) == pytest.approx(0.4116, abs=5e-5)
    known = 0.0
    for ones in range(10):
        weights = np.array([0.5 * (one[ones]) for one in binomials])
        chance = weights.sum()
        believed = weights / chance
        prior = np.array([believed[0] * 0.95 + believed[1] * 0.05, believed[0] * 0.05 + believed[1] * 0.95])
        known += chance * mutual_information(prior, np.eye(2), BITS, 2.0)
    assert known == pytest.approx(0.0051, abs=5e-5)
    assert information_bound(0.5) == pytest.approx(0.0311, abs=5e-5)
    assert known <= information_bound(0.5) < 0.4116


def test_noise_for_one_value_of_a_window_tells_of_all_that_follow_from_it() -> None:
    """Bits that stay with .9: plain noise tells 4.4013 in ten, 4.4995 in fifty; 5.976 and 8.621 are enough."""
    for length, told, scale in ((10, 4.4013, 5.976), (50, 4.4995, 8.621)):
        chain = MarkovLaw(STICKY, np.array([0.5, 0.5]), BITS, length)
        assert worst_of_chain(chain, 1.0).weakest == pytest.approx(told, abs=5e-5)
        assert chain_scale(chain, 1.0, WEAKEST).scale == pytest.approx(scale, abs=5e-4)
        bound = ChainInfluence.of(chain, knowing=False).worst_of(UNITS_PER_NAT).units / UNITS_PER_NAT
        assert told - 5e-5 <= bound <= told + 5e-5 + 1e-9, "sums of sticky bits reach what anything can tell"


def test_knowing_an_unrelated_coin_can_uncover_what_was_hidden_by_it() -> None:
    """x xor a fair y: nothing to those who know nobody, everything to those who know y: losses bound both."""
    joint, answers = np.full((2, 2), 0.25), np.array([[0.0, 1.0], [1.0, 0.0]])
    asked = Asked.of_answers(joint, answers)
    assert asked.leak(0.5, 1, knows_others=False) < 1e-12
    assert asked.leak(0.5, 1, knows_others=True) == 2.0


def test_correlation_0_may_hide_a_coefficient_of_1() -> None:
    """D_j is the square of D_i on -1, 0, 1."""
    found = coefficients(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), BITS, 1.0)
    assert found.exact == found.jensen == found.wasserstein == 1.0


def test_negative_dependence_is_counted_as_if_it_were_positive() -> None:
    """Of a difference with a copy of half the size, half would do; coefficients do not know signs, and are safe."""
    law = TableLaw(np.diag([0.25, 0.5, 0.25]), (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.25, 0.5])))
    query = Query.of(law, np.array([1.0, -1.0]))
    scale = sufficient_scale(law, query, 1.0, "exact")
    assert scale == pytest.approx(1.5)
    assert Asked.of_sum(law, query).leak(0.5, 1, knows_others=False) == pytest.approx(1.0)
    assert Asked.of_sum(law, query).leak(0.5, 1, knows_others=True) == pytest.approx(1.0), "copies: nobody left to know"
