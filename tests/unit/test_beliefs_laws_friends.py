from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.laws.friends import FriendsLaw, city_blocks

GRID = city_blocks(np.array([[float(x), float(y)] for x in range(5) for y in range(4)]))
LINE = np.array([[0, 1], [2, 1], [2, 3]])


@pytest.mark.parametrize(("offset", "exponent"), [(0.196, 1.05), (0.03, 2.0), (1.0, 0.0), (3.0, 0.25), (1e-3, 7.5)])
def test_the_kernel_is_the_published_power_with_rows_that_sum_to_one(offset: float, exponent: float) -> None:
    powers = (GRID + offset) ** -exponent
    kernel = FriendsLaw(4, LINE, GRID, offset, exponent).kernel()
    assert kernel == pytest.approx(powers / powers.sum(axis=1, keepdims=True), rel=1e-12)
    people = np.random.default_rng(2).dirichlet(np.ones(len(GRID)))
    people[3] = 0.0
    people /= people.sum()
    weighted = powers * people
    found = FriendsLaw(4, LINE, GRID, offset, exponent, people).kernel()
    assert found == pytest.approx(weighted / weighted.sum(axis=1, keepdims=True), rel=1e-12)
    assert not found[:, 3].any()


def test_powers_are_right_to_the_last_digits_of_a_fraction() -> None:
    near = FriendsLaw(2, LINE[:1], GRID, 0.25, 3.0).nearness()
    for row, column in ((0, 1), (0, 19), (7, 12)):
        exact = 1 / (Fraction(GRID[row, column] + 0.25) / Fraction(0.25)) ** 3
        assert abs(Fraction(near[row, column]) / exact - 1) < Fraction(1, 10**13)


def test_the_kernel_goes_both_ways() -> None:
    people = np.random.default_rng(3).dirichlet(np.ones(len(GRID)))
    people[5] = 0.0
    law = FriendsLaw(4, LINE, GRID, 0.2, 1.3, people / people.sum())
    pairs = law.single()[:, None] * law.kernel()
    assert pairs == pytest.approx(pairs.T, rel=1e-12, abs=1e-300)
    assert law.single()[5] == 0.0
    ways = law.tree().both_ways()
    possible = law.single() > 0.0
    for table in (*ways.down, *ways.up):
        assert table[possible] == pytest.approx(law.kernel()[possible], rel=1e-12)
        assert not table[~possible].any()


def test_a_forest_of_friends_has_a_joint_law_in_which_every_pair_is_right() -> None:
    distances = city_blocks(np.array([[0.0], [1.0], [5.0]]))
    friends = np.array([[3, 0], [3, 1], [4, 2]])
    law = FriendsLaw(5, friends, distances, 0.5, 1.0)
    joint = law.tree().table().joint
    pairs = law.single()[:, None] * law.kernel()
    for one, two in friends.tolist():
        pair = joint.sum(axis=tuple(each for each in range(5) if each not in (one, two)))
        assert pair == pytest.approx(pairs, rel=1e-12)
    assert law.components().of.tolist() == [0, 0, 1, 0, 1]
    assert law.tree().components().of.tolist() == [0, 0, 1, 0, 1]


def test_a_circle_has_no_tree_but_a_component() -> None:
    generator = np.random.default_rng(6)
    circles = 0
    for _ in range(60):
        users = int(generator.integers(2, 12))
        pairs = {tuple(sorted(generator.choice(users, 2, replace=False).tolist())) for _ in range(users - 1)}
        law = FriendsLaw(users, np.array(sorted(pairs)), GRID, 0.2, 1.0)
        components = law.components()
        if users - components.count == len(pairs):
            assert law.tree().components().of.tolist() == components.of.tolist()
            continue
        circles += 1
        with pytest.raises(Invalid, match="form a circle"):
            law.tree()
    assert 10 < circles < 50


def test_friends_hang_together_even_where_no_pair_does() -> None:
    even = FriendsLaw(4, LINE, GRID, 0.2, 0.0)
    assert even.components().largest == 4
    assert even.tree().components().largest == 1
    assert FriendsLaw(4, LINE[:0], GRID, 0.2, 1.0).components().largest == 1


@pytest.mark.parametrize(
    ("changed", "field", "says"),
    [
        ({"users": 0}, "users", "1 or more"),
        ({"users": 3}, "friends", "entry 2 names a user who is not 0 to 2"),
        ({"friends": np.array([[0, 1], [2, 2]])}, "friends", "entry 1 names one user twice"),
        ({"friends": np.array([[0, 1], [1, 0]])}, "friends", "entry 1 is that of 0 again"),
        ({"friends": np.array([[0.0, 1.0]])}, "friends", "whole numbers"),
        ({"friends": np.array([0, 1])}, "friends", "rows of two"),
        ({"distances": np.zeros((2, 3))}, "distances", "square"),
        ({"distances": np.array([[0.0, np.inf], [np.inf, 0.0]])}, "distances", "entry [0, 1] must be a finite"),
        ({"distances": np.array([[0.0, -1.0], [-1.0, 0.0]])}, "distances", "entry [0, 1] is negative"),
        ({"distances": np.array([[0.0, 1.0], [1.0, 2.0]])}, "distances", "entry [1, 1] must be 0"),
        ({"distances": np.array([[0.0, 1.0], [2.0, 0.0]])}, "distances", "entry [0, 1] differs"),
        ({"offset": 0.0}, "offset", "above 0"),
        ({"offset": np.inf}, "offset", "finite"),
        ({"exponent": -0.5}, "exponent", "0 or more"),
        ({"exponent": np.nan}, "exponent", "finite"),
        ({"exponent": 500.0}, "exponent", "less likely than 2^-900"),
        ({"exponent": 1e308}, "exponent", "less likely than 2^-900"),
        ({"distances": np.array([[0.0, 1e308], [1e308, 0.0]])}, "exponent", "less likely than 2^-900"),
        ({"people": np.array([0.5, 0.5])}, "people", "has 2 entries, but there are 20 places"),
        ({"people": np.full(20, 0.1)}, "people", "sums to 2"),
    ],
)
def test_wrong_friends_are_refused_with_the_wrong_entry(changed: dict[str, object], field: str, says: str) -> None:
    right: dict[str, object] = {"users": 4, "friends": LINE, "distances": GRID, "offset": 0.2, "exponent": 1.0}
    assert FriendsLaw(**right).size == 4  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=field) as refused:
        FriendsLaw(**{**right, **changed})  # type: ignore[arg-type]
    assert refused.value.field == field
    assert says in refused.value.reason


@pytest.mark.parametrize("places", [np.zeros((0, 2)), np.zeros((2, 0)), np.array([[0.0], [np.nan]]), np.zeros(3)])
def test_places_without_coordinates_are_refused(places: np.ndarray) -> None:
    with pytest.raises(Invalid, match="places"):
        city_blocks(places)
