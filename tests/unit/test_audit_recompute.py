"""The auditor's own arithmetic gives the pipeline's bits, whatever the mechanism, the model and the budget."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from audit_world import model_of, run
from hypothesis import given
from hypothesis import strategies as st

from beliefs.alphabet import Alphabet, Bins, Grid, IntegerRange
from beliefs.forward import chain_arrays
from beliefs.leakage.robust import chain_error_units, one_step_units, robust_epsilon, withheld_units
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units, log_units_up
from mechanisms.contract import constants_table
from stream.audit.amounts import constants_by_level, exponential, log_units, units_within, withheld, wrong_model
from stream.audit.book import MECHANISMS
from stream.audit.law import law_of
from stream.state import new_users

WHEN_SPENT = ("forecast", "forecast_draw", "suppress", "stop")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("when_spent", WHEN_SPENT)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("symbols", [1, 2, 10, 100])
def test_the_audit_agrees_with_the_changelog_to_the_last_bit(
    mechanism: str, when_spent: str, sparse: bool, symbols: int
) -> None:
    finished = run(symbols, events=1200, users=12, sparse=sparse, mechanism=mechanism, when_spent=when_spent)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"]
    assert report.tally.forecast == finished.outcomes["forecast"]
    assert report.tally.suppressed == finished.outcomes["suppressed"]
    assert report.dead_letters == finished.outcomes["dead_lettered"] == 24
    assert report.inputs == 1200


@pytest.mark.parametrize("settings", [{"nats": "unlimited"}, {"window": "forever"}, {"epsilon": 8.0, "nats": 20}])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_it_agrees_under_other_budgets(mechanism: str, settings: dict[str, Any]) -> None:
    report = run(5, events=800, mechanism=mechanism, **settings).report()
    assert [finding.as_json() for finding in report.findings] == []


@pytest.mark.parametrize("mechanism", ["optimal", "marginal_preserving", "near"])
@pytest.mark.parametrize("radius", [0.002, 0.1, 0.9])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_it_agrees_on_what_is_withheld_for_a_radius(mechanism: str, radius: float, sparse: bool) -> None:
    finished = run(10, events=1200, users=12, sparse=sparse, mechanism=mechanism, radius=radius)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"] > 0
    assert max(report.tally.largest) <= 2**40


def test_releases_with_another_radius_are_found() -> None:
    finished = run(10, radius=0.1)
    public = replace(finished.task().public, rules=run(10, radius=0.05).task().public.rules)
    assert "state_differs" in finished.report(public=public).findings.codes()


@pytest.mark.parametrize("error", [1e-4, 0.01, 5.0])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_it_agrees_on_what_is_withheld_for_a_wrong_chain(error: float, sparse: bool) -> None:
    finished = run(10, events=1200, users=12, sparse=sparse, chain_error=error)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"] > 0


def test_releases_with_another_chain_error_are_found() -> None:
    finished = run(10, chain_error=0.001)
    public = replace(finished.task().public, rules=run(10).task().public.rules)
    assert "state_differs" in finished.report(public=public).findings.codes()


@given(
    st.floats(min_value=0.0, max_value=16.0),
    st.integers(0, 2**32),
    st.integers(1, 16),
    st.integers(1, 64),
    st.booleans(),
)
def test_how_far_models_come_apart_is_found_alike(
    error: float, contraction: int, span: int, values: int, by_clock: bool
) -> None:
    beliefs = chain_error_units(error, contraction, span)
    further = 2 * beliefs if by_clock else one_step_units(error)
    limit = 32 * UNITS_PER_NAT
    wanted = 0 if error == 0 else beliefs + (values - 1) * further
    assert min(limit, wrong_model(error, contraction, span, values, by_clock=by_clock)) == min(limit, wanted)


@given(st.floats(min_value=1e-6, max_value=32.0), st.floats(min_value=0.0, max_value=1.0, exclude_max=True))
def test_what_is_withheld_is_found_alike(epsilon: float, radius: float) -> None:
    units = budget_units(epsilon)
    kept_back = withheld(units, radius)
    assert kept_back == withheld_units(units, radius)
    asked = units / 2**40
    wanted = robust_epsilon(asked, radius)
    assert (units - kept_back) / 2**40 == pytest.approx(wanted, abs=2**-40 + 2**-47 * max(1.0, asked))


@pytest.mark.parametrize("symbols", [2, 10, 60])
@pytest.mark.parametrize("distance", ["hamming", "table", "cost_table"])
def test_it_agrees_on_what_is_near(tmp_path: Path, distance: str, symbols: int) -> None:
    file = tmp_path / "distances.json"
    costs = np.random.default_rng(symbols).uniform(0.0, 5.0, (symbols, symbols))
    if distance == "table":
        np.fill_diagonal(costs, 0.0)
    file.write_text(json.dumps(costs.tolist()), encoding="utf-8")
    written = distance if distance == "hamming" else f"{{{distance}: {file}}}"
    finished = run(symbols, events=1200, users=12, mechanism="near", distance=written)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"] > 0
    assert report.tally.forecast == finished.outcomes["forecast"]


HILLS = Grid(Bins(47.3, 47.5, 6), Bins(8.4, 8.7, 7))


@pytest.mark.parametrize(
    ("alphabet", "distance"),
    [
        (IntegerRange(-3, 20), "absolute"),
        (Bins(-10.0, 40.0, 37), "squared"),
        (HILLS, "euclidean"),
        (Grid(HILLS.rows, HILLS.columns, ("lat", "lon")), "haversine"),
        (Grid(Bins(0.0, 1.0, 15), Bins(0.0, 1.0, 12, "clamp")), "euclidean"),
    ],
    ids=["integers", "bins", "grid", "named grid", "more than 128 cells"],
)
def test_it_agrees_on_numbers_and_places(alphabet: Alphabet, distance: str) -> None:
    finished = run(alphabet.size, events=600, users=6, mechanism="near", distance=distance, alphabet=alphabet)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"] > 0


def test_a_value_that_is_no_middle_is_found() -> None:
    finished = run(37, events=300, mechanism="near", distance="absolute", alphabet=Bins(-10.0, 40.0, 37))
    one = finished.released()[5]
    document = orjson.loads(one.value or b"")
    finished.released()[5] = replace(one, value=orjson.dumps({**document, "activity": document["activity"] + 1e-9}))
    assert "unusable_record" in finished.report().findings.codes()


def test_another_distance_is_another_policy_and_another_channel(tmp_path: Path) -> None:
    file = tmp_path / "distances.json"
    line = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    file.write_text(json.dumps(line.tolist()), encoding="utf-8")
    finished = run(5, mechanism="near", distance=f"{{table: {file}}}")
    assert finished.report().agrees
    before = finished.task()
    file.write_text(json.dumps((line**2).tolist()), encoding="utf-8")
    assert "wrong_policy" in finished.report().findings.codes()
    public = replace(before.public, distance=finished.task().public.distance)
    found = finished.report(public=public, owner=before.owner).findings.codes()
    assert found & {"impossible_value", "state_differs"}


def test_it_agrees_after_values_that_the_model_calls_impossible() -> None:
    """Without a budget's bound the published mechanism releases them; the release alone is believed from then on."""
    report = run(10, mechanism="published_crr", sparse=True, nats="unlimited").report()
    assert [finding.as_json() for finding in report.findings] == []


@pytest.mark.parametrize("mechanism", ["optimal", "marginal_preserving"])
def test_it_agrees_where_beliefs_fall_below_the_smallest_that_is_kept(mechanism: str) -> None:
    """A hundred values in a ring: in a minute of forecasts a belief falls below 2^-126, and its drift is unknown from
    then on.

    In the next minute there are releases again, built and charged for a belief that may be anything.
    """
    finished = run(100, events=3000, users=5, sparse=True, mechanism=mechanism, nats=2)
    states = [one.value or b"" for one in finished.states() if one.key is not None and one.key[:1] == b"u"]
    unknown = [row for row in states if row[60:64] == b"\xff" * 4]
    assert len({row[16:24] for row in unknown}) > 5
    assert finished.report().agrees


def test_all_outcomes_occur_in_these_runs() -> None:
    outcomes = run(4, events=1200, users=12, when_spent="suppress").outcomes
    outcomes |= {name: count for name, count in run(4, events=1200, users=12).outcomes.items() if count}
    assert all(outcomes[name] for name in ("released", "forecast", "suppressed", "dead_lettered"))


@given(st.floats(allow_nan=True, allow_infinity=True).map(abs))
def test_logarithms_are_those_of_the_ledger(ratio: float) -> None:
    assert log_units(ratio) == log_units_up(ratio)


@given(st.floats(min_value=1e-12, max_value=32.0))
def test_constants_are_those_of_the_mechanisms(epsilon: float) -> None:
    units = budget_units(epsilon)
    assert units_within(epsilon) == units
    assert np.array_equal(constants_by_level(units), constants_table(units))


@given(st.integers(min_value=1, max_value=32 * 2**40))
def test_the_exponential_is_right_to_the_last_place(units: int) -> None:
    near = math.exp(units / 2**40)
    assert abs(exponential(units) / Fraction(near) - 1) < Fraction(1, 2**47)


def test_an_unlimited_budget_is_without_bound() -> None:
    assert units_within(math.inf) == INFINITE == budget_units(math.inf)


@pytest.mark.parametrize("symbols", [1, 2, 10, 100])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_contraction_is_worked_out_alike(symbols: int, sparse: bool) -> None:
    chain = model_of(symbols, sparse=sparse).chain
    assert law_of(chain).contraction == chain_arrays(chain).contraction


def test_a_new_user_is_what_the_engine_takes_it_for() -> None:
    heads, codes = new_users(1, 3)
    assert heads[0, 6] == 0
    assert not codes.any()
