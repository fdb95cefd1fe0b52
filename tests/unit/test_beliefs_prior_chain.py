from __future__ import annotations

import itertools
import math

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.checks import Invalid
from beliefs.laws.markov import MarkovLaw
from beliefs.prior import worst_chain as room
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.chain_adversary import ChainAdversary
from beliefs.prior.segment_laws import Lattice
from beliefs.prior.segments import odds_after
from beliefs.prior.worst import EXACT, SOUND, worst_of_table
from beliefs.prior.worst_chain import ChainSearch, worst_of_chain

BITS = np.array([0.0, 1.0])
SCALES = (0.004, 0.05, 0.5, 2.0, 10.0)


def sticky(stay: float, length: int) -> MarkovLaw:
    return MarkovLaw(np.array([[stay, 1.0 - stay], [1.0 - stay, stay]]), np.array([0.5, 0.5]), BITS, length)


def assert_as_the_table_says(law: MarkovLaw, scale: float) -> None:
    table = law.table()
    want, found = worst_of_table(table, Query.of(table), scale), worst_of_chain(law, scale)
    assert (found.method, found.weakest_method) == (EXACT, EXACT)
    assert found.epsilon == pytest.approx(want.epsilon, rel=1e-9, abs=1e-9)
    assert found.weakest == pytest.approx(want.weakest, rel=1e-9, abs=1e-9)


def test_chains_agree_with_their_tables() -> None:
    generator = np.random.default_rng(1)
    for _ in range(150):
        assert_as_the_table_says(oracles.some_chain(generator), float(generator.choice(SCALES)))


def test_pairs_are_left_out_only_where_nothing_longer_can_tell_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MANY", -1)
    monkeypatch.setattr(room, "DEPTHS", tuple(range(1, 9)))
    generator = np.random.default_rng(2)
    for number in range(40):
        law = oracles.some_chain(generator, (5, 7))
        if number % 2:
            rows = np.abs(np.array([[0.1, 0.9], [0.9, 0.1]]) + 0.03 * generator.normal(size=(2, 2)))
            law = MarkovLaw(rows / rows.sum(axis=1, keepdims=True), np.array([0.3, 0.7]), BITS, 8)
        assert_as_the_table_says(law, float(generator.choice(SCALES)))


def test_bounds_alone_are_never_below_what_is_attained(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    sound = 0
    for _ in range(60):
        law, scale = oracles.some_chain(generator), float(generator.choice(SCALES))
        exact = worst_of_chain(law, scale)
        for places, work in ((0, 0), (1 << 26, 0)):
            monkeypatch.setattr(room, "PLACES_MAX", places)
            monkeypatch.setattr(room, "WORK_MAX", work)
            bounded = worst_of_chain(law, scale)
            assert bounded.epsilon >= exact.epsilon * (1.0 - 1e-11)
            assert bounded.weakest >= exact.weakest * (1.0 - 1e-11)
            sound += bounded.method == SOUND
        monkeypatch.undo()
    assert sound > 10


def test_every_pair_of_segments_is_between_its_tails_and_its_bound() -> None:
    generator = np.random.default_rng(4)
    for number in range(25):
        law, scale = oracles.some_chain(generator, (3, 7)), float(generator.choice((0.3, 1.0, 5.0)))
        search = ChainSearch(law, scale)
        if number % 2:
            assert search.sharpen(law.length)
        for left in range(search.left.length.size):
            rights = np.flatnonzero(search.fitting(left))
            bounds, tails = search.between(np.full(rights.size, left), rights)
            for right, bound, tail in zip(rights.tolist(), bounds.tolist(), tails.tolist(), strict=True):
                nats = search.leak(room.Pair(left, right, bound), scale)
                assert tail - 1e-10 * max(1.0, tail) <= nats <= bound + 1e-10 * max(1.0, bound)


def test_ten_and_a_thousand_sticky_bits() -> None:
    found = worst_of_chain(sticky(0.9, 10), 1.0)
    assert found.epsilon == pytest.approx(4.69298206971322, abs=1e-9)
    assert found.weakest == pytest.approx(4.40134051141782, abs=1e-9)
    assert worst_of_chain(sticky(0.9, 50), 1.0).weakest == pytest.approx(4.4995, abs=1e-4)
    long = worst_of_chain(sticky(0.9, 1_000), 1.0)
    assert (long.method, long.weakest_method) == (EXACT, EXACT)
    assert long.epsilon == pytest.approx(5.220732071073, abs=1e-9)
    # The ends of a long chain are forgotten: a twentieth part of it says the same.
    assert long.epsilon == pytest.approx(worst_of_chain(sticky(0.9, 150), 1.0).epsilon, abs=1e-9)


def test_alternating_values_hide_each_other() -> None:
    found = worst_of_chain(sticky(0.1, 300), 1.0)
    assert (found.epsilon, found.method) == (pytest.approx(1.0, abs=1e-9), EXACT)
    assert found.weakest < 0.6


def test_noise_far_below_the_range() -> None:
    law = MarkovLaw(np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.5, 0.5]), np.array([0.0, 1_000.0]), 30)
    found = worst_of_chain(law, 0.05)  # from end to end 600,000 scales
    assert math.isfinite(found.epsilon)
    assert found.epsilon <= 600_000.0
    assert found.epsilon == pytest.approx(20_000.0, rel=0.02)
    assert worst_of_chain(law, 1e-300).epsilon == math.inf
    short = MarkovLaw(law.transition, law.start, law.domain, 5)
    table = short.table()
    assert worst_of_chain(short, 0.05).epsilon == pytest.approx(
        worst_of_table(table, Query.of(table), 0.05).epsilon, rel=1e-9
    )


def test_one_value_or_one_step() -> None:
    alone = MarkovLaw(np.array([[1.0]]), np.array([1.0]), np.array([7.0]), 40)
    assert worst_of_chain(alone, 1.0)[:2] == (0.0, 0.0)
    single = MarkovLaw(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0.5, 0.5]), np.array([-1.0, 3.0]), 1)
    assert worst_of_chain(single, 2.0)[:2] == (pytest.approx(2.0, abs=1e-12),) * 2
    sure = MarkovLaw(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 0.0]), BITS, 9)
    assert worst_of_chain(sure, 1.0)[:2] == (0.0, 0.0)


def test_one_adversary_who_knows_scattered_values() -> None:
    generator = np.random.default_rng(5)
    for _ in range(120):
        law, scale = oracles.some_chain(generator), float(generator.choice(SCALES))
        attacked = int(generator.integers(law.length))
        known = tuple(each for each in range(law.length) if each != attacked and generator.random() < 0.5)
        table = law.table()
        want = Seen.by(table, Query.of(table), attacked, known).leak(scale)
        assert ChainAdversary(law, attacked, known).leak(scale) == pytest.approx(want, rel=1e-9, abs=1e-9)
    many = sticky(0.9, 60)
    assert ChainAdversary(many, 30, tuple(each for each in range(60) if each != 30)).leak(1.0) == pytest.approx(1.0)
    with pytest.raises(Invalid, match="known"):
        ChainAdversary(many, 1, tuple(range(2, 60, 3)))


def test_the_worst_of_ten_sticky_bits_knows_both_ends() -> None:
    law = sticky(0.9, 10)
    worst = worst_of_chain(law, 1.0).epsilon
    assert ChainAdversary(law, 4, (0, 9)).leak(1.0) == pytest.approx(worst, abs=1e-9)
    assert ChainAdversary(law, 4, ()).leak(1.0) < worst - 0.29


def test_values_far_apart_stand_on_a_lattice_of_their_step() -> None:
    lattice = Lattice(MarkovLaw(np.full((3, 3), 1 / 3), np.full(3, 1 / 3), np.array([-7.0, 14.0, 35.0]), 4))
    assert (lattice.step, lattice.width, lattice.places.tolist()) == (21, 2, [0, 1, 2])
    wide = MarkovLaw(np.array([[0.8, 0.1, 0.1]] * 3), np.full(3, 1 / 3), np.array([0.0, 1.0, 1e7]), 30)
    found = worst_of_chain(wide, 1e7)
    assert found.epsilon >= 1.0
    assert found.epsilon == pytest.approx(1.0, abs=1e-9), "independent values need no laws of sums"


def test_odds_fade_with_distance() -> None:
    odds = odds_after(sticky(0.9, 1_000), 1e-12)
    assert odds[0] == pytest.approx(math.log(81.0))
    assert all(nearer > farther for nearer, farther in itertools.pairwise(odds))
    assert odds[-1] <= 1e-12 < odds[-2]
    assert len(odds) < 200
    assert odds_after(MarkovLaw(np.eye(2), np.array([0.5, 0.5]), BITS, 12), 1e-12) == [math.inf] * 12


@pytest.mark.parametrize("sharpened", [False, True])
def test_bounds_of_pairs_are_those_of_every_two_values(sharpened: bool) -> None:
    generator = np.random.default_rng(12)
    for states in (2, 3):
        rows = generator.dirichlet(np.ones(states), states)
        rows[0] = np.eye(states)[1]
        law = MarkovLaw(rows, generator.dirichlet(np.ones(states)), np.arange(float(states)) * 2.0, 12)
        search = ChainSearch(law, 0.8)
        assert not sharpened or search.sharpen(search.longest)
        left, right = search.left, search.right
        lefts, rights = (np.repeat(np.arange(len(left.length)), 7), np.tile(np.arange(7), len(left.length)))
        bounds, shown = search.between(lefts, rights)
        for place, (one, two) in enumerate(zip(lefts.tolist(), rights.tolist(), strict=True)):
            met = [value for value in range(states) if left.possible[one, value] and right.possible[two, value]]
            most = 0.0
            for a, b in itertools.product(met, repeat=2):
                before, behind = left.passed[one, a, b], right.passed[two, a, b]
                passed = [abs(search.moves[a] - search.moves[b]) + before + behind]
                if search.alone is not None:
                    passed += [search.alone[0][one, a, b] + behind, before + search.alone[1][two, a, b]]
                most = max(most, float(min(passed)))
            group = search.moves[-1] * (left.length[one] + right.length[two] + 1)
            assert bounds[place] == pytest.approx(min(most, group), rel=1e-12)
            ends = [
                [sign * search.moves[a] + left.tails[one, end, a] + right.tails[two, end, a] for a in met]
                for end, sign in enumerate((-1.0, 1.0))
            ]
            assert shown[place] == pytest.approx(max((max(end) - min(end) for end in ends if end), default=0.0))


@pytest.mark.parametrize("stay", [0.9, 0.3, 0.02])
def test_mirror_images_are_looked_at_once_and_change_nothing(stay: float) -> None:
    law = MarkovLaw(np.array([[stay, 1.0 - stay], [1.0 - stay, stay]]), np.array([0.5, 0.5]), BITS, 40)
    once, both = ChainSearch(law, 0.7), ChainSearch(law, 0.7)
    assert once.mirrored
    both.mirrored = False
    assert once.worst()[0] == pytest.approx(both.worst()[0], rel=1e-12)
    assert len(once.looked_at) < len(both.looked_at) or stay == 0.9
    for one, two in both.looked_at:
        swapped = both.looked_at.get((two, one))
        assert swapped is None or swapped == pytest.approx(both.looked_at[one, two], rel=1e-9)
    uneven = MarkovLaw(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]), BITS, 40)
    assert not ChainSearch(uneven, 0.7).mirrored
