"""The laws put to `near` under every kind of distance, its cost against the linear program, and planted faults."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from channels import DISTANCES, Channel, Subject, channel_of, design, epsilon_units, registered, workspace_of
from mechanism_laws import LAWS, Case, taken_down
from oracles import cost_by_linear_program
from planted import planted
from random_beliefs import belief_of, cases

from beliefs.distance import absolute, euclidean
from beliefs.rounding import log_units_up
from beliefs.simplex import normalised
from mechanisms import registry
from mechanisms.contract import TOTAL, Floats, new_workspace
from mechanisms.sequence.distortion_value import distortion_value
from mechanisms.sequence.sites import CUT_SHORT
from mechanisms.sequence.transport import CELLS

NEAR = registry.MECHANISMS["near"].code
Described = tuple[Subject, Sequence[Case]]


@pytest.fixture(scope="module", params=DISTANCES)
def described(request: pytest.FixtureRequest) -> Described:
    subject = registered("near", distance=request.param)
    if request.param == "free":  # where no error costs anything, one value serves everybody
        subject = subject._replace(row_epsilons=0.0)
    return subject, taken_down(subject, 1_500, seed=31) + taken_down(subject, 12, seed=32, symbols_max=200)


@pytest.mark.parametrize("name", LAWS)
def test_law_under_every_distance(described: Described, name: str) -> None:
    assert_law = LAWS[name]
    assert_law(*described)


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_interpreter_computes_the_same_bits_under_every_distance(distance: str) -> None:
    copy, compiled = planted("near", distance=distance), registered("near", distance=distance)
    for belief, units in cases(60, seed=12):
        assert channel_of(copy, belief, units) == channel_of(compiled, belief, units)


FAULTS = {
    "sites a hundredth too small": (("int(constants[FLOOR] * WHOLE)", "int(0.99 * constants[FLOOR] * WHOLE)"),),
    "rare site that takes a hundredth too much": (("constants[CAP], work)", "1.01 * constants[CAP], work)"),),
    "base without its share of exp(-epsilon)": (
        ("int(constants[LOWER] * work.base[i] * UNITS_PER_MASS) + 1 + int(pad)", "1 + int(pad)"),
    ),
    "impossible value served by the rare site": (
        ("        if i != work.size[BEST_RARE]:\n            asked", "        if i == i:\n            asked"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_channel_beyond_its_bound_is_caught(fault: str) -> None:
    subject = planted("near", *FAULTS[fault], distance="line")
    described = taken_down(subject, 1_500, seed=11)
    with pytest.raises(AssertionError):
        LAWS["both_sides_keep_epsilon"](subject, described)


def test_missing_room_for_rounding_is_caught() -> None:
    """Where e^-epsilon is so small that a base is a few thousand units, one unit is more than the shave."""
    subject = planted("near", ("* UNITS_PER_MASS) + 1 + int(pad)", "* UNITS_PER_MASS)"), distance="scattered")
    described = taken_down(subject, 600, seed=11, epsilons=[16.0])
    with pytest.raises(AssertionError):
        LAWS["both_sides_keep_epsilon"](subject, described)


def test_a_row_that_loses_its_remainder_is_caught() -> None:
    subject = planted("near", ("    units[cell, first] += left\n", ""), distance="plane")
    with pytest.raises(AssertionError):
        LAWS["rows_are_whole"](subject, taken_down(subject, 300, seed=11))


def expected_cost(belief: Floats, channel: Channel, costs: Floats) -> float:
    rows = np.array(channel.rows, dtype=np.float64) / TOTAL
    return float((belief[:, None] * rows * costs[:, channel.released]).sum())


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("distance", ["line", "squares", "plane", "scattered"])
def test_the_cost_is_close_to_that_of_the_linear_program(distance: str, epsilon: float) -> None:
    """Never below it, and on average this much above it: less where neighbours of neighbours are neighbours."""
    rng = np.random.default_rng(21)
    subject = registered("near", distance=distance)
    gaps = []
    for shape in (0, 0, 0, 1, 1, 3):
        belief = belief_of(shape, 12, epsilon, rng)
        measure = subject.distance_of(12)
        costs: Floats = np.array(measure.costs * measure.unit, dtype=np.float64)
        made = expected_cost(belief, channel_of(subject, belief, epsilon_units(epsilon)), costs)
        least = cost_by_linear_program(belief, costs, epsilon)
        assert made >= least * (1.0 - 1e-7)
        gaps.append(made / least - 1.0)
    allowed = 0.02 if epsilon <= 1.0 else 0.05
    assert np.mean(gaps) <= (2.5 * allowed if distance == "scattered" else allowed), gaps


def test_the_cost_is_close_to_the_certified_bound_on_36_cells() -> None:
    side = [(x % 6, x // 6) for x in range(36)]
    measure = euclidean(side)
    costs: Floats = np.array(measure.costs * measure.unit, dtype=np.float64)
    subject = registered("near")._replace(distance_of=lambda symbols: measure)
    rng = np.random.default_rng(8)
    gaps = []
    for concentration in (0.3, 1.0, 3.0):
        belief = normalised(rng.dirichlet(np.full(36, concentration)))
        made = expected_cost(belief, channel_of(subject, belief, epsilon_units(1.0)), costs)
        bound = distortion_value(belief, costs, 1.0).lower_bound
        assert made >= bound
        gaps.append(made / bound - 1.0)
    assert np.mean(gaps) <= 0.02, gaps


def test_where_errors_count_alike_it_is_the_optimal_mechanism() -> None:
    for belief, units in cases(200, seed=5):
        assert channel_of(registered("near"), belief, units) == channel_of(registered("optimal"), belief, units)


@pytest.mark.parametrize("symbols", [1_000, 10_000, 65_536])
def test_the_reserve_of_a_long_alphabet_fits_epsilon(symbols: int) -> None:
    side = int(symbols**0.5)
    rng = np.random.default_rng(1)
    for distance in (absolute(range(symbols)), euclidean([(x // side, x % side) for x in range(symbols)])):
        work = new_workspace(symbols, distance)
        for belief in (normalised(np.ones(symbols)), normalised(rng.dirichlet(np.full(symbols, 0.05)))):
            for epsilon in (0.01, 1.0, 3.0, 9.0):
                units = epsilon_units(epsilon)
                worst = registry.prepare(NEAR, belief, design(units), work)
                assert max(log_units_up(ratio) for ratio in worst[:2]) <= units
                assert work.size[CELLS] <= 128


def test_the_work_is_bounded_and_a_cut_is_reported() -> None:
    subject = registered("near", distance="line")
    belief = normalised(np.random.default_rng(3).dirichlet(np.ones(120)))
    cut = {}
    for epsilon in (0.5, 3.0):
        work = workspace_of(subject, 120)
        registry.prepare(NEAR, belief, design(epsilon_units(epsilon)), work)
        cut[epsilon] = int(work.size[CUT_SHORT])
    assert cut == {0.5: 0, 3.0: 1}
