from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from correlation_oracles import bound_by_program, bound_by_sets, sets_of, some_conditionals
from scipy.optimize import linprog

from beliefs.correlation.bound import Matrix, bound, excess, profile, saturation, tight_delta
from beliefs.correlation.frontier import Frontier
from beliefs.correlation.robust_rows import radii_of, robust_bound

EPSILONS = (0.05, 0.5, 1.0, 2.0, 4.0)


def test_the_bound_is_that_of_every_set_on_two_thousand_laws() -> None:
    generator = np.random.default_rng(1)
    for laws in some_conditionals(generator, 2_000):
        epsilon = float(generator.choice(EPSILONS))
        want = bound_by_sets(laws, epsilon)
        found = bound(laws, epsilon)
        assert want - 1e-15 <= found.epsilon <= min(epsilon, want + 1e-12)
        if found.rows is not None and found.subset is not None:
            chances = laws[list(found.rows)][:, list(found.subset)].sum(axis=1)
            reached = math.log((1 + math.expm1(epsilon) * chances[0]) / (1 + math.expm1(epsilon) * chances[1]))
            assert reached == pytest.approx(want, abs=1e-12)


def test_no_mechanism_loses_more_says_a_linear_program_on_two_thousand_laws() -> None:
    generator = np.random.default_rng(2)
    for laws in some_conditionals(generator, 2_000):
        epsilon = float(generator.choice(EPSILONS))
        pair = laws[:2]
        want = max(bound_by_program(pair[0], pair[1], epsilon), bound_by_program(pair[1], pair[0], epsilon))
        found = bound(pair, epsilon).epsilon
        assert want - 1e-15 <= found <= want + 1e-12


def test_large_laws_and_the_frontier_agree() -> None:
    generator = np.random.default_rng(3)
    for rows, columns in ((80, 60), (3, 2_000), (200, 12)):
        laws = generator.dirichlet(np.full(columns, 0.5), rows)
        frontier = Frontier(laws)
        pairs = [(0, 1), (1, 0)]
        for epsilon in (0.01, 1.0, 6.0, 40.0, 400.0, 2_000.0):
            found = bound(laws, epsilon)
            assert frontier.bound(epsilon) == pytest.approx(found.epsilon, rel=1e-11, abs=1e-12)
            assert found.epsilon >= max(bound(laws[list(pair)], epsilon).epsilon for pair in pairs) - 1e-15
        assert frontier.bound(math.inf) == pytest.approx(saturation(laws), rel=1e-12)


def test_the_frontier_keeps_corners_that_several_pairs_share() -> None:
    generator = np.random.default_rng(13)
    for number in range(300):
        size = int(generator.integers(2, 6))
        row = generator.dirichlet(np.ones(size))
        circle = np.stack([np.roll(row, place) for place in range(size)])
        alike = np.full((size, size), 0.1 / (size - 1)) + (0.9 - 0.1 / (size - 1)) * np.eye(size)
        nearly = circle * (1.0 + generator.choice([0.0, 2.0**-52, -(2.0**-52)], circle.shape))
        for laws in (circle, alike, nearly, np.concatenate([circle, circle])):
            epsilon = float(generator.choice(EPSILONS))
            want = bound(laws, epsilon).epsilon
            assert Frontier(laws).bound(epsilon) == pytest.approx(want, rel=1e-11, abs=1e-12), number


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 50.0, 2_000.0])
def test_many_secrets_that_are_all_alike(epsilon: float) -> None:
    """All 40,000 pairs attain the same level, and only the first is named."""
    size = 200
    laws = np.full((size, size), 0.1 / (size - 1))
    np.fill_diagonal(laws, 0.9)
    weight = math.expm1(min(epsilon, 600.0))
    want = math.log1p(0.9 * weight) - math.log1p(0.1 / (size - 1) * weight)
    found = bound(laws, epsilon)
    assert 0.0 <= found.epsilon - want <= 1e-11
    assert found.subset is not None
    assert found.rows is not None
    assert len(found.subset) == 1
    one, other = bound(laws[::-1], epsilon), bound(np.eye(size), epsilon)
    assert one.epsilon == pytest.approx(found.epsilon, rel=1e-12)
    assert other.epsilon == epsilon
    assert bound(np.tile(laws[0], (size, 1)), epsilon) == (0.0, None, None)


@pytest.mark.parametrize("epsilon", [599.0, 601.0, 745.0, 2_000.0, 1e6])
def test_huge_budgets_stay_in_the_log_domain(epsilon: float) -> None:
    disjoint = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert bound(disjoint, epsilon).epsilon == epsilon
    touching = np.array([[0.5, 0.5], [0.0, 1.0]])
    found = bound(touching, epsilon)
    assert 0.0 <= found.epsilon - (epsilon - math.log(2.0)) <= 1e-11 + 1e-14 * epsilon
    assert (found.rows, found.subset) == ((0, 1), (0,))
    positive = np.array([[0.7, 0.3], [0.2, 0.8]])
    assert bound(positive, epsilon).epsilon == pytest.approx(math.log(3.5), abs=1e-11)


def test_what_loses_nothing_loses_nothing() -> None:
    same = np.array([[0.3, 0.7], [0.3, 0.7]])
    for epsilon in (0.0, 1.0, math.inf):
        assert bound(same, epsilon) == (0.0, None, None)
    for laws in (np.array([[0.3, 0.7]]), np.array([[1.0], [1.0]])):
        assert bound(laws, 3.0) == (0.0, None, None)
    assert bound(np.array([[1.0, 0.0], [0.0, 1.0]]), 0.0).epsilon == 0.0


def test_the_bound_rises_with_epsilon_and_falls_when_values_are_merged() -> None:
    generator = np.random.default_rng(4)
    for laws in some_conditionals(generator, 200):
        leaks = [bound(laws, epsilon).epsilon for epsilon in (0.1, 1.0, 3.0, 9.0, math.inf)]
        assert leaks == sorted(leaks)
        merged = np.column_stack([laws[:, :2].sum(axis=1), laws[:, 2:]])
        assert bound(merged, 1.0).epsilon <= leaks[1] + 1e-13


def program_delta(first: Matrix, second: Matrix, epsilon: float, delta: float, at: float) -> float:
    """The largest sum c g - e^at sum c g' over all tests c of all (epsilon, delta) mechanisms.

    A mechanism's test gives u the chance c_u; any two satisfy c_u <= e^epsilon c_v + delta and the same of 1 - c.
    """
    size, rows, limits = first.size, [], []
    for u in range(size):
        for v in range(size):
            row = np.zeros(size)
            row[u] += 1.0
            row[v] -= math.exp(epsilon)
            rows += [row, -row]
            limits += [delta, math.exp(epsilon) - 1.0 + delta]
    # The second row of each pair says (1 - c_u) <= e^epsilon (1 - c_v) + delta.
    found = linprog(-(first - math.exp(at) * second), A_ub=np.array(rows), b_ub=np.array(limits), bounds=(0.0, 1.0))
    assert found.status == 0
    return float(-found.fun)


def test_the_profile_and_the_tight_delta_are_those_of_a_linear_program() -> None:
    generator = np.random.default_rng(5)
    for laws in some_conditionals(generator, 60, size_max=4):
        epsilon, delta = float(generator.choice([0.3, 1.0, 2.0])), float(generator.choice([0.01, 0.1, 0.4]))
        leak = bound(laws, epsilon).epsilon
        for at in (0.0, 0.4 * leak, leak):
            want = max(
                program_delta(one, two, epsilon, delta, at)
                for one in laws
                for two in laws
                if not np.array_equal(one, two)
            )
            assert profile(laws, epsilon, delta, at) == pytest.approx(max(0.0, want), abs=2e-9)
        assert profile(laws, epsilon, delta, leak) <= tight_delta(laws, epsilon, delta, leak) + 1e-12
        assert tight_delta(laws, epsilon, delta, leak) <= delta


def test_profiles_of_extreme_levels() -> None:
    laws = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert excess(laws, 2_000.0) == pytest.approx(0.5)  # what one secret alone shows stays at every level
    assert profile(laws, 2_000.0, 0.0, 1.0) == pytest.approx(0.5, abs=1e-12)
    assert profile(laws, 1.0, 0.1, 20_000.0) == pytest.approx(0.05)
    assert profile(laws, math.inf, 0.1, 0.0) == pytest.approx(0.5)
    assert tight_delta(laws, 2_000.0, 0.1, 1_999.0) == pytest.approx(0.1 * math.exp(-1.0))
    assert tight_delta(laws, math.inf, 0.1, 1.0) == 0.0


def test_no_law_within_the_radii_loses_more() -> None:
    generator = np.random.default_rng(6)
    for laws in some_conditionals(generator, 60, size_max=5):
        radii = generator.uniform(0.0, 0.3, laws.shape[0])
        robust = robust_bound(laws, 1.0, radii)
        assert robust >= bound(laws, 1.0).epsilon - 1e-15
        reached = 0.0
        for chosen in list(sets_of(laws.shape[1]))[1:-1]:
            high = [moved(law, chosen, radius) for law, radius in zip(laws, radii, strict=True)]
            low = [moved(law, chosen, -radius) for law, radius in zip(laws, radii, strict=True)]
            pairs = [np.array([one, two]) for i, one in enumerate(high) for j, two in enumerate(low) if i != j]
            reached = max(reached, *(bound(pair, 1.0).epsilon for pair in pairs))
        assert robust == pytest.approx(reached, abs=1e-12)


def moved(law: Matrix, chosen: list[int], radius: float) -> Matrix:
    """The law with the mass `radius` moved into the set (out of it if negative), or as much as there is."""
    inside = np.zeros(law.size, dtype=bool)
    inside[chosen] = True
    if radius < 0:
        inside, radius = ~inside, -radius
    taken = min(radius, float(law[~inside].sum()))
    changed = law.copy()
    if taken > 0:
        changed[~inside] *= 1.0 - taken / law[~inside].sum()
        changed[np.flatnonzero(inside)[0]] += taken
    return changed


def test_a_radius_that_takes_nearly_all_of_a_chance_loses_no_digits_at_large_budgets() -> None:
    """In fractions: every set of rows that are divided by their exact sums."""
    generator = np.random.default_rng(8)
    weight = Fraction(Decimal(30).exp()) - 1
    for _ in range(60):
        laws = generator.dirichlet(np.ones(4), 2)
        radii = np.array([0.01, max(0.0, float(laws[1, :2].sum()) - 10.0 ** -generator.uniform(9, 15))])
        rows = [[Fraction(p) / sum(map(Fraction, law)) for p in law] for law in laws.tolist()]
        most = Fraction(1)
        for chosen in list(sets_of(4))[1:-1]:
            for one, other in ((0, 1), (1, 0)):
                high = min(Fraction(1), sum(rows[one][u] for u in chosen) + Fraction(float(radii[one])))
                low = max(Fraction(0), sum(rows[other][u] for u in chosen) - Fraction(float(radii[other])))
                most = max(most, (1 + weight * high) / (1 + weight * low))
        assert robust_bound(laws, 30.0, radii) >= float((Decimal(most.numerator) / Decimal(most.denominator)).ln())


def test_radii_cover_what_was_sampled() -> None:
    generator = np.random.default_rng(7)
    laws = generator.dirichlet(np.ones(4), 3)
    samples, inside = [60, 200, 900], 0
    radii = radii_of(samples, 4, 0.05)
    assert radii_of([1, 10**9], 4, 0.05)[0] == 1.0
    for _ in range(300):
        seen = np.array([generator.multinomial(n, law) / n for n, law in zip(samples, laws, strict=True)])
        apart = 0.5 * np.abs(seen - laws).sum(axis=1)
        inside += bool((apart <= radii).all())
        assert not (apart <= radii).all() or robust_bound(seen, 1.0, radii) >= bound(laws, 1.0).epsilon
    assert inside >= 285
