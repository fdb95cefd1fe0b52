"""The published ways to release a window: strings enumerated, and the optimum that Algorithm 2 stops short of."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import cost_by_linear_program

from beliefs.chain import Chain
from beliefs.checks import Invalid
from mechanisms.sequence.published_batch_value import published_batch_value, published_window_value, windows_of
from mechanisms.sequence.published_crr_value import published_value

STICKY = Chain.from_dense([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
ONEWAY = Chain.from_dense([0.7, 0.3, 0.0], [[0.5, 0.5, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]])


def sticky_of(size: int, stay: float) -> Chain:
    rows = np.full((size, size), (1 - stay) / (size - 1))
    np.fill_diagonal(rows, stay)
    return Chain.from_dense([1 / size] * size, rows.tolist())


def differing(strings: list[tuple[int, ...]]) -> np.ndarray:
    return np.array([[np.mean(np.array(a) != np.array(b)) for b in strings] for a in strings])


@pytest.mark.parametrize(("chain", "length"), [(STICKY, 1), (STICKY, 4), (ONEWAY, 3), (sticky_of(4, 0.7), 2)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_the_window_response_by_enumeration(chain: Chain, length: int, epsilon: float) -> None:
    strings, law = windows_of(chain, length)
    covered = math.exp(-epsilon)
    channel = covered * law[None, :] + (1 - covered) * np.eye(law.size)
    marginal = (law[:, None] * channel).sum(axis=0)
    value = published_window_value(chain, length, epsilon)
    assert value.agreement == pytest.approx(1 - float((law[:, None] * channel * differing(strings)).sum()), abs=1e-12)
    assert value.upper == pytest.approx(math.log((channel / marginal).max()), abs=1e-12)
    assert value.lower == pytest.approx(-math.log((channel / marginal).min()), abs=1e-12)


@pytest.mark.parametrize(
    ("chain", "length", "agreement", "leak"),
    [(STICKY, 5, 0.816, 9.4), (sticky_of(3, 0.9), 4, 0.755, 9.6), (sticky_of(4, 0.9), 3, 0.724, 7.7)],
)
def test_the_known_figures_of_the_window_response(chain: Chain, length: int, agreement: float, leak: float) -> None:
    value = published_window_value(chain, length, 1.0)
    assert value.agreement == pytest.approx(agreement, abs=5e-4)
    assert value.upper == pytest.approx(leak, abs=0.06)


def test_a_window_of_one_is_the_response_itself() -> None:
    single = published_value(ONEWAY.start, 1.0)
    assert published_window_value(ONEWAY, 1, 1.0)[:2] == pytest.approx((single.accuracy, single.upper))
    still = Chain.from_dense([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    assert published_window_value(still, 7, 1.0) == (1.0, 0.0, 0.0)
    assert published_window_value(STICKY, 3, 0.0) == pytest.approx((0.5, 0.0, 0.0))


def test_long_windows_are_worked_out_without_listing_them() -> None:
    """The rarest string of 400 changes at every step; its probability is below the smallest double."""
    expected = math.log(1 - math.exp(-1)) + math.log(2) + 399 * math.log(10)
    assert published_window_value(STICKY, 400, 1.0).upper == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("step", [0.1, 0.02, 0.005])
def test_algorithm_2_stops_far_off(step: float) -> None:
    strings, law = windows_of(STICKY, 2)
    best = 1 - cost_by_linear_program(law, differing(strings), 1.0)
    assert best == pytest.approx(0.785, abs=1e-3)
    value = published_batch_value(STICKY, 2, 1.0, step)
    assert value.finished
    assert 0.655 < value.agreement < 0.68
    assert max(value.upper, value.lower) <= 1.0 + 1e-9


def test_algorithm_2_never_beats_the_program() -> None:
    for chain, length in ((STICKY, 1), (sticky_of(3, 0.6), 2), (ONEWAY, 2)):
        strings, law = windows_of(chain, length)
        for epsilon in (0.5, 2.0):
            value = published_batch_value(chain, length, epsilon, 0.05)
            assert value.agreement <= 1 - cost_by_linear_program(law, differing(strings), epsilon) + 1e-9
            assert max(value.upper, value.lower) <= epsilon + 1e-9


def test_windows_are_the_possible_strings() -> None:
    strings, law = windows_of(ONEWAY, 3)
    rows = [[Fraction(5, 10), Fraction(5, 10), 0], [0, Fraction(8, 10), Fraction(2, 10)], [0, 0, Fraction(1)]]
    start = [Fraction(7, 10), Fraction(3, 10), 0]
    expected = {(a, b, c): start[a] * rows[a][b] * rows[b][c] for a, b, c in itertools.product(range(3), repeat=3)}
    assert strings == [string for string, chance in expected.items() if chance]
    assert law.tolist() == pytest.approx([float(chance) for chance in expected.values() if chance])


def test_too_many_strings_are_refused() -> None:
    for length in (0, 7):
        with pytest.raises(Invalid, match="length"):
            published_batch_value(STICKY, length, 1.0, 0.1)
    with pytest.raises(Invalid, match="length"):
        published_window_value(STICKY, 0, 1.0)
