from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from beliefs.dependence.attack import entropy_bits
from stream.social.attacker import (
    ALONE,
    EXPONENT,
    FRIENDS,
    KINDS,
    PRODUCT,
    Attacker,
    Belief,
    bits_of,
    distances,
    middle_of,
)
from stream.social.release import Question, Release, release
from stream.social.world import GRID, cell_centres, social_world

WORLD = social_world()
APART = distances()
PEOPLE = range(3, WORLD.size, 350)


def beliefs(kind: str, epsilon: Fraction, knows: int = WORLD.size) -> list[Belief]:
    attacker = Attacker.of(WORLD, release(WORLD, epsilon), kind, knows)
    return [attacker.look_at(person) for person in PEOPLE]


def surprise(found: list[Belief]) -> float:
    cells = WORLD.cells()
    return float(np.mean([min(30.0, bits_of(b.prior, cells[p])) for b, p in zip(found, PEOPLE, strict=True)]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("knows", [WORLD.size, 3500])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(8)])
def test_no_release_moves_the_odds_of_two_cells_by_more_than_its_epsilon(
    kind: str, knows: int, epsilon: Fraction
) -> None:
    found = beliefs(kind, epsilon, knows)
    told = max(each.told for each in found)
    assert 0.2 * float(epsilon) < told <= float(epsilon) * (1 + 1e-9)
    for each in found:
        assert each.prior.sum() == pytest.approx(1.0) and each.posterior.sum() == pytest.approx(1.0)


def test_noise_for_dependent_people_tells_so_much_less() -> None:
    raised = Attacker.of(WORLD, release(WORLD, Fraction(8), dependent=Fraction(4)), ALONE, WORLD.size)
    assert max(raised.look_at(person).told for person in PEOPLE) <= 2.0 + 1e-9


def test_friends_tell_where_somebody_lives_and_many_at_once_tell_more() -> None:
    told = {kind: surprise(beliefs(kind, Fraction(1))) for kind in KINDS}
    assert told[PRODUCT] < told[FRIENDS] - 0.5 < told[ALONE] - 1.5


def test_at_small_epsilons_what_is_learnt_is_context() -> None:
    found = beliefs(PRODUCT, Fraction(1, 10))
    assert np.mean([each.context_bits for each in found]) > 3.0
    assert abs(np.mean([each.release_bits for each in found])) < 0.05
    alone = beliefs(ALONE, Fraction(1, 10))
    assert max(abs(each.context_bits) for each in alone) < 1e-9


def test_published_leaks_are_both_parts_together() -> None:
    for each in beliefs(FRIENDS, Fraction(1)):
        whole = entropy_bits(each.shares) - entropy_bits(each.posterior)
        assert each.context_bits + each.release_bits == pytest.approx(whole)


def test_a_precise_release_finds_the_region_and_the_middle_guess_is_nearer() -> None:
    cells, found = WORLD.cells(), beliefs(ALONE, Fraction(8))
    likeliest = [APART[int(b.posterior.argmax()), cells[p]] for b, p in zip(found, PEOPLE, strict=True)]
    middle = [APART[middle_of(b.posterior, APART), cells[p]] for b, p in zip(found, PEOPLE, strict=True)]
    before = [APART[int(b.prior.argmax()), cells[p]] for b, p in zip(found, PEOPLE, strict=True)]
    assert np.mean(likeliest) < 0.5 * np.mean(before)
    assert np.mean(middle) < np.mean(likeliest) + 0.05


def test_whoever_takes_the_mean_for_the_truth_is_overconfident() -> None:
    """The plug-in of the paper reads half of the people's noise as news; folded into the noise it is none."""
    plugged, folded = (beliefs(kind, Fraction(8), 3500) for kind in (FRIENDS, PRODUCT))
    assert np.mean([each.told for each in plugged]) > 2 * np.mean([each.told for each in folded])


def test_the_exponent_is_the_one_that_surprises_least() -> None:
    people = np.arange(11, WORLD.size, 120)
    noisy = release(WORLD, Fraction(1))
    told = {
        exponent: Attacker(WORLD, noisy, PRODUCT, np.ones(WORLD.size, dtype=bool), exponent).surprise(people)
        for exponent in (0.3, EXPONENT, 1.0)
    }
    assert min(told, key=lambda exponent: told[exponent]) == EXPONENT


def test_a_noiseless_release_gives_the_cell_away() -> None:
    """All others known and hardly any noise: the posterior is at the cells whose middles fit best."""
    small = social_world(people=400)
    exact = Question().contributions(small.city, small.goes_to).sum(axis=0)
    attacker = Attacker.of(small, Release(Question(), Fraction(2000), Fraction(4000), exact), PRODUCT, 400)
    cells = small.cells()
    for person in range(0, 400, 40):
        guess = int(attacker.look_at(person).posterior.argmax())
        assert APART[guess, cells[person]] <= 1.5 / GRID


def test_distances_between_cells() -> None:
    centres = cell_centres()
    assert APART[0, 1] == pytest.approx(1 / GRID) and APART[5, 5] == 0.0
    assert APART[0, GRID * GRID] == APART[3, 2 * GRID * GRID + 3] == 2.0
    assert APART[0, GRID * GRID - 1] == pytest.approx(float(np.hypot(*(centres[-1] - centres[0]))))
