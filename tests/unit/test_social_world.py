from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr

from beliefs.checks import InvariantBroken
from beliefs.dependence.attack import entropy_bits
from stream.social.draws import Draws
from stream.social.noise import log_density
from stream.social.release import UNITS, Question, nearest_centre, release
from stream.social.world import (
    CITIES,
    FRIENDSHIPS,
    GRID,
    PEOPLE,
    REGIONS,
    cell_centres,
    social_world,
)

WORLD = social_world()
SMALL = social_world(seed=2, people=300)


def test_the_same_seed_makes_the_same_world_and_another_one_another() -> None:
    again, other = social_world(seed=2, people=300), social_world(seed=3, people=300)
    assert np.array_equal(again.goes_to, SMALL.goes_to) and np.array_equal(again.friends, SMALL.friends)
    assert not np.array_equal(other.friends, SMALL.friends)


def test_the_world_has_the_sizes_that_it_says() -> None:
    assert WORLD.size == PEOPLE == 6969
    assert np.bincount(WORLD.region).tolist() == [region.people for region in REGIONS]
    assert WORLD.friends.shape == (FRIENDSHIPS, 2) == (47_502, 2)
    assert len(np.unique(WORLD.friends, axis=0)) == FRIENDSHIPS
    assert bool((WORLD.friends[:, 0] < WORLD.friends[:, 1]).all())
    assert int(WORLD.degrees().sum()) == 2 * FRIENDSHIPS
    assert SMALL.size == 300 and len(SMALL.friends) == FRIENDSHIPS * 300 // PEOPLE


def test_the_cell_of_a_home_has_the_entropy_that_is_printed() -> None:
    cells = WORLD.cells()
    shares = np.bincount(cells, minlength=len(CITIES) * GRID * GRID) / WORLD.size
    assert entropy_bits(shares) == pytest.approx(8.38, abs=0.005)
    centre = cell_centres()[cells % (GRID * GRID)]
    assert float(np.abs(WORLD.homes - centre).max()) <= 0.5 / GRID + 1e-12
    assert bool((cells // (GRID * GRID) == WORLD.city).all())


def test_friends_live_near_each_other_and_sociable_people_have_many() -> None:
    one, two = WORLD.friends.T
    near = np.hypot(*(WORLD.homes[one] - WORLD.homes[two]).T)[WORLD.city[one] == WORLD.city[two]]
    shuffled = two[Draws.of(5).order("shuffled", two.size)]
    far = np.hypot(*(WORLD.homes[one] - WORLD.homes[shuffled]).T)[WORLD.city[one] == WORLD.city[shuffled]]
    assert near.mean() < 0.4 * far.mean()
    across = WORLD.region[one] != WORLD.region[two]
    assert int(across.sum()) == round(0.02 * FRIENDSHIPS)
    assert WORLD.degrees().max() > 10 * WORLD.degrees().mean()
    assert sorted(SMALL.friends_of(7).tolist()) == sorted(
        [int(a + b - 7) for a, b in SMALL.friends.tolist() if 7 in (a, b)]
    )


def test_places_lie_in_the_cities() -> None:
    earth = WORLD.on_earth()
    middle = np.array(CITIES)[WORLD.city][:, None]
    assert earth.shape == (PEOPLE, 6, 2) and float(np.abs(earth - middle).max()) < 0.35
    assert WORLD.goes_to.min() >= 0.0 and WORLD.goes_to.max() < 1.0


@pytest.mark.parametrize("people", [0, 7, PEOPLE + 1])
def test_a_world_that_cannot_be_is_refused(people: int) -> None:
    with pytest.raises(InvariantBroken, match="people"):
        social_world(people=people)


def test_draws_are_even_and_normal_and_each_name_has_its_own() -> None:
    draws = Draws.of(9)
    even, normal = draws.even("a", 20_000), draws.normal("b", 20_000)
    assert even.min() > 0.0 and even.max() < 1.0
    assert float(even.mean()) == pytest.approx(0.5, abs=0.01)
    assert (float(normal.mean()), float(normal.std())) == pytest.approx((0.0, 1.0), abs=0.03)
    assert not np.array_equal(draws.even("a", 5), draws.even("c", 5))
    assert np.array_equal(draws.even("a", 5), even[:5])
    assert sorted(draws.order("d", 50).tolist()) == list(range(50))


@pytest.mark.parametrize("places", [1, 3, 6])
def test_nobody_moves_the_totals_by_more_than_the_sensitivity(places: int) -> None:
    """2q + 2 for q places: reached by somebody who goes from one corner of a square to the far one of another."""
    question = Question(places)
    assert question.sensitivity == (2 * places + 2) * UNITS
    corners = np.array([[0.0, 0.0], [0.0, 0.999999], [0.999999, 0.0], [0.999999, 0.999999], [0.5, 0.5]])
    city = np.repeat(np.arange(3), 5)
    added = question.contributions(city, np.repeat(np.tile(corners, (3, 1))[:, None], places, axis=1))
    apart = np.abs(added[:, None] - added).sum(axis=2)
    assert apart.max() == question.sensitivity
    everybody = question.contributions(SMALL.city, SMALL.goes_to)
    assert int(np.abs(everybody[:, None] - everybody).sum(axis=2).max()) <= question.sensitivity
    assert bool((everybody.reshape(300, len(REGIONS), -1)[:, :, 0].sum(axis=1) == UNITS).all())


def test_centres_are_those_of_the_own_city() -> None:
    centre = nearest_centre(WORLD.city, WORLD.homes)
    assert bool((np.array([region.city for region in REGIONS])[centre] == WORLD.city).all())
    assert float((centre == WORLD.region).mean()) > 0.8


def test_noise_has_the_scale_that_it_says_and_follows_from_the_seed() -> None:
    exact = Question().contributions(SMALL.city, SMALL.goes_to).sum(axis=0)
    drawn = np.array([release(SMALL, Fraction(1), seed=seed).totals - exact for seed in range(100)])
    assert float(np.abs(drawn).mean()) == pytest.approx(4 * UNITS, rel=0.05)
    assert np.array_equal(release(SMALL, Fraction(1), seed=3).totals - exact, drawn[3])
    wide = release(SMALL, Fraction(1), dependent=Fraction(5, 2))
    assert wide.scale == 2.5 * release(SMALL, Fraction(1)).scale == 10 * UNITS


@pytest.mark.parametrize(("scale", "deviation"), [(1.0, 0.7), (4000.0, 25_000.0), (4000.0, 30.0), (2.0, 0.0)])
def test_the_density_of_both_noises_is_right(scale: float, deviation: float) -> None:
    apart = np.linspace(-30.0, 30.0, 241) * max(scale, deviation)
    told = log_density(apart, scale, deviation)
    assert np.allclose(told, told[::-1], atol=1e-9)
    x, b = apart / scale, deviation / scale
    if b == 0.0:
        assert np.allclose(told, -np.abs(x))
    else:
        assert np.allclose(told, np.logaddexp(x + log_ndtr(-x / b - b), -x + log_ndtr(x / b - b)), atol=2e-5)
    steps = np.exp(told - told.max())
    assert math.isfinite(steps.sum())
