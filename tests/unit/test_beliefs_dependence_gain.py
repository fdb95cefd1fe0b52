"""Noise at one true guarantee, beside a group's: a user's fifty windows, and seven thousand friends."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from social_graph import FRIENDSHIPS, USERS, SocialGraph, social_graph

from beliefs.dependence.claim import claim_of
from beliefs.dependence.gain import gain_of
from beliefs.dependence.odds import GraphOdds
from beliefs.dependence.user_accounts import account_of
from beliefs.laws.components import components_of
from beliefs.laws.dependence import Independent
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.markov import MarkovLaw
from beliefs.rounding import UNITS_PER_NAT, units_up

BITS = np.array([0.0, 1.0])


def windows(count: int, adversary: str) -> Callable[[int], int]:
    law = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, count)
    claim = claim_of(Independent(), law, protects="one_window", adversary=adversary, horizon=count)
    return lambda loss: claim.leak([loss] * count)


@pytest.mark.parametrize(("adversary", "noise"), [("any", 8.652), ("weakest", 8.622)])
def test_fifty_windows_of_a_user_who_stays_take_a_sixth_of_the_groups_noise(adversary: str, noise: float) -> None:
    found = gain_of(windows(50, adversary), 50, UNITS_PER_NAT)
    assert found.noise == pytest.approx(noise, abs=5e-4)
    assert found.group == 50
    assert found.share == pytest.approx(found.noise / 50)
    assert found.share <= 0.25


@pytest.fixture(scope="module")
def graph() -> SocialGraph:
    return social_graph()


def places(side: int) -> np.ndarray:
    middles = (np.arange(side) + 0.5) / side
    return city_blocks(np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2))


def test_the_stand_in_is_as_large_as_what_it_stands_for(graph: SocialGraph) -> None:
    assert (len(graph.homes), len(graph.friends)) == (sum(USERS), FRIENDSHIPS) == (6969, 47_502)
    assert len(np.unique(graph.friends, axis=0)) == FRIENDSHIPS
    assert components_of(6969, graph.friends).largest == components_of(6969, graph.closest()).largest > 6000


@pytest.mark.parametrize(("knowing", "most"), [(False, 12.0), (True, 140.0)])
def test_places_of_thousands_of_closest_friends_take_a_fraction_of_the_groups_noise(
    graph: SocialGraph, knowing: bool, most: float
) -> None:
    law = FriendsLaw(6969, graph.closest(), places(8), 0.196, 1.05)
    for nat in (0.1, 1.0):
        found = gain_of(account_of(law, knowing=knowing).told, law.components().largest, units_up(nat))
        assert found.group > 6000
        assert found.noise < most
        assert found.share < 0.03


def test_all_friendships_count_if_each_tells_little_and_are_a_group_if_each_tells_much(graph: SocialGraph) -> None:
    together = components_of(6969, graph.friends).largest

    def share(odds: float) -> float:
        ties = GraphOdds.of(np.arange(6969), graph.friends, np.full(FRIENDSHIPS, units_up(math.log(odds))))
        return gain_of(ties.worst_of, together, UNITS_PER_NAT).share

    assert share(1.01) < share(1.1) < 0.01
    assert share(2.0) == pytest.approx(1.0, rel=1e-6)
    circles = FriendsLaw(6969, graph.friends, places(8), 0.196, 1.05)
    assert gain_of(account_of(circles, knowing=True).told, together, UNITS_PER_NAT).share == pytest.approx(1.0)


def test_users_who_are_alone_gain_nothing_and_lose_nothing() -> None:
    assert gain_of(account_of(Independent(), knowing=True).told, 1, UNITS_PER_NAT) == (1.0, 1, 1.0)
