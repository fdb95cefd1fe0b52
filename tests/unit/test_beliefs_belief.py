from __future__ import annotations

import random
from fractions import Fraction

import oracles
import pytest

from beliefs.belief import condition, predict, rows_of
from beliefs.chain import Chain
from beliefs.checks import Invalid, InvariantBroken


def random_law(source: random.Random, size: int) -> list[Fraction]:
    """Zeros and masses of very different sizes among them."""
    weights = [source.choice((0, 1, 2, 5, 1000, 10**9)) for _ in range(size)]
    weights[source.randrange(size)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def as_rows(table: list[list[Fraction]]) -> list[list[tuple[int, Fraction]]]:
    return [[(y, p) for y, p in enumerate(row) if p] for row in table]


@pytest.mark.parametrize("blend", [Fraction(1, 100), Fraction(1, 3), Fraction(7, 10), Fraction(99, 100), Fraction(1)])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_recursion_equals_the_sum_over_all_hidden_paths(blend: Fraction, size: int) -> None:
    """The channel mixes the belief, with weight `blend`, and the value itself, so it changes with every release."""
    source = random.Random(f"{blend} {size}")
    for _ in range(6):
        start = random_law(source, size)
        table = [random_law(source, size) for _ in range(size)]
        belief, likelihoods = start, []
        for _ in range(5):
            released = source.choice([y for y in range(size) if belief[y]])
            keeps = [Fraction(int(x == released)) for x in range(size)]
            likelihoods.append([blend * belief[released] + (1 - blend) * keep for keep in keeps])
            posterior = condition(belief, likelihoods[-1])
            assert posterior == oracles.posterior_by_enumeration(start, table, likelihoods)
            assert sum(posterior) == 1
            belief = predict(posterior, as_rows(table))
            assert sum(belief) == 1


def test_floats_follow_the_fractions() -> None:
    chain = Chain.from_dense([0.6, 0.3, 0.1], [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.0, 0.25, 0.75]])
    rows = rows_of(chain)
    exact_rows = [[(y, Fraction(p)) for y, p in row] for row in rows]
    belief = chain.start.tolist()
    exact = [Fraction(mass) for mass in belief]
    for step in range(50):
        likelihood = [0.3, 0.2, 0.9] if step % 3 else [0.5, 0.01, 0.2]
        belief = predict(condition(belief, likelihood), rows)
        exact = predict(condition(exact, [Fraction(p) for p in likelihood]), exact_rows)
    total = sum(exact)
    assert belief == pytest.approx([float(mass / total) for mass in exact], rel=1e-13)


def test_inputs_are_left_alone() -> None:
    belief, likelihood = [0.5, 0.5], [0.2, 0.4]
    rows = [[(0, 1.0)], [(0, 0.5), (1, 0.5)]]
    condition(belief, likelihood)
    predict(belief, rows)
    assert (belief, likelihood, rows) == ([0.5, 0.5], [0.2, 0.4], [[(0, 1.0)], [(0, 0.5), (1, 0.5)]])


def test_an_impossible_release_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        condition([1.0, 0.0], [0.0, 1.0])
    assert caught.value.field == "likelihood"


def test_lengths_must_agree() -> None:
    with pytest.raises(InvariantBroken):
        condition([1.0], [0.5, 0.5])
    with pytest.raises(InvariantBroken):
        predict([1.0], [])
