"""Opening a pipeline of aggregates: what is refused and warned of, and what `validate` and `explain` say of it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from aggregate_world import (
    aggregate_house,
    aggregate_text,
    opened_aggregates,
    refused,
)
from command_house import run

from beliefs.rounding import UNITS_PER_NAT
from stream.aggregates.expected import fitting_windows, mean_within, topped_up
from stream.aggregates.ledger import Ledger
from stream.commands.aggregate_facts import aggregate_facts
from stream.errors import ConfigurationRefused
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline

NAT = UNITS_PER_NAT


def test_what_is_declared_is_promised(tmp_path: Path) -> None:
    promise = opened_aggregates(tmp_path).promise
    assert (promise.length, promise.lateness, promise.grace, promise.ahead) == (60_000, 10_000, 10_000, 3_600_000)
    assert (promise.horizon, promise.target, promise.beyond, promise.protects) == (
        1440,
        2 * NAT,
        "withhold",
        "everything",
    )
    assert promise.cells == 17
    assert [str(form.path) for form in promise.forms] == ["$.steps", "$.pace", "$.job", "$.cell"]
    assert NAT * 1.6 * (1 - 1e-8) < promise.window_loss <= NAT * 1.6
    assert promise.policy_name.startswith("1:")
    assert len(promise.policy_fingerprint) == 8
    assert str(promise.ring.current.secret) not in repr(promise)


def test_a_target_below_one_window_is_refused_at_its_line(tmp_path: Path) -> None:
    low = "target: {nats: 1.5, windows: 10}"
    found = refused(aggregate_house(tmp_path, aggregate_text(target=low)))
    assert found[0][:2] == (17, "aggregate.target.nats")
    assert "1.5, below the 1.6 that one window tells" in found[0][2]
    topped = "target: {nats: 1.5, windows: 10, beyond: top_up}"
    assert opened_aggregates(tmp_path, aggregate_text(target=topped)).promise.beyond == "top_up"
    nothing = "target: {nats: 0.1, windows: 10, beyond: top_up}"
    assert len(refused(aggregate_house(tmp_path, aggregate_text(target=nothing)))) == 1
    groups = aggregate_text(more="dependence: {users: {group: 4}}", target="target: {nats: 6.0, windows: 10}")
    assert "6.4 that one window tells" in refused(aggregate_house(tmp_path, groups))[0][2]


def test_a_missing_key_ring_and_no_aggregates_are_refused(tmp_path: Path) -> None:
    file = aggregate_house(tmp_path, aggregate_text())
    (tmp_path / "keys.json").unlink()
    assert [path for _, path, _ in refused(file)] == ["keys.file"]


def test_commands_about_single_events_refuse_by_name(tmp_path: Path) -> None:
    file = aggregate_house(tmp_path, aggregate_text())
    with pytest.raises(ConfigurationRefused, match="windows of aggregates") as told:
        open_pipeline(file, {})
    assert told.value.problems[0].line == 7
    for command in (["learnt"], ["adversary"], ["compare"], ["estimate"], ["fit", "--released", "--out", "m.json"]):
        found = run(command[0], str(file), *command[1:])
        assert found.exit_code == EXIT_REFUSED, command
        assert "about windows of aggregates there are" in found.stderr, command


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": "target: {nats: unlimited, windows: 10}"}, "the target is unlimited"),
        (
            {"target": "target: {nats: 4, windows: 10}"},
            "pays for 2 of any 10 windows in a row; the others are withheld",
        ),
        ({"target": "target: {nats: 4, windows: 10, beyond: top_up}"}, "withheld or have more noise"),
        ({"times": "window: 1s\nfrom: 2001-01-01T00:00:00Z\nahead: 1m"}, "lie between `from` and now"),
    ],
)
def test_what_is_doubtful_is_warned_of(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    warnings = opened_aggregates(tmp_path, aggregate_text(**changes)).warnings
    assert any(words in warning for warning in warnings), warnings


def test_nothing_is_warned_of_where_every_window_fits(tmp_path: Path) -> None:
    target = "target: {nats: 16, windows: 10}"
    times = "window: 1d\nfrom: 2026-01-01T00:00:00Z"
    assert opened_aggregates(tmp_path, aggregate_text(times=times, target=target)).warnings == ()


@pytest.mark.parametrize("beyond", ["withhold", "top_up"])
@pytest.mark.parametrize("nats", [1.7, 4, 7.9, 16])
def test_the_gate_does_what_was_expected_of_it(tmp_path: Path, nats: float, beyond: str) -> None:
    target = f"target: {{nats: {nats}, windows: 10, beyond: {beyond}}}"
    promise = opened_aggregates(tmp_path, aggregate_text(target=target)).promise
    ledger = Ledger(promise)
    made = [ledger.decide(missing=False) for _ in range(10)]
    whole = [decision for decision in made if decision.reason is None and decision.more_noise == 1]
    assert len(whole) == fitting_windows(promise)
    more = [float(decision.more_noise) for decision in made if decision.more_noise > 1]
    expected = topped_up(promise)
    assert more == ([] if expected is None else [pytest.approx(expected)])


def test_figures_of_aggregates(tmp_path: Path) -> None:
    facts = aggregate_facts(opened_aggregates(tmp_path))
    assert (facts["windows_a_day"], facts["horizon_ms"]) == (1440, 86_400_000)
    assert facts["window_loss"] == pytest.approx(1.6)
    assert facts["window_leak"] == pytest.approx(1.6)
    assert facts["horizon_told"] == pytest.approx(1440 * 1.6)
    assert (facts["target"], facts["fit"], facts["more_noise"]) == (2.0, 1, None)
    people, steps, pace, job, places = facts["aggregates"]
    assert people["noise"] == [{"scale": pytest.approx(5), "interval": 15.0}]
    assert (steps["low"], steps["high"], steps["grid"], steps["moves"]) == (0.0, 40.0, 0.5, [40.0])
    assert (pace["take"], pace["moves"]) == ("first", [12.0, 1.0])
    assert (job["cells"], job["moves"], places["shown"]) == (3, [2.0], 2)
    grouped = aggregate_facts(
        opened_aggregates(
            tmp_path, aggregate_text(more="dependence: {users: {group: 3}}", target="target: {nats: 9, windows: 2}")
        )
    )
    assert (grouped["users"], grouped["group"]) == ("group", 3)
    assert grouped["window_leak"] == pytest.approx(4.8)


def test_a_mean_over_few_users_is_not_known(tmp_path: Path) -> None:
    pace = opened_aggregates(tmp_path).promise.queries[2]
    assert mean_within(pace, 5) is None
    few, many = mean_within(pace, 100), mean_within(pace, 10_000)
    assert few is not None
    assert many is not None
    assert few > many
    sums, counts = (noise.interval(0.975) for noise in pace.noise)
    assert many == pytest.approx((sums + 60 * counts) / (10_000 - counts) * 0.1)


def test_validate_and_explain_speak_of_windows(tmp_path: Path) -> None:
    file = aggregate_house(
        tmp_path,
        aggregate_text(target="target: {nats: 16, windows: 10}", times="window: 1d\nfrom: 2026-01-01T00:00:00Z"),
    )
    told = run("validate", str(file))
    assert (told.exit_code, told.stderr) == (EXIT_DONE, "")
    assert "aggregates people, steps, pace, job, places, key epoch 1" in told.stdout
    assert json.loads(run("validate", str(file), "--json").stdout)["aggregates"] == [
        "people",
        "steps",
        "pace",
        "job",
        "places",
    ]
    facts = json.loads(run("explain", str(file), "--json").stdout)
    assert facts["ok"] is True
    assert facts["horizon_told"] == pytest.approx(16)
    plain = " ".join(run("explain", str(file)).stdout.split())
    for words in (
        "one record for each window of 1d from 2026-01-01T00:00:00Z on, 1 a day",
        "people: how many users had an event; 0.2 nats of one user's contribution, which moves it by 1 at most",
        "the sum over all users of each one's last value in the window of $.steps, clipped to 0 to 40 in steps of 0.5",
        "the mean over all users of each one's first value in the window of $.pace",
        "of 10 values as the last value in the window of $.cell, of which the 2 most frequent are shown",
        "so it tells at most 1.6 nats about any one user",
        "any 10 windows in a row (10d), all of them released, would tell 16 nats",
        "the target pays for every window",
        "What is not promised",
    ):
        assert words in plain


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": "target: {nats: unlimited, windows: 10}"}, "there is no target, so no window is withheld"),
        (
            {"target": "target: {nats: 4, windows: 10}"},
            "the target pays for 2 windows in a row; then windows are withheld",
        ),
        ({"target": "target: {nats: 4, windows: 10, beyond: top_up}"}, "the next one has 2 times the noise"),
        (
            {"more": "dependence: {users: {group: 4}}", "target": "target: {nats: 7, windows: 1}"},
            "in groups of at most 4, in any way",
        ),
        (
            {"more": "dependence: {users: independent, windows: fresh}\nprotects: one_window"},
            "about what one user contributes to any one of them",
        ),
        ({"times": "window: 7d\nfrom: 2026-01-01T00:00:00Z"}, "one in 7 days"),
    ],
)
def test_explain_says_what_was_declared(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    file = aggregate_house(tmp_path, aggregate_text(**changes))
    assert words in " ".join(run("explain", str(file)).stdout.split())


def test_fresh_windows_protect_each_by_itself(tmp_path: Path) -> None:
    text = aggregate_text(more="dependence: {users: independent, windows: fresh}\nprotects: one_window")
    promise = opened_aggregates(tmp_path, text).promise
    assert promise.claim.leak([promise.window_loss] * 1440) == promise.window_loss
    assert math.isclose(aggregate_facts(opened_aggregates(tmp_path, text))["horizon_told"], 1.6)
