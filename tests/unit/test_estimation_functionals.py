"""What one release says of its value: unbiased by the whole channel, and known exactly where it can be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from audit_world import settings_of

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from stream.audit.amounts import Floats, Integers
from stream.audit.book import FORECAST as FORECAST_OUTCOME
from stream.audit.book import RELEASE, new_book, new_desk, new_verdicts
from stream.audit.public import Public
from stream.audit.task import public_of
from stream.estimation.functionals import AGAIN, ASTRAY, FORECAST, TOLD, Heard, hear, new_heard
from stream.estimation.inverse import new_workplace

BELIEFS = {
    "even": [0.25, 0.25, 0.25, 0.25],
    "two": [0.55, 0.35, 0.06, 0.04],
    "one": [0.7, 0.1, 0.1, 0.1],
    "sure": [0.97, 0.01, 0.01, 0.01],
    "nearly": [1.0 - 3e-7, 1e-7, 1e-7, 1e-7],
}
MECHANISMS = (
    "optimal",
    "marginal_preserving",
    "near",
    "published_crr",
    "top_k_grr",
    "randomised_response",
    "temporal_ldp",
    "two_budget",
)


class Channel(NamedTuple):
    """Chances of each release by value, the functionals at each release, which are known, and beliefs after it."""

    chances: Floats
    functionals: Floats
    known: Integers
    believed: Floats


def model_of_start(start: list[float]) -> Model:
    size = len(start)
    rows = [[0.9 if x == y else 0.1 / (size - 1) for y in range(size)] for x in range(size)]
    return parse(serialise(Categories([f"v{x}" for x in range(size)]), Chain.from_dense(start, rows), {}))


def public_with(start: list[float], mechanism: str, epsilon: float) -> Public:
    return public_of(settings_of(mechanism=mechanism, epsilon=epsilon, nats="unlimited"), model_of_start(start))


def heard_of(public: Public, events: list[tuple[int, int, int]]) -> Heard:
    """One user's events: step, value and outcome."""
    rows = np.array([[0, step, 0, value, outcome, 0, 0, 0] for step, value, outcome in events], dtype=np.int64)
    found = new_heard(len(events), public.symbols)
    desk, book = new_desk(public.states, public.symbols, public.distance), new_book(1, public.states)
    hear(public.rules, public.law, desk, book, new_workplace(public.symbols), rows, new_verdicts(len(events)), found)
    return found


def channel_of(public: Public) -> Channel:
    """By every first release that a user may make."""
    chances, functionals, believed, known = [], [], [], None
    for value in range(public.symbols):
        found = heard_of(public, [(1, value, RELEASE)])
        if found.kind[0] != TOLD:
            continue
        chances.append(found.column[0])
        functionals.append(found.functional[0])
        believed.append(found.believed[0])
        assert known is None or (known == found.known[0]).all()
        known = found.known[0]
    assert known is not None
    return Channel(np.array(chances).T, np.array(functionals), known, np.array(believed))


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_functionals_have_no_bias_wherever_there_can_be_one_without(mechanism: str, belief: str) -> None:
    found = channel_of(public_with(BELIEFS[belief], mechanism, 1.2))
    assert found.chances.sum(axis=1) == pytest.approx(1.0)
    means = found.chances @ found.functionals
    for value in range(4):
        wanted = np.eye(4)[value]
        solution = np.linalg.lstsq(found.chances, wanted, rcond=1e-12)[0]
        possible = float(np.abs(found.chances @ solution - wanted).max()) < 1e-7
        assert found.known[value] == possible
        assert means[:, value] == pytest.approx(wanted if possible else np.zeros(4), abs=1e-6)


@pytest.mark.parametrize("number", range(24))
def test_the_optimal_channel_has_its_inverse_whatever_is_taken_lent_or_rare(number: int) -> None:
    """Against a solver, over beliefs of all shapes: some values without an output, donors, and rare ones."""
    source = np.random.default_rng(number)
    start = source.dirichlet(np.full(6, (0.2, 0.6, 2.0)[number % 3]))
    start = np.maximum(start, 1e-4) / np.maximum(start, 1e-4).sum()
    found = channel_of(public_with(start.tolist(), "optimal", (0.3, 1.2, 2.0, 3.5)[number // 6]))
    for value in range(6):
        wanted = np.eye(6)[value]
        solution = np.linalg.lstsq(found.chances, wanted, rcond=1e-12)[0]
        possible = float(np.abs(found.chances @ solution - wanted).max()) < 1e-7
        assert found.known[value] == possible
        if possible:
            assert found.functionals[:, value] == pytest.approx(solution, rel=1e-5, abs=1e-6)


def test_what_is_known_depends_on_the_mechanism_and_on_what_is_believed() -> None:
    known = {
        (mechanism, belief): channel_of(public_with(BELIEFS[belief], mechanism, 1.2)).known.tolist()
        for mechanism in ("randomised_response", "optimal", "top_k_grr")
        for belief in ("even", "two", "one")
    }
    assert all(found == [1, 1, 1, 1] for (name, _), found in known.items() if name == "randomised_response")
    # With .55 and .35 the two unlikely values are released as the likeliest one, which is then not told from them.
    assert known["optimal", "two"] == [0, 1, 0, 0]
    assert known["optimal", "one"] == [1, 1, 0, 0]
    assert known["top_k_grr", "even"] == [1, 1, 1, 1]
    assert sum(known["top_k_grr", "one"]) < 4


def test_of_randomised_response_it_is_the_textbook_estimate() -> None:
    found = channel_of(public_with(BELIEFS["two"], "randomised_response", 1.2))
    p, q = found.chances[0, 0], found.chances[0, 1]
    assert found.functionals == pytest.approx((np.eye(4) - q) / (p - q), rel=1e-9)
    assert p / q == pytest.approx(np.exp(1.2), rel=1e-9)


def test_a_release_that_depends_on_no_value_says_nothing() -> None:
    found = channel_of(public_with(BELIEFS["nearly"], "optimal", 1.2))
    assert found.chances.shape[1] == 1
    assert not found.known.any() and not found.functionals.any()


def test_beliefs_are_those_of_bayes() -> None:
    start = BELIEFS["two"]
    found = channel_of(public_with(start, "optimal", 1.2))
    for release, believed in enumerate(found.believed):
        wanted = np.array(start) * found.chances[:, release]
        assert believed == pytest.approx(wanted / wanted.sum(), rel=1e-6)


def test_an_estimate_follows_the_belief_and_leaves_out_what_tells_nothing() -> None:
    public = public_with(BELIEFS["even"], "randomised_response", 1.2)
    told = [
        (1, 0, RELEASE),
        (2, 1, FORECAST_OUTCOME),
        (3, 2, RELEASE),
        (2, 3, RELEASE),
        (9, 1, RELEASE),
        (10, 1, RELEASE),
    ]
    found = heard_of(public, told)
    assert found.kind.tolist() == [TOLD, FORECAST, TOLD, AGAIN, ASTRAY, ASTRAY]
    silent = found.kind != TOLD
    assert not found.functional[silent].any() and not found.known[silent].any()
    assert (found.column[silent] == 1.0).all()
