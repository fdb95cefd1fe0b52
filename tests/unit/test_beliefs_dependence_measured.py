"""Information, accuracy, underestimated ties and attacks: each against its definition by a way of its own."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, special

from beliefs.checks import Invalid
from beliefs.dependence.accuracy import LARGEST, SUM, chance_beyond, margin_of, upper_gamma
from beliefs.dependence.attack import attack, entropy_bits
from beliefs.dependence.information import entropy, information_bound, mutual_information, told_about
from beliefs.dependence.underestimate import kept


def integral(prior: np.ndarray, rows: np.ndarray, support: np.ndarray, scale: float) -> float:
    def told(output: float) -> float:
        shown = (rows * np.exp(-np.abs(output - support) / scale) / (2.0 * scale)).sum(axis=1)
        return float((prior * shown * np.log(shown / (prior * shown).sum())).sum())

    marks = [support[0] - 40.0 * scale, *support, support[-1] + 40.0 * scale]
    pieces = [integrate.quad(told, *pair, epsabs=1e-13, limit=200)[0] for pair in itertools.pairwise(marks)]
    return math.fsum(pieces)


def test_mutual_information_is_its_integral() -> None:
    generator = np.random.default_rng(1)
    for _ in range(40):
        values, size = int(generator.integers(2, 4)), int(generator.integers(2, 5))
        prior, rows = generator.dirichlet(np.ones(values)), generator.dirichlet(np.full(size, 0.5), values)
        support = np.sort(generator.choice(np.arange(-5.0, 6.0), size, replace=False))
        scale = float(generator.choice([0.2, 1.0, 5.0]))
        want = integral(prior, rows, support, scale)
        found = told_about(prior, rows, support, scale)
        assert want - 1e-11 <= found.nats <= want + 1e-10
        assert found.nats <= found.bound
        assert found.nats <= entropy(prior)


def test_information_at_its_ends() -> None:
    bits, fair = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    assert told_about(fair, np.eye(2), bits, 1e-9).bits == pytest.approx(1.0)
    assert told_about(fair, np.eye(2), bits * 1e300, 1e-300).bits == pytest.approx(1.0)
    assert told_about(fair, np.full((2, 2), 0.5), bits, 1.0)[:3] == (0.0, 0.0, 0.0)
    assert told_about(np.array([1.0, 0.0]), np.eye(2), bits, 1.0)[:3] == (0.0, 0.0, 0.0), "no doubt, nothing to learn"
    assert told_about(fair, np.ones((2, 1)), np.zeros(1), 1.0).nats == 0.0
    wide = told_about(fair, np.eye(2), bits, 1e6)
    assert wide.epsilon == pytest.approx(1e-6)
    assert wide.nats <= wide.bound == pytest.approx(1e-12 / 8.0)
    far = mutual_information(fair, np.eye(2), np.array([0.0, 20_000.0]), 1.0)
    assert far == pytest.approx(math.log(2.0), rel=1e-11)
    for prior, rows, support, field in (
        (fair, np.ones((1, 1)), np.zeros(1), "conditional"),
        (fair, np.eye(2), np.zeros(1), "support"),
        (fair, np.eye(2), np.array([1.0, 0.0]), "support"),
    ):
        with pytest.raises(Invalid) as refused:
            told_about(prior, rows, support, 1.0)
        assert refused.value.field == field


def test_the_information_bound_holds_for_subset_mechanisms_and_is_nearly_reached_by_one() -> None:
    """k of n values with odds of e^epsilon, uniform prior: ln of each output's chance over the mean."""
    for epsilon in (0.02, 0.3, 1.0, 4.0):
        high, best = math.exp(epsilon), 0.0
        for share in np.linspace(1e-4, 1.0 - 1e-4, 20_001):
            mean = share * high + 1.0 - share
            best = max(best, share * high / mean * math.log(high / mean) + (1.0 - share) / mean * math.log(1.0 / mean))
        assert best <= information_bound(epsilon) * (1.0 + 1e-7)
        assert best >= information_bound(epsilon) * (1.0 - 1e-4)
        assert information_bound(epsilon) <= min(epsilon, epsilon**2 / 8.0) * (1.0 + 1e-12)
    assert information_bound(0.0) == 0.0
    assert information_bound(0.01) == pytest.approx(information_bound(np.nextafter(0.01, 0.0)), rel=1e-9)
    assert information_bound(math.inf) == math.inf
    assert information_bound(2_000.0) == pytest.approx(2_000.0 - 1.0 - math.log(2_000.0))


@pytest.mark.parametrize("coordinates", [1, 2, 7, 15, 16, 96, 1_000, 1_000_000])
def test_chances_of_noise_are_the_gamma_law(coordinates: int) -> None:
    deviation = math.sqrt(coordinates)
    for away in (-5.0, -1.0, 0.0, 0.7, 6.0, 30.0):
        margin = coordinates + away * deviation
        if margin > 0.0:
            want = float(special.gammaincc(coordinates, margin))
            assert chance_beyond(margin, coordinates, SUM) == pytest.approx(want, rel=1e-9, abs=1e-300)
    for failure in (1e-12, 0.05, 0.5, 0.999):
        want = float(special.gammainccinv(coordinates, failure))
        assert margin_of(failure, coordinates, SUM) == pytest.approx(want, rel=1e-9)
        margin = margin_of(failure, coordinates, LARGEST)
        assert chance_beyond(margin, coordinates, LARGEST) == pytest.approx(failure, rel=1e-9)


def test_chances_at_their_ends() -> None:
    for norm in (SUM, LARGEST):
        assert chance_beyond(0.0, 3, norm) == 1.0
        assert margin_of(0.0, 3, norm) == math.inf
        assert margin_of(1.0, 3, norm) == 0.0
        assert chance_beyond(1e308, 3, norm) == 0.0
        assert chance_beyond(1e-9, 1, norm) == pytest.approx(1.0 - 1e-9)
        assert chance_beyond(3.0, 1, norm) == pytest.approx(math.exp(-3.0))
    assert chance_beyond(700.0, 1 << 40, LARGEST) == pytest.approx(2.0**40 * math.exp(-700.0))
    assert upper_gamma(1 << 20, 2.0**20) == pytest.approx(0.5, abs=1e-3)


def test_what_accuracy_says_of_the_published_figure() -> None:
    """Margin 1,000 at epsilon 1: group noise for 6,969 users succeeds with .134; 99 % need 217, or 8.3 in 96 places."""
    assert 1.0 - chance_beyond(1_000.0 / 6_969.0, 1, SUM) == pytest.approx(0.134, abs=5e-4)
    assert 1_000.0 / margin_of(0.01, 1, SUM) == pytest.approx(217.0, abs=0.2)
    assert 1_000.0 / margin_of(0.01, 96, SUM) == pytest.approx(8.3, abs=0.05)


def test_underestimated_ties_keep_a_larger_epsilon_and_the_nominal_one_with_a_delta() -> None:
    for sensitivity, own, fraction, epsilon in ((5.0, 1.0, 0.8, 1.0), (3.0, 3.0, 0.0, 0.4), (2.0, 0.5, 0.0, 3.0)):
        found = kept(sensitivity, own, fraction, epsilon)
        scale = (own + fraction * (sensitivity - own)) / epsilon
        assert found.epsilon == pytest.approx(sensitivity / scale)

        def excess(at: float, scale: float = scale, shift: float = sensitivity, epsilon: float = epsilon) -> float:
            one, two = (math.exp(-abs(at - mean) / scale) / (2.0 * scale) for mean in (0.0, shift))
            return max(0.0, one - math.exp(epsilon) * two)

        ends = -60.0 * scale, 0.0, 0.5 * (sensitivity - epsilon * scale), sensitivity
        want = math.fsum(integrate.quad(excess, *pair)[0] for pair in itertools.pairwise(ends))
        assert found.delta == pytest.approx(want, abs=1e-9)
        assert found.epsilon * max(fraction, own / sensitivity) <= epsilon * (1.0 + 1e-12)
    assert kept(2.0, 0.0, 0.0, 1.0) == (math.inf, 1.0)
    assert kept(1.0, 0.0, 1e-3, 1_000.0).epsilon == pytest.approx(1e6)
    with pytest.raises(Invalid, match="own_sensitivity"):
        kept(1.0, 2.0, 0.5, 1.0)


def test_an_attack_is_bayes_rule() -> None:
    generator = np.random.default_rng(5)
    for _ in range(50):
        places, coordinates = int(generator.integers(1, 6)), int(generator.integers(1, 4))
        counts, weights = generator.integers(0, 4, places) + 1e-3, generator.random(places) + 0.01
        released, known = generator.normal(size=(2, coordinates))
        candidates = generator.normal(size=(places, coordinates))
        epsilon, sensitivity, smoothing = generator.uniform(0.1, 4.0, 3)
        found = attack(counts, released, known, candidates, epsilon, sensitivity, weights, smoothing)
        shares = (counts + smoothing) / (counts + smoothing).sum()
        prior = shares * weights / (shares * weights).sum()
        likely = prior * np.exp(-epsilon * np.abs(released - known - candidates).sum(axis=1) / sensitivity)
        posterior = likely / likely.sum()
        assert found.prior == pytest.approx(prior.tolist())
        assert found.posterior == pytest.approx(posterior.tolist())
        assert found.guess == int(posterior.argmax())
        assert found.context_bits == pytest.approx(entropy_bits(shares) - entropy_bits(prior), abs=1e-12)
        assert found.release_bits == pytest.approx(entropy_bits(prior) - entropy_bits(posterior), abs=1e-12)


def test_attacks_at_the_ends_of_the_doubles() -> None:
    counts, one = np.array([1.0, 1.0, 0.0]), np.ones(1)
    candidates = np.array([[1e308], [-1e308], [0.0]])
    sure = attack(counts, np.array([1e308]), np.array([-1e308]), candidates, 1e300, 1e-300)
    assert sure.posterior == [1.0, 0.0, 0.0]
    assert sure.guess == 0
    alike = attack(counts, one, one, np.zeros((3, 1)), 2_000.0, 1.0)
    assert (alike.guess, alike.release_bits) == (0, 0.0)
    smoothed = attack(np.zeros(3), one, one, np.zeros((3, 1)), 1.0, 1.0, smoothing=0.5)
    assert smoothed.prior == pytest.approx([1.0 / 3.0] * 3)
    for change, field in (
        ({"counts": np.zeros(3)}, "counts"),
        ({"prior_weights": np.array([0.0, 0.0, 1.0])}, "prior_weights"),
        ({"prior_weights": np.zeros(3)}, "prior_weights"),
        ({"prior_weights": np.ones(2)}, "prior_weights"),
        ({"known_total": np.ones(2)}, "known_total"),
        ({"candidates": np.zeros((2, 1))}, "candidates"),
        ({"candidates": np.zeros((3, 2))}, "candidates"),
    ):
        given = {"counts": counts, "released": one, "known_total": one, "candidates": np.zeros((3, 1))}
        with pytest.raises(Invalid) as refused:
            attack(**{**given, **change}, epsilon=1.0, sensitivity=1.0)  # type: ignore[arg-type]
        assert refused.value.field == field


def test_a_margin_is_where_its_chance_is() -> None:
    for coordinates in (2, 50):
        want = optimize.brentq(lambda margin: special.gammaincc(coordinates, margin) - 0.3, 1e-3, 500.0)  # noqa: B023
        assert margin_of(0.3, coordinates, SUM) == pytest.approx(want, rel=1e-10)
