from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from correlation_oracles import leak_by_outputs, some_conditionals
from mechanism_outputs import channel, support

from beliefs.checks import Invalid
from beliefs.correlation.outputs import level_of, sets_leak
from mechanisms.local.estimate import from_support, squared_error
from mechanisms.local.hashing import olh
from mechanisms.local.histogram import the
from mechanisms.local.rappor import rappor
from mechanisms.local.registry import MECHANISMS, local
from mechanisms.local.subset import subset_selection

ENUMERATED = ("grr", "exp", "oue", "sue", "rappor", "blh", "olh", "ss", "the")
EPSILONS = (0.2, 1.0, 2.0)


@pytest.mark.parametrize("name", ENUMERATED)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_level_and_the_support_are_those_of_every_output(name: str, epsilon: float) -> None:
    for values in (2, 3, 4):
        chosen, rows, supports = (
            local(name, values, epsilon),
            channel(name, values, epsilon),
            support(name, values, epsilon),
        )
        assert level_of(rows) == pytest.approx(chosen.level, abs=1e-12)
        chances = rows @ supports.T
        assert np.diag(chances) == pytest.approx(np.full(values, chosen.p))
        others = chances[~np.eye(values, dtype=bool)]
        assert others == pytest.approx(np.full(others.size, chosen.q))


@pytest.mark.parametrize("name", ENUMERATED)
def test_the_sets_of_a_mechanism_are_its_worst_outputs(name: str) -> None:
    generator = np.random.default_rng(41)
    for laws in some_conditionals(generator, 60, size_max=4):
        epsilon = float(generator.choice(EPSILONS))
        chosen = local(name, laws.shape[1], epsilon)
        want = leak_by_outputs(laws, channel(name, laws.shape[1], epsilon))
        assert sets_leak(laws, chosen.worst_sets(), chosen.level) == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("name", ENUMERATED)
def test_the_guess_is_right_as_often_as_enumeration_says(name: str) -> None:
    for values, epsilon in itertools.product((2, 3, 4), EPSILONS):
        rows, supports = channel(name, values, epsilon), support(name, values, epsilon)
        named = supports / np.maximum(supports.sum(axis=0), 1) + (supports.sum(axis=0) == 0) / values
        right = (rows * named).sum(axis=1)
        guess = local(name, values, epsilon).guess()
        assert right == pytest.approx(np.full(values, guess.correct))
        assert guess.correct + guess.wrong == pytest.approx(1.0)
        assert guess.effective == pytest.approx(math.log(guess.correct * (values - 1) / guess.wrong), abs=1e-12)
        guessed = rows @ named.T
        assert level_of(guessed / guessed.sum(axis=1, keepdims=True)) == pytest.approx(guess.effective, abs=1e-9)


def test_the_guess_of_a_histogram_is_right_as_often_as_quadrature_says() -> None:
    for values, epsilon in itertools.product((2, 5, 40), (0.3, 1.0, 4.0)):
        # E max_v e^(epsilon/2 (|y_v| - |y_v - 1|)) over independent Laplace cells, divided by the number of values.
        ends, weights = np.polynomial.legendre.leggauss(200)
        places, weights = 0.5 * (ends + 1.0), 0.5 * weights
        below = (1.0 - 0.5 * np.exp(-epsilon * places / 2.0)) ** values
        rises = epsilon * np.exp(epsilon / 2.0 * (2.0 * places - 1.0))
        mean = math.exp(-epsilon / 2.0) + float((weights * (1.0 - below) * rises).sum())
        assert local("she", values, epsilon).guess().correct == pytest.approx(mean / values, rel=1e-10)


@pytest.mark.parametrize("name", MECHANISMS)
def test_budgets_of_thousands_do_not_overflow(name: str) -> None:
    for epsilon in (0.0, 1e-12, 300.0, 710.0, 2_000.0):
        chosen = local(name, 15, epsilon)
        guess = chosen.guess()
        assert 0.0 <= guess.effective <= epsilon + 1e-9 or name in ("oue", "olh", "blh", "ss")
        assert 1 / 15 - 1e-9 <= guess.correct <= 1.0
        assert chosen.p is None or chosen.q is None or 0.0 <= chosen.q <= chosen.p <= 1.0
    assert local(name, 1, 1.0).guess() == (1.0, 0.0, 0.0)


def test_hash_ranges_and_subset_sizes() -> None:
    assert [olh(5, epsilon).hash_range for epsilon in (0.0, 1.0, 2.0)] == [2, 4, 8]
    assert olh(5, 750.0).hash_range > 10**325
    assert [subset_selection(14, epsilon).size for epsilon in (0.0, 1.0, 3.0, 2_000.0)] == [7, 3, 1, 1]
    for size in (0, 14, 15):
        with pytest.raises(Invalid):
            subset_selection(14, 1.0, size)
    for wrong in (("laplace", 3, 1.0), ("grr", 0, 1.0), ("oue", 3, -1.0), ("ss", 3, math.nan), ("grr", 3, math.inf)):
        with pytest.raises(Invalid):
            local(*wrong)
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(Invalid):
            rappor(3, share, 0.5, 0.75)


def test_two_step_bits_tell_less_in_a_round_than_for_ever() -> None:
    for flip, zero, one in ((0.5, 0.5, 0.75), (0.25, 0.1, 0.9), (0.9, 0.0, 1.0), (0.5, 0.75, 0.25)):
        bits = rappor(3, flip, zero, one)
        named = bits.extras()["longitudinal"]
        assert isinstance(named, float)
        assert level_of(bits.channel()) == pytest.approx(bits.level, abs=1e-12)
        assert bits.level <= named + 1e-12
    assert rappor(3, 0.5, 0.5, 0.75).level == pytest.approx(math.log(0.6875 * 0.4375 / (0.5625 * 0.3125)))
    assert rappor(3, 0.0, 0.5, 0.75).extras()["longitudinal"] == math.inf
    assert rappor(3, 1.0, 0.5, 0.75).level == rappor(3, 0.5, 0.3, 0.3).level == 0.0
    assert rappor(3, 0.0, 0.0, 1.0).level == math.inf


def test_thresholds_of_a_histogram_are_bits() -> None:
    for threshold in (0.5, 0.67, 1.0):
        bits = the(3, 1.0, threshold)
        assert level_of(bits.channel()) == pytest.approx(bits.level, abs=1e-12)
        assert bits.level <= 1.0
        assert bits.p == pytest.approx(1.0 - 0.5 * math.exp(-(1.0 - threshold) / 2.0))
    with pytest.raises(Invalid):
        the(3, 1.0, 0.4)


@pytest.mark.parametrize("name", ENUMERATED)
def test_estimates_are_unbiased_and_as_uncertain_as_they_say(name: str) -> None:
    """All combinations of the reports of three people, each with its exact chance."""
    values, people = 3, (0, 0, 2)
    rows, supports = channel(name, values, 1.0), support(name, values, 1.0)
    kept = np.unique(supports.T, axis=0)
    chances = np.array([[rows[x][(each == supports.T).all(axis=1)].sum() for each in kept] for x in range(values)])
    chosen, mean, square = local(name, values, 1.0), np.zeros(values), np.zeros(values)
    for reports in itertools.product(range(len(kept)), repeat=len(people)):
        chance = math.prod(chances[x][y] for x, y in zip(people, reports, strict=True))
        found = chosen.estimate(kept[list(reports)].sum(axis=0).astype(float), len(people)).frequencies
        mean += chance * found
        square += chance * found**2
    truth = np.array([people.count(v) / len(people) for v in range(values)])
    assert mean == pytest.approx(truth, abs=1e-12)
    # The variance that is stated, at the true frequency.
    p, q = chosen.p, chosen.q
    assert p is not None
    assert q is not None
    stated = from_support(len(people) * (truth * (p - q) + q), len(people), p, q).variances
    assert square - mean**2 == pytest.approx(stated, abs=1e-12)


def test_the_mean_of_histograms_is_unbiased() -> None:
    found = local("she", 2, 0.5).estimate(np.array([30.0, 10.0]), 40)
    assert found.frequencies.tolist() == [0.75, 0.25]
    assert found.variances == pytest.approx(np.full(2, 2 * (2 / 0.5) ** 2 / 40))
    low, high = found.interval(0.95)
    assert (high - low) == pytest.approx(2 * 1.959964 * np.sqrt(found.variances), rel=1e-6)
    with pytest.raises(Invalid):
        found.interval(1.0)
    for name in MECHANISMS:
        with pytest.raises(Invalid):
            local(name, 3, 0.0).estimate(np.ones(3), 3)


def test_the_squared_error_is_relative_to_the_truth() -> None:
    assert squared_error(np.array([0.5, 0.1]), np.array([0.4, 0.3])) == pytest.approx(0.05 / 0.25)
