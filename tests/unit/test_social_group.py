"""What windows tell of one person among friends, held against claims by draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from beliefs.checks import InvariantBroken
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.calibration import WORST, table_scale
from beliefs.prior.releases import Beliefs, joint_leak, posterior
from stream.social.draws import Draws
from stream.social.group import FRIENDS_MOST, Group, noise, region_of, somebody_with_friends
from stream.social.measured import chance_at_least, least_leak
from stream.social.world import social_world

WORLD = social_world()
SMALL = Group(lives=0.3, together=0.9, friends=2)


def test_a_group_is_a_law_in_which_friends_live_together_and_as_often_as_people_do() -> None:
    law = SMALL.law()
    assert law.joint.shape == (2, 2, 2) and law.joint.sum() == pytest.approx(1.0)
    for friend in (1, 2):
        assert law.joint.sum(axis=tuple({0, 1, 2} - {friend}))[1] == pytest.approx(0.3)
        pair = law.joint.sum(axis=3 - friend)
        assert pair[1, 1] / pair[1].sum() == pytest.approx(0.9)
    alone = Group(0.3, 0.9, 0).law()
    assert alone.joint.tolist() == pytest.approx([0.7, 0.3])


def test_groups_of_the_world() -> None:
    person = somebody_with_friends(WORLD, FRIENDS_MOST)
    assert WORLD.degrees()[person] >= FRIENDS_MOST
    group = Group.of(WORLD, person, 4)
    assert group.friends == 4 and group.together == 0.98
    assert group.lives == pytest.approx(float((WORLD.region == WORLD.region[person]).mean()))
    assert region_of(WORLD, person) in ("Manhattan", "Brooklyn")
    with pytest.raises(InvariantBroken, match="friends"):
        Group(0.3, 0.9, FRIENDS_MOST + 1)
    with pytest.raises(InvariantBroken, match="so many"):
        somebody_with_friends(WORLD, WORLD.size)


def test_beliefs_are_those_of_bayes() -> None:
    told = SMALL.watch(Fraction(1), 1, 5, dependent=False)
    law = SMALL.law()
    exact = posterior(law, Query.of(law), SMALL.scale(Fraction(1), dependent=False), 0, float(told.windows[0].released))
    assert told.windows[0].belief == pytest.approx(float(exact[1]), abs=1e-9)
    assert told.windows[0].charge == pytest.approx(Seen.by(law, Query.of(law), 0, ()).leak(1.0), abs=1e-9)


def test_charges_cover_what_windows_told_and_what_they_could() -> None:
    law = SMALL.law()
    for seed in range(5):
        told = SMALL.watch(Fraction(1, 2), 3, seed, dependent=False)
        assert told.realised <= told.may_tell + 1e-9
        last = math.log(told.windows[-1].belief / (1 - told.windows[-1].belief)) - math.log(0.3 / 0.7)
        assert abs(last) == pytest.approx(told.realised, abs=1e-6)
    together = joint_leak(law, [Query.of(law)] * 3, [2.0] * 3, 0)
    assert told.realised <= together + 1e-9


def test_noise_for_one_person_is_shown_to_leak_more_than_it_claims() -> None:
    group = Group.of(WORLD, somebody_with_friends(WORLD, 6), 6)
    told = group.watch(Fraction(1, 2), 8, 1, dependent=False)
    exact = told.windows[0].charge
    assert 4 * told.one_window < told.shown < exact
    assert told.realised > told.claimed and told.is_beyond


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_noise_for_the_whole_group_keeps_its_claim(epsilon: Fraction, seed: int) -> None:
    group = Group.of(WORLD, somebody_with_friends(WORLD, 6), 6)
    told = group.watch(epsilon, 8, seed, dependent=True)
    assert told.shown <= told.one_window and told.realised <= told.claimed and not told.is_beyond
    assert told.realised <= told.may_tell <= told.claimed
    assert all(seen.charge <= told.one_window for seen in told.windows)


def test_noise_for_one_window_alone_may_be_too_little_for_the_next() -> None:
    """Why the group's noise is not the least that keeps the first window: beliefs move, and charges with them."""
    law = SMALL.law()
    query = Query.of(law)
    least = table_scale(law, query, 0.5, WORST).scale
    beliefs, charges = Beliefs(law, 0), []
    for _ in range(4):
        charges.append(beliefs.charge(query, least))
        beliefs.condition(query, least, 3.0)
    assert charges[0] <= 0.5 < 0.502 < max(charges) and least < SMALL.scale(Fraction(1, 2), dependent=True)


@pytest.mark.parametrize("friends", [0, 1, 4])
def test_the_auditor_comes_near_and_never_beyond_the_truth(friends: int) -> None:
    group = Group(0.4, 0.9, friends)
    told = group.watch(Fraction(2), 1, 3, dependent=False, draws=20_000)
    exact = Seen.by(group.law(), Query.of(group.law()), 0, ()).leak(0.5)
    assert 0.5 * exact < told.shown <= exact


def test_whole_number_noise_has_its_law() -> None:
    drawn = noise(Draws.of(4), "noise", 40_000, 2.0)
    ratio = math.exp(-0.5)
    for value in (0, 1, -1, 3):
        expected = (1 - ratio) / (1 + ratio) * ratio ** abs(value)
        assert float((drawn == value).mean()) == pytest.approx(expected, abs=0.008)


def test_a_lower_bound_is_below_the_share_and_binomial_tails_agree() -> None:
    assert chance_at_least(0, 100, 1e-6) == 0.0
    low = chance_at_least(60, 100, 1e-6)
    assert 0.3 < low < 0.6
    tail = math.fsum(math.comb(100, k) * low**k * (1 - low) ** (100 - k) for k in range(60, 101))
    assert tail <= 1e-6 * (1 + 1e-6)
    assert chance_at_least(100, 100, 1e-6) == pytest.approx(1e-6 ** (1 / 100), rel=1e-9)


def test_the_same_law_shows_no_leak_and_different_ones_do() -> None:
    drawn = Draws.of(6)
    same = [noise(drawn, name, 3000, 3.0) for name in ("one", "two")]
    assert least_leak(*same) == 0.0
    assert least_leak(same[0], same[1] + 30) > 3.0 < least_leak(same[1] + 30, same[0])
    assert least_leak(np.zeros(1000, dtype=np.int64), np.zeros(1000, dtype=np.int64)) == 0.0


def test_a_leak_below_the_claim_is_hardly_ever_found_beyond_it() -> None:
    """Randomised response of one nat: the bound stays below it in a hundred trials."""
    kept = math.e / (1 + math.e)
    for trial in range(100):
        drawn = Draws.of(100 + trial).even("answers", 2, 2000)
        answers = [(drawn[0] < kept).astype(np.int64), (drawn[1] < 1 - kept).astype(np.int64)]
        assert 0.4 < least_leak(*answers) <= 1.0
