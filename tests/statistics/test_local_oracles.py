"""Our local mechanisms beside those of three other projects: levels, chances, draws, estimates, variances, the simplex.

Their draws are seeded where they can be; opendp's cannot, so that a comparison with them fails once in a thousand
million runs.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from other_mechanisms import multi_freq, opendp, pure_ldp
from scipy import stats

from beliefs.simplex import on_the_simplex
from mechanisms.contract import TOTAL
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.frequencies import estimate
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.rappor import DrawnRappor, rappor_of_level
from mechanisms.local.registry import drawn, local
from mechanisms.local.unary import DrawnBits

KEY = field_key(bytes(range(32)), "oracles")
FAILURE = 1e-9
VALUES, EPSILON, PEOPLE = 6, 1.5, 3_000
TRUTH = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
WHO = np.repeat(np.arange(VALUES, dtype=np.int64), (TRUTH * PEOPLE).astype(np.int64))


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.seed(7)
    np.random.seed(7)


def ours(name: str, **options: Any) -> Any:
    found = drawn(name, VALUES, EPSILON, **options)
    return found.draw(WHO, report_coins(KEY, 0, PEOPLE, found.words))


def frequencies(name: str, reports: Any, **options: Any) -> np.ndarray:
    return estimate(reports, name, VALUES, EPSILON, **options).estimate.frequencies


def kept_positive(frequencies: np.ndarray) -> np.ndarray:
    """What multi-freq-ldpy makes of an estimate: below 0 it is cut off, and the rest is made to sum to 1."""
    cut = frequencies.clip(0)
    shares: np.ndarray = cut / cut.sum()
    return shares


def assert_drawn_alike(one: np.ndarray, other: np.ndarray) -> None:
    """Two rows of counts of the same people come from one law."""
    table = np.array([one, other], dtype=float)
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > FAILURE


@pytest.mark.parametrize("values", [2, 4, 30])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_opendp_finds_the_same_levels(values: int, epsilon: float) -> None:
    dp = opendp()
    response = drawn("grr", values, epsilon)
    theirs = dp.m.make_randomized_response(categories=list(range(values)), prob=response.high / TOTAL)  # type: ignore[attr-defined]
    assert theirs.map(1) == pytest.approx(response.level, abs=1e-12)
    bits = drawn("sue", values, epsilon)
    assert isinstance(bits, DrawnBits)
    one_hot = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    kept = dp.m.make_randomized_response_bitvec(*one_hot, f=2 * bits.other / TOTAL)
    assert kept.map(1) == pytest.approx(bits.level, abs=1e-9)
    rappor = drawn("rappor", values, epsilon)
    assert isinstance(rappor, DrawnRappor)
    assert kept.map(1) == pytest.approx(rappor.longitudinal, abs=1e-9)
    histogram = local("she", values, epsilon).extras()["scale"]
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    assert dp.m.make_laplace(*space, scale=histogram).map(2.0) == pytest.approx(epsilon, abs=1e-12)


def test_opendp_draws_the_same_responses_and_bits() -> None:
    dp = opendp()
    response = drawn("grr", VALUES, EPSILON)
    theirs = dp.m.make_randomized_response(categories=list(range(VALUES)), prob=response.high / TOTAL)  # type: ignore[attr-defined]
    mine = response.draw(WHO, report_coins(KEY, 0, PEOPLE, response.words))
    told = np.array([theirs(int(value)) for value in WHO])
    cells = VALUES * VALUES
    assert_drawn_alike(
        np.bincount(WHO * VALUES + mine, minlength=cells), np.bincount(WHO * VALUES + told, minlength=cells)
    )
    bits = drawn("sue", 8, EPSILON)
    assert isinstance(bits, DrawnBits)
    one_hot = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    kept = dp.m.make_randomized_response_bitvec(*one_hot, f=2 * bits.other / TOTAL)
    rows = bits.draw(np.full(PEOPLE, 2), report_coins(KEY, 0, PEOPLE, bits.words))
    others = np.array([np.unpackbits(np.frombuffer(kept(bytes([1 << 5])), dtype=np.uint8)) for _ in range(PEOPLE)])
    # Their first bit may be a byte's highest or lowest: the own bit is the one that is 1 more often than not.
    place = int(others.sum(axis=0).argmax())
    for one, other in ((rows[:, 2], others[:, place]), (rows[:, 0], others[:, 7])):
        assert_drawn_alike(np.bincount(one, minlength=2), np.bincount(other, minlength=2))
    assert place in (2, 5)


@pytest.mark.parametrize(
    ("name", "module", "server", "options"),
    [
        ("grr", "direct_encoding", "DEServer", {}),
        ("sue", "unary_encoding", "UEServer", {}),
        ("oue", "unary_encoding", "UEServer", {"use_oue": True}),
        ("the", "histogram_encoding", "HEServer", {"use_the": True, "theta": 0.703125}),
    ],
)
def test_pure_ldp_estimates_the_same_from_our_reports(
    name: str, module: str, server: str, options: dict[str, Any]
) -> None:
    counting = getattr(pure_ldp(f"frequency_oracles.{module}"), server)(EPSILON, VALUES, **options)
    chosen = {"threshold": options["theta"]} if name == "the" else {}
    reports = ours(name, **chosen)
    counting.aggregate_all(list(reports.astype(float) if reports.ndim > 1 else reports))
    theirs = counting.estimate_all(range(1, VALUES + 1), suppress_warnings=True) / PEOPLE
    assert frequencies(name, reports, **chosen) == pytest.approx(theirs, abs=1e-9)
    assert np.abs(theirs - TRUTH).max() < 0.2


def test_pure_ldp_adds_up_our_noisy_cells_to_the_same() -> None:
    found = drawn("she", VALUES, EPSILON)
    assert isinstance(found, DrawnHistogram)
    reports = ours("she")
    counting = pure_ldp("frequency_oracles.histogram_encoding").HEServer(EPSILON, VALUES)
    counting.aggregate_all(list(reports / found.per_unit))
    theirs = counting.estimate_all(range(1, VALUES + 1), suppress_warnings=True) / PEOPLE
    # They do not know of the cut; it moves what they find by a millionth.
    assert frequencies("she", reports) == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(("name", "options"), [("blh", {"g": 2}), ("olh", {"use_olh": True})])
def test_pure_ldp_estimates_the_same_from_its_own_hashes(name: str, options: dict[str, Any]) -> None:
    hashing = pure_ldp("frequency_oracles.local_hashing")
    client, server = hashing.LHClient(EPSILON, VALUES, **options), hashing.LHServer(EPSILON, VALUES, **options)
    server.aggregate_all([client.privatise(int(value) + 1) for value in WHO])
    found = local(name, VALUES, EPSILON)
    assert (server.g, server.p) == (found.extras()["hash_range"], pytest.approx(found.p, abs=1e-12))
    told = found.estimate(server.aggregated_data, PEOPLE)
    theirs = server.estimate_all(range(1, VALUES + 1), suppress_warnings=True) / PEOPLE
    assert told.frequencies == pytest.approx(theirs, abs=1e-9)
    assert (np.abs(theirs - TRUTH) < 7 * np.sqrt(told.variances)).all()
    mine = drawn(name, VALUES, EPSILON).counts(ours(name))
    for value in range(VALUES):
        counts = [[int(seen[value]), PEOPLE - int(seen[value])] for seen in (mine, server.aggregated_data)]
        assert_drawn_alike(np.array(counts[0]), np.array(counts[1]))


@pytest.mark.parametrize(
    ("name", "module", "client", "options"),
    [
        ("grr", "direct_encoding", "DEClient", {}),
        ("sue", "unary_encoding", "UEClient", {}),
        ("oue", "unary_encoding", "UEClient", {"use_oue": True}),
    ],
)
def test_pure_ldp_draws_from_the_same_law(name: str, module: str, client: str, options: dict[str, Any]) -> None:
    drawing = getattr(pure_ldp(f"frequency_oracles.{module}"), client)(EPSILON, VALUES, **options)
    theirs = np.array([drawing.privatise(int(value) + 1) for value in WHO])
    mine = ours(name)
    found = drawn(name, VALUES, EPSILON)
    for value in range(VALUES):
        those = value == WHO
        one, other = found.counts(mine[those]), found.counts(theirs[those])
        if name == "grr":
            assert_drawn_alike(one, other)
            continue
        for bit in range(VALUES):
            assert_drawn_alike(
                np.array([one[bit], those.sum() - one[bit]]), np.array([other[bit], those.sum() - other[bit]])
            )


def test_the_nearest_law_is_that_of_pure_ldp() -> None:
    project = pure_ldp("core.prob_simplex").project_probability_simplex
    generator = np.random.default_rng(71)
    for _ in range(300):
        values = generator.normal(0.2, 0.5, int(generator.integers(2, 30)))
        assert on_the_simplex(values) == pytest.approx(project(values.copy()), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "module", "options"),
    [
        ("grr", "GRR", {}),
        ("sue", "UE", {"optimal": False}),
        ("oue", "UE", {"optimal": True}),
        ("ss", "SS", {}),
        ("she", "HE", {"use_thresh": False}),
    ],
)
def test_multi_freq_ldpy_estimates_the_same_from_our_reports(name: str, module: str, options: dict[str, Any]) -> None:
    theirs = multi_freq(f"pure_frequency_oracles.{module}")
    counted = getattr(theirs, f"{module}_Aggregator_MI")
    # They take the nearest whole number for the size of a set.
    chosen = {"subset_size": round(VALUES / (math.exp(EPSILON) + 1))} if name == "ss" else {}
    reports = ours(name, **chosen)
    mine = kept_positive(frequencies(name, reports, **chosen))
    given = [np.flatnonzero(row) for row in reports] if name == "ss" else list(reports)
    told = counted(given, EPSILON, **options) if module == "UE" else counted(given, VALUES, EPSILON, **options)
    assert mine == pytest.approx(told, abs=1e-5 if name == "she" else 1e-9)


def test_multi_freq_ldpy_finds_the_same_variances() -> None:
    variance = multi_freq("pure_frequency_oracles.Variance_PURE").VAR_Pure
    for name in ("grr", "exp", "sue", "oue", "rappor", "blh", "olh", "ss", "the"):
        found = local(name, VALUES, EPSILON)
        assert found.p is not None
        assert found.q is not None
        told = found.estimate(PEOPLE * (TRUTH * (found.p - found.q) + found.q), PEOPLE)
        theirs = [variance(found.p, found.q, PEOPLE, share) for share in TRUTH]
        assert told.variances == pytest.approx(theirs, rel=1e-9)


def test_multi_freq_ldpy_takes_nearly_the_same_threshold() -> None:
    scatter = multi_freq("pure_frequency_oracles.HE").find_tresh.py_func
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        chosen = local("the", VALUES, epsilon).extras()["threshold"]
        assert isinstance(chosen, float)
        tried = np.linspace(0.5, 1.0, 2_001)
        best = float(tried[np.argmin([scatter(each, epsilon) for each in tried])])
        assert abs(chosen - best) <= 1 / 128 + 1e-3


def test_multi_freq_ldpy_keeps_bits_as_we_do() -> None:
    """Theirs is RAPPOR with both steps symmetric; the second one is chosen by the level that one report has."""
    together, once = EPSILON, 0.8
    low, high = 0.5, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (middle, high) if rappor_of_level(VALUES, together, 1 - middle, middle).level < once else (low, middle)
        )
    options = {"report_zero": 1 - high, "report_one": high}
    reports = ours("rappor", **options)
    theirs = multi_freq("long_freq_est.L_SUE")
    told = theirs.L_SUE_Aggregator_MI(list(reports), together, once)
    assert kept_positive(frequencies("rappor", reports, **options)) == pytest.approx(told, abs=1e-9)
    drawing = theirs.L_SUE_Client.py_func
    others = np.array([drawing(int(value), VALUES, together, once) for value in WHO])
    assert_drawn_alike(np.bincount(reports[:, 0], minlength=2), np.bincount(others[:, 0].astype(int), minlength=2))
    found = rappor_of_level(VALUES, together, 1 - high, high)
    variance = multi_freq("long_freq_est.Variance_LONG_PURE").VAR_Long_Pure
    kept = 1 / (1 + math.exp(-together / 2))
    stated = found.estimate(np.full(VALUES, PEOPLE * found.q), PEOPLE).variances
    assert stated == pytest.approx(np.full(VALUES, variance(kept, 1 - kept, high, 1 - high, PEOPLE, 0.0)), rel=1e-9)
