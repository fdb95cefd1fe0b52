"""The four randomised responses: their rows from the definition, the best set from all sets, and what is told."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from beliefs.rounding import UNITS_PER_NAT
from mechanisms import registry
from mechanisms.contract import SHAVE_UNITS, TOTAL, Floats, Workspace, constants_of, new_workspace
from mechanisms.sequence import response, top_k_grr
from mechanisms.sequence.top_k_value import top_k_value

NAMES = ("top_k_grr", "randomised_response", "randomised_response_double", "temporal_ldp")
EPSILONS = [0.1, 1.0, 3.0]


def constants(epsilon: float) -> Floats:
    return np.array(constants_of(int(epsilon * UNITS_PER_NAT) - SHAVE_UNITS))


def prepared(name: str, belief: Floats, epsilon: float) -> tuple[Workspace, list[float]]:
    work = new_workspace(belief.size)
    return work, list(registry.prepare(registry.MECHANISMS[name].code, belief, constants(epsilon), work))


def row_of(name: str, x: int, belief: Floats, work: Workspace) -> dict[int, float]:
    registry.row(registry.MECHANISMS[name].code, x, belief, work)
    count = int(work.size[0])
    return dict(zip(work.head[:count].tolist(), (work.row[:count] / TOTAL).tolist(), strict=True))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("name", "members", "times"),
    [
        ("top_k_grr", {0, 3}, 1),
        ("randomised_response", {0, 1, 2, 3, 4}, 1),
        ("randomised_response_double", {0, 1, 2, 3, 4}, 2),
        ("temporal_ldp", {0, 2, 3, 4}, 1),
    ],
)
def test_the_rows_are_those_of_the_definition(name: str, members: set[int], times: int, epsilon: float) -> None:
    belief = np.array([0.48, 0.0, 0.02, 0.48, 0.02])
    work, _ = prepared(name, belief, epsilon)
    ceiling = math.exp(times * epsilon)
    keeps, gives = ceiling / (ceiling + len(members) - 1), 1 / (ceiling + len(members) - 1)
    for x in range(5):
        outside = dict.fromkeys(members, 1 / len(members))
        expected = {y: keeps if x == y else gives for y in members} if x in members else outside
        assert row_of(name, x, belief, work) == pytest.approx(expected, abs=1e-9)


def best_of_all_sets(belief: list[Fraction], ceiling: Fraction) -> tuple[Fraction, set[int]]:
    """The best accuracy over every set, and the smallest set that has it."""
    best, members = Fraction(0), set()
    for size in range(1, len(belief) + 1):
        for chosen in itertools.combinations(range(len(belief)), size):
            accuracy = ceiling * sum(belief[x] for x in chosen) / (ceiling + size - 1)
            if accuracy > best:
                best, members = accuracy, set(chosen)
    return best, members


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_set_is_better_than_the_one_above_the_price(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    for attempt in range(60):
        belief = rng.dirichlet(np.full(int(rng.integers(1, 8)), rng.choice([0.2, 1.0, 5.0])))
        if attempt % 3 == 0:
            belief = rng.integers(1, 4, belief.size).astype(float)
            belief /= belief.sum()
        table = constants(epsilon)
        best, members = best_of_all_sets([Fraction(mass) for mass in belief.tolist()], Fraction(float(table[2])))
        work, _ = prepared("top_k_grr", belief, epsilon)
        chosen = set(work.head[: work.size[0]].tolist())
        ceiling = Fraction(float(table[2]))
        reached = ceiling * sum(Fraction(float(belief[x])) for x in chosen) / (ceiling + len(chosen) - 1)
        assert reached >= best * (1 - Fraction(1, 10**14))
        if attempt % 3:
            assert chosen == members


def test_the_accuracy_is_the_value_form() -> None:
    rng = np.random.default_rng(6)
    for symbols in (1, 2, 7, 300):
        belief = rng.dirichlet(np.full(symbols, 0.5))
        for epsilon in EPSILONS:
            work, _ = prepared("top_k_grr", belief, epsilon)
            kept = sum(belief[y] * row_of("top_k_grr", y, belief, work)[y] for y in work.head[: work.size[0]].tolist())
            assert kept == pytest.approx(top_k_value(belief, epsilon).accuracy, abs=1e-9)


def test_a_few_passes_find_the_set_of_a_long_alphabet() -> None:
    """The same set as by sorting, for 65,536 values in an order that means nothing."""
    belief = np.random.default_rng(7).permutation(1.0 / np.arange(1, 65_537) ** 0.5)
    belief /= belief.sum()
    for epsilon in (1.0, 6.0, 11.0):
        work, _ = prepared("top_k_grr", belief, epsilon)
        size = top_k_value(belief, epsilon).size
        assert set(work.head[: work.size[0]].tolist()) == set(np.argsort(-belief, kind="stable")[:size].tolist())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("belief", [[0.5, 0.5], [0.1] * 10, [0.9, 0.05, 0.05], [0.999, 0.001]])
def test_what_is_told_is_the_definition(name: str, belief: list[float]) -> None:
    prior = np.array(belief)
    work, worst = prepared(name, prior, 1.0)
    rows = [row_of(name, x, prior, work) for x in range(prior.size)]
    for y in rows[0]:
        marginal = sum(mass * row[y] for mass, row in zip(belief, rows, strict=True))
        assert max(row[y] for row in rows) / marginal <= worst[0] * (1 + 1e-12)
        assert marginal / min(row[y] for row in rows) <= worst[1] * (1 + 1e-12)
    limit = registry.MECHANISMS[name].row_epsilons
    assert math.log(worst[2]) <= limit


def test_twice_epsilon_keeps_epsilon_at_one_belief_only() -> None:
    """1/(e^epsilon + 1) for every value, which needs e^epsilon + 1 of them."""
    _, at = prepared("randomised_response_double", np.full(4, 0.25), math.log(3.0))
    assert max(at[:2]) == pytest.approx(3.0, rel=1e-9)
    for other in (np.full(3, 1 / 3), np.full(5, 0.2), np.array([0.26, 0.25, 0.25, 0.24])):
        _, worst = prepared("randomised_response_double", other, math.log(3.0))
        assert max(worst[:2]) > 3.0 * (1 + 1e-6)


def test_a_release_never_narrows_the_support() -> None:
    belief = np.array([0.7, 0.0, 0.2, 0.1])
    work, _ = prepared("temporal_ldp", belief, 2.0)
    for i in range(int(work.size[0])):
        registry.column(registry.MECHANISMS["temporal_ldp"].code, i, belief, work)
        assert ((belief * work.likelihood > 0) == (belief > 0)).all()


def test_equal_beliefs_that_epsilon_cannot_tell_apart() -> None:
    """E - 1 is lost beside three: no belief is above the price of all, and the first of them is released."""
    belief, work = np.full(3, 1 / 3), new_workspace(3)
    assert top_k_grr.price_of_a_place(belief, 1.0) == pytest.approx(1 / 3)
    table = np.array(constants_of(0))
    assert top_k_grr.prepare(belief, table, work) == (1.0, 1.0, 1.0)
    assert work.head[: work.size[0]].tolist() == [0]


@pytest.mark.parametrize("count", [2, 3, 5, 7])
def test_the_row_outside_lies_between_the_two_numbers(count: int) -> None:
    """Down to the smallest difference that is still one, in integers."""
    for exponent in range(-52, 6):
        work = new_workspace(count + 1)
        for x in range(count):
            response.admit(x, work)
        belief = np.array([1.0 / count] * count + [0.0])
        response.respond(belief, 1.0 + 2.0**exponent, work)
        rows = []
        for x in range(count + 1):
            response.respond_row(x, work)
            rows.append(work.row[:count].tolist())
        assert all(sum(row) == TOTAL for row in rows)
        if work.size[response.HIGH]:
            low, high = int(work.size[response.LOW]), int(work.size[response.HIGH])
            assert low < min(rows[count])
            assert max(rows[count]) <= high
        else:
            assert all(row == rows[count] for row in rows)
