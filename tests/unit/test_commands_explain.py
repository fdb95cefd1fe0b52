"""What `explain` says of a pipeline, and what it refuses to promise."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_house import STICKY, change, make_house, run

from beliefs.chain import Chain
from stream.commands.expectation import Promised, one_day, without_budget
from stream.commands.explain import worst_per_day, worst_per_event
from stream.least_belief import belief_floor, least_belief
from stream.names import EVENTS_A_DAY, EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return make_house(tmp_path)


def test_the_published_mechanism_is_refused_where_it_breaks_its_promise(house: Path) -> None:
    path = change(house, "name: optimal", "name: published_crr")
    told = run("validate", path)
    assert told.exit_code == EXIT_REFUSED
    assert "c.yaml:16: mechanism.name" in told.stderr
    assert "0.05" in told.stderr
    assert "accept_unbounded: true" in told.stderr
    change(house, "epsilon: 1.0", "epsilon: 1.0\n  accept_unbounded: true")
    accepted = run("validate", path)
    assert accepted.exit_code == EXIT_DONE
    assert "WARNING: published_crr tells more than epsilon" in accepted.stdout
    explained = run("explain", path, "--events-per-day", 5)
    assert "WARNING" in explained.stdout
    assert "promises no bound" in explained.stdout
    assert json.loads(run("explain", path, "--json").stdout)["worst_per_event"] == pytest.approx(2.5657, abs=1e-4)


def test_the_published_mechanism_passes_where_it_keeps_its_promise(house: Path) -> None:
    change(house, "name: optimal", "name: published_crr")
    path = change(house, "epsilon: 1.0", "epsilon: 3.0")
    assert belief_floor(3.0) < 0.05
    assert run("validate", path).exit_code == EXIT_DONE


def test_twice_epsilon_is_refused_under_every_model(house: Path) -> None:
    path = change(house, "name: optimal", "name: randomised_response_double")
    assert "up to 2 epsilon" in " ".join(run("validate", path).stderr.split())
    change(house, "epsilon: 1.0", "epsilon: 1.0\n  accept_unbounded: true")
    assert "tells more than epsilon = 1 and up to 2" in run("validate", path).stdout
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert (facts["worst_per_event"], facts["worst_under_any_model"], facts["holds_epsilon"]) == (2.0, 2.0, False)
    assert 1.0 < facts["single"]["largest"] <= 2.0
    assert "under this model and any other" in " ".join(run("explain", path, "--events-per-day", 5).stdout.split())


@pytest.mark.parametrize("name", ["top_k_grr", "randomised_response", "temporal_ldp"])
def test_local_privacy_is_promised_against_everybody(house: Path, name: str) -> None:
    path = change(house, "name: optimal", f"name: {name}")
    told = " ".join(run("explain", path, "--events-per-day", 5).stdout.split())
    assert "local privacy" in told and f"released in its place by {name}: " in told
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert facts["worst_under_any_model"] == facts["worst_per_event"] == 1.0 >= facts["single"]["largest"]


def test_a_radius_is_promised_and_paid_for(house: Path) -> None:
    path = change(house, "epsilon: 1.0", "epsilon: 1.0\n  radius: 0.05")
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert facts["built_for"] == pytest.approx(0.89283, abs=1e-6)
    assert facts["worst_under_any_model"] == pytest.approx(1.78566, abs=1e-5)
    assert facts["worst_per_event"] == 1.0 >= facts["single"]["largest"]
    told = " ".join(run("explain", path, "--events-per-day", 5).stdout.split())
    assert "differs from the model's by at most 0.05 in total variation" in told and "built for 0.8928 nats" in told
    assert "at most 5.96 times (1.786 nats, never more than 2 epsilon)" in told
    change(house, "budget:\n", "window: {events: 5}\nbudget:\n")
    told = " ".join(run("explain", path, "--events-per-day", 5).stdout.split())
    assert "about the values of a user's next window together" in told


def test_a_wrong_chain_is_covered_and_paid_for(house: Path) -> None:
    path = change(house, "epsilon: 1.0", "epsilon: 1.0\n  chain_error: 0.001")
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert 0.002 < facts["apart"] == pytest.approx(1.0 - facts["built_for"], abs=1e-9)
    told = " ".join(run("explain", path, "--events-per-day", 5).stdout.split())
    assert "probability within a factor of 1.001 of this one's" in told and "then stays for ever within" in told
    change(house, "chain_error: 0.001", "chain_error: 3\n  radius: 0.05")
    facts = json.loads(run("explain", path, "--events-per-day", 5, "--json").stdout)
    assert facts["built_for"] == pytest.approx(0.5, abs=1e-9)
    told = " ".join(run("explain", path, "--events-per-day", 5).stdout.split())
    assert (
        "half of epsilon, which covers everybody" in told and "or from that of such a reader, by at most 0.05" in told
    )


@pytest.mark.parametrize("place", ["radius", "chain_error"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("published_crr", "keeps no epsilon for any reader"),
        ("randomised_response_double", "keeps no epsilon for any reader"),
        ("top_k_grr", "keeps epsilon whatever a reader believes"),
        ("temporal_ldp", "keeps epsilon whatever a reader believes"),
    ],
)
def test_a_radius_is_refused_where_it_means_nothing(house: Path, name: str, why: str, place: str) -> None:
    change(house, "name: optimal", f"name: {name}")
    told = run("validate", change(house, "epsilon: 1.0", f"epsilon: 1.0\n  {place}: 0.05\n  accept_unbounded: true"))
    assert told.exit_code == EXIT_REFUSED
    assert f"mechanism.{place}" in told.stderr and why in " ".join(told.stderr.split())


@pytest.mark.parametrize(
    ("start", "rows", "least"),
    [
        ([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], 0.1),
        ([0.5, 0.5], [[1.0, 0.0], [0.2, 0.8]], 0.0),
        ([0.05, 0.95], [[0.9, 0.1], [0.2, 0.8]], 0.05),
        ([1.0, 0.0], [[0.9, 0.1], [0.2, 0.8]], 0.1),
        ([1.0, 0.0], [[1.0, 0.0], [1.0, 0.0]], 1.0),
        ([0.3, 0.7], [[1.0, 0.0], [1.0, 0.0]], 0.3),
    ],
)
def test_the_least_belief(start: list[float], rows: list[list[float]], least: float) -> None:
    assert least_belief(Chain.from_dense(start, rows)) == pytest.approx(least)
    sparse = [([y for y, p in enumerate(row) if p], [p for p in row if p]) for row in rows]
    assert least_belief(Chain.from_sparse(start, sparse)) == pytest.approx(least)


def test_explain_says_what_is_promised_and_what_is_not(house: Path) -> None:
    told = run("explain", house / "c.yaml", "--events-per-day", 24)
    assert told.exit_code == EXIT_DONE
    for title in ("What leaves", "What is promised for one event", "What is not promised", "What to expect"):
        assert f"\n{title}\n" in told.stdout
    assert "2.72 times" in told.stdout
    assert "WARNING" not in told.stdout
    assert max(len(line) for line in told.stdout.splitlines()) <= 100


def test_explain_and_plan_assume_the_same_rate_and_say_it(house: Path) -> None:
    told = " ".join(run("explain", house / "c.yaml").stdout.split())
    assert f"in any 24 hours of {EVENTS_A_DAY} events (--events-per-day): at most " in told
    assert f"a user's first day of {EVENTS_A_DAY} events, evenly spaced: " in told
    planned = run("plan", house / "c.yaml", "--epsilon", 1, "--order", "none", "--mechanism", "optimal").stdout
    assert f"at {EVENTS_A_DAY} events a day" in planned


def test_the_figures_of_explain_fit_together(house: Path) -> None:
    facts: dict[str, Any] = json.loads(run("explain", house / "c.yaml", "--events-per-day", 24, "--json").stdout)
    single, day = facts["single"], facts["day"]
    assert facts["full_releases_per_window"] == 10
    assert facts["worst_per_day"] == pytest.approx(20.0)
    assert facts["worst_under_any_model"] == 2.0
    assert max(single["upper_per_event"], single["lower_per_event"], single["largest"]) <= 1.0
    assert single["released"] == 1.0
    assert max(day["upper_per_user"], day["lower_per_user"]) <= 10.0
    assert day["released"] + day["forecast"] == pytest.approx(1.0)
    assert day["suppressed"] == 0.0
    assert 1 / 3 < single["agreement"] < 1.0
    assert facts["references"]["randomised_response"] == pytest.approx(math.e / (math.e + 2))


@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_explain_says_what_a_window_promises_and_what_waiting_buys(house: Path, order: str) -> None:
    alone = json.loads(run("explain", house / "c.yaml", "--events-per-day", 2880, "--json").stdout)["single"]
    path = change(house, "budget:", f"window: {{events: 5, stretch: 10m, order: {order}}}\nbudget:")
    told = run("explain", path, "--events-per-day", 2880)
    assert "\nWhat is promised for one window\n" in told.stdout
    assert "after 5 values or where the event time enters the next 10m" in told.stdout.replace("\n    ", " ")
    single = json.loads(run("explain", path, "--events-per-day", 2880, "--json").stdout)["single"]
    assert single["values_per_release"] == pytest.approx(5.0)
    assert single["wait_ms"] == (60_000.0 if order == "bisect" else 0.0)
    assert single["largest"] <= 1.0
    # one window of five tells at most what one event tells alone
    assert single["upper_per_user"] <= 20.0 < alone["upper_per_user"]


def test_explain_says_how_near_a_window_is_to_the_best(house: Path) -> None:
    path = change(house, "budget:", "window: {events: 4, order: dual}\nbudget:")
    window = json.loads(run("explain", path, "--events-per-day", 2880, "--json").stdout)["release_window"]
    assert 1 / 3 < window["kept"] <= window["kept_at_most"] <= 1.0
    assert window["gap_at_most"] == pytest.approx(1.0 - window["kept"] / window["kept_at_most"])
    assert window["gap_at_most"] < 0.02
    told = run("explain", path, "--events-per-day", 2880).stdout.replace("\n    ", " ")
    assert f"at most {100 * window['gap_at_most']:.1f} % below the best (certified)" in told
    assert "a user's first day of 2880 events, evenly spaced, of which the first " in told


def test_windows_that_their_deadline_ends_are_expected_to_be_short(house: Path) -> None:
    path = change(house, "budget:", "window: {events: 5, deadline: 10s}\nbudget:")
    single = json.loads(run("explain", path, "--events-per-day", 2880, "--json").stdout)["single"]
    assert (single["values_per_release"], single["wait_ms"]) == (1.0, 10_000.0)


def test_an_epsilon_beyond_what_a_windows_coins_can_honour_is_refused(house: Path) -> None:
    change(house, "budget:", "window: {events: 5}\nbudget:")
    change(house, "nats: 10\n", "nats: 100\n")
    told = run("validate", change(house, "epsilon: 1.0", "epsilon: 31.0"))
    assert told.exit_code == EXIT_REFUSED
    assert "62-bit coins" in told.stderr


def test_the_same_settings_give_the_same_figures(house: Path) -> None:
    policy = open_pipeline(house / "c.yaml", {}).promise.policy
    assert without_budget(Promised(policy), STICKY) == without_budget(Promised(policy), STICKY)
    assert one_day(Promised(policy), STICKY, 50) == one_day(Promised(policy), STICKY, 50)


def test_a_chain_that_never_moves_is_told_without_leakage(house: Path) -> None:
    policy = open_pipeline(house / "c.yaml", {}).promise.policy
    constant = Chain.from_dense([1.0, 0.0, 0.0], [[1.0, 0.0, 0.0]] * 3)
    found = without_budget(Promised(policy), constant)
    assert found.agreement == 1.0
    assert found.largest < 1e-6


def test_the_worst_of_an_event_and_of_a_day() -> None:
    assert worst_per_event(True, 1.5, 0.0) == 1.5
    assert math.isinf(worst_per_event(False, 1.0, 0.0))
    assert worst_per_event(False, 1.0, 0.1) == pytest.approx(np.log(np.exp(-1) + (1 - np.exp(-1)) / 0.1))
    assert worst_per_event(False, 1.5, 0.0, 2.0) == 3.0
    assert worst_per_day(10.0, None, 1e9) == 10.0
    assert worst_per_day(10.0, DAY_MS, 1e9) == 20.0
    assert worst_per_day(10.0, HOUR_MS, 1e9) == 250.0
    assert worst_per_day(10.0, 7 * DAY_MS, 1e9) == 20.0
    assert worst_per_day(10.0, DAY_MS, 3.0) == 3.0
    assert math.isinf(worst_per_day(math.inf, DAY_MS, math.inf))
