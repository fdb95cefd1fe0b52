"""Noise at one true guarantee, beside a group's: a user's fifty windows, and seven thousand friends."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from beliefs.dependence.claim import claim_of
from beliefs.dependence.gain import gain_of
from beliefs.dependence.odds import GraphOdds
from beliefs.dependence.user_accounts import account_of
from beliefs.laws.components import components_of
from beliefs.laws.dependence import Independent
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.markov import MarkovLaw
from beliefs.rounding import UNITS_PER_NAT, units_up
from stream.social.draws import Floats
from stream.social.world import Integers, World, social_world

BITS = np.array([0.0, 1.0])


def windows(count: int, adversary: str) -> Callable[[int], int]:
    law = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, count)
    claim = claim_of(Independent(), law, protects="one_window", adversary=adversary, horizon=count)
    return lambda loss: claim.leak([loss] * count)


@pytest.mark.parametrize(("adversary", "noise"), [("any", 8.652), ("weakest", 8.621)])
def test_fifty_windows_of_a_user_who_stays_take_a_sixth_of_the_groups_noise(adversary: str, noise: float) -> None:
    found = gain_of(windows(50, adversary), 50, UNITS_PER_NAT)
    assert found.noise == pytest.approx(noise, rel=5e-4)
    assert found.group == 50
    assert found.share == pytest.approx(found.noise / 50)
    assert found.share <= 0.25


@pytest.fixture(scope="module")
def country() -> World:
    return social_world()


def closest(world: World) -> Integers:
    """The friendships that hang people together with the least distance in all: no circle is left."""
    apart = np.hypot(*(world.homes[world.friends[:, 0]] - world.homes[world.friends[:, 1]]).T) + 1e-9
    tree = minimum_spanning_tree(csr_matrix((apart, tuple(world.friends.T)), shape=(world.size,) * 2)).tocoo()
    return np.stack([tree.row, tree.col], axis=1).astype(np.int64)


def places(side: int) -> Floats:
    middles = (np.arange(side) + 0.5) / side
    return city_blocks(np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2))


@pytest.mark.parametrize(("knowing", "most"), [(False, 18.6), (True, 114.0)])
def test_places_of_thousands_of_closest_friends_take_a_fraction_of_the_groups_noise(
    country: World, knowing: bool, most: float
) -> None:
    law = FriendsLaw(country.size, closest(country), places(5), 0.196, 1.05)
    found = gain_of(account_of(law, knowing=knowing).told, law.components().largest, UNITS_PER_NAT)
    assert found.group > 6000
    assert found.noise < most
    assert found.share < 0.03


def test_all_friendships_count_if_each_tells_little_and_are_a_group_if_each_tells_much(country: World) -> None:
    together = components_of(country.size, country.friends).largest

    def share(odds: float) -> float:
        couplings = np.full(len(country.friends), units_up(math.log(odds)))
        ties = GraphOdds.of(np.arange(country.size), country.friends, couplings)
        return gain_of(ties.worst_of, together, UNITS_PER_NAT).share

    assert share(1.05) < 0.001
    assert share(3.0) == pytest.approx(1.0, rel=1e-3)
    circles = FriendsLaw(country.size, country.friends, places(5), 0.196, 1.05)
    assert gain_of(account_of(circles, knowing=True).told, together, UNITS_PER_NAT).share == pytest.approx(1.0)


def test_users_who_are_alone_gain_nothing_and_lose_nothing() -> None:
    assert gain_of(account_of(Independent(), knowing=True).told, 1, UNITS_PER_NAT) == (1.0, 1, 1.0)
