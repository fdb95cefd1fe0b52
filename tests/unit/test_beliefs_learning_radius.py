"""Radii against enumeration, and against chains whose law is known."""

from __future__ import annotations

import numpy as np
import pytest
from chains import first_order, learnt, second_order

from beliefs.checks import Invalid
from beliefs.learning.radius import deviation, rows_judged


def chance_of_leaving(law: float, visits: int, failure: float) -> float:
    """Of two values: the exact probability that the share is outside the radius at any of the first visits."""
    radii = deviation(np.arange(visits + 1, dtype=np.float64), 2, failure)
    inside = np.array([1.0])  # by how often the first value came
    for n in range(1, visits + 1):
        following = np.zeros(n + 1)
        following[:-1] += inside * (1 - law)
        following[1:] += inside * law
        following[np.abs(np.arange(n + 1) / n - law) > radii[n]] = 0.0
        inside = following
    return 1.0 - float(inside.sum())


@pytest.mark.parametrize("law", [0.5, 0.2, 0.03, 0.001])
@pytest.mark.parametrize("failure", [0.5, 0.1, 0.01])
def test_the_bound_holds_at_all_numbers_of_visits_at_once(law: float, failure: float) -> None:
    assert chance_of_leaving(law, 600, failure) <= failure


def test_the_bound_is_not_idle() -> None:
    """A bound that nothing ever comes near would be true, too: a third of it is broken more often than promised."""
    visits, failure = 600, 0.1
    radii = deviation(np.arange(visits + 1, dtype=np.float64), 2, failure)
    rng = np.random.default_rng(1)
    shares = np.cumsum(rng.random((2000, visits)) < 0.5, axis=1) / np.arange(1, visits + 1)
    broken = (np.abs(shares - 0.5) > radii[1:] / 3).any(axis=1)
    assert broken.mean() > failure


def test_radii_shrink_with_visits_and_grow_with_values_and_certainty() -> None:
    visits = np.array([0.0, 1.0, 100.0, 10_000.0])
    of_four = deviation(visits, 4, 0.05)
    assert of_four[0] == of_four[1] == 1.0
    assert of_four[2] > of_four[3]
    assert (deviation(visits, 8, 0.05) >= of_four).all()
    assert (deviation(visits, 4, 0.001) >= of_four).all()
    assert deviation(visits, 1, 0.05).tolist() == [0.0] * 4
    assert deviation(visits, 65_536, 0.05)[3] == 1.0
    assert deviation(np.array([1e4]), 60, 0.05)[0] < deviation(np.array([1e4]), 61, 0.05)[0]
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(Invalid, match="failure"):
            deviation(visits, 4, wrong)
    assert rows_judged(4, 3) == 86


@pytest.mark.parametrize("order", [1, 2])
def test_known_chains_lie_within_their_radii_in_the_promised_share_of_runs(order: int) -> None:
    """The written rows against the true ones, all rows of a run at once."""
    kept, runs, failure = 0, 60, 0.2
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        law = rng.dirichlet(np.full(3, 0.7), (3, 3))
        values = first_order(law[0], 60, 25, rng) if order == 1 else second_order(law, 60, 40, rng)
        _, laws, radii, _ = learnt(values, 3, order=2, failure=failure)
        if laws.order != order:
            continue
        if laws.chain is not None:
            apart = np.abs(laws.chain.dense - law[0]).sum(axis=1) / 2
        else:
            pasts = [(a, b) for b in range(3) for a in range(3)]  # rows ascend by the newest value's digit last
            pasts.sort(key=lambda past: past[1] + 1 + 4 * (past[0] + 1))
            written = [laws.laws.get(past, laws.laws[past[1:]])[1] for past in pasts]
            apart = np.array([np.abs(w - law[past]).sum() / 2 for w, past in zip(written, pasts, strict=True)])
        if radii.rows.size == apart.size:
            assert 0.0 < radii.average < 1.0
            kept += bool((apart <= radii.rows).all())
        else:
            kept += radii.worst == 1.0
    assert kept >= (1 - failure) * runs * 0.9


def test_a_past_that_was_never_seen_makes_the_worst_radius_1() -> None:
    values = np.array([[0, 1, 0, 1, 0]] * 16)
    _, _, radii, _ = learnt(values, 3, order=1)
    assert radii.visits.size == 2 and radii.possible == 3
    assert radii.worst == 1.0 and radii.average < 1.0
