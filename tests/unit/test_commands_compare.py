"""`sottovoce compare`: mechanisms side by side, each beside the kind of its promise."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from command_house import change, make_house, run

from stream.names import EXIT_DONE, EXIT_REFUSED

VALUES = ("still", "walking", "running")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return make_house(tmp_path)


def compared(*options: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("compare", *options, "--json").stdout)
    return found


def lines(house: Path, users: int = 4, events: int = 30) -> Path:
    """Users who keep their value; user 0 writes a value that the model does not know, once."""
    file = house / "sample.jsonl"
    rows = [{"user": f"u{u}", "activity": VALUES[u % 3], "battery": 1} for _ in range(events) for u in range(users)]
    rows[0]["activity"] = "flying"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\nno json\n")
    return file


def test_each_mechanism_stands_beside_its_kind_of_promise(house: Path) -> None:
    found = compared(house / "c.yaml")
    sides = {side["name"]: side for side in found["sides"]}
    assert {name: side["notion"] for name, side in sides.items()} == {
        "optimal": "SIP 1",
        "top_k_grr": "LDP 1",
        "randomised_response": "LDP 1",
        "randomised_response_double": "LDP 2",
    }
    for name, most in (("optimal", 1.0), ("top_k_grr", 1.0), ("randomised_response_double", 2.0)):
        assert sides[name]["largest"] <= most
    for name, epsilon in (("randomised_response", 1.0), ("randomised_response_double", 2.0)):
        expected = math.exp(epsilon) / (math.exp(epsilon) + 2)
        assert abs(sides[name]["agreement"] - expected) < 2 * sides[name]["agreement_error"]
    told = run("compare", house / "c.yaml")
    assert told.exit_code == EXIT_DONE and "SIP e lies between the two" in told.stdout


def test_the_counts_of_leakage_are_in_order(house: Path) -> None:
    for side in compared(house / "c.yaml", "--users", 10, "--events", 40)["sides"]:
        exact = side["exact"]
        assert max(side["upper"], side["lower"]) <= side["counters_most"] + 1e-9
        assert max(side["upper"], side["lower"]) <= side["total"] + 1e-9
        # All ten users with all their events: the exact account is below the ledger's, up to its own rounding up.
        assert exact["users"] == 10
        assert exact["whole"] <= exact["counters"] + 1e-6
        assert exact["whole_most"] <= side["counters_most"] + 1e-6
        assert 0 < exact["single_most"] <= exact["whole_most"] + 1e-6


def test_one_release_alone_tells_the_same_in_every_count(house: Path) -> None:
    for side in compared(house / "c.yaml", "--users", 5, "--events", 1)["sides"]:
        exact = side["exact"]
        assert exact["whole"] == pytest.approx(exact["counters"], abs=1e-6)
        assert exact["single_most"] == pytest.approx(side["counters_most"], abs=1e-6)


def test_windows_stand_beside_single_releases_of_the_same_epsilon(house: Path) -> None:
    change(house, "budget:\n", "window: {events: 5}\nbudget:\n")
    windowed, single = compared(house / "c.yaml")["sides"][:2]
    assert (windowed["windows"], windowed["exact"], single["windows"]) == ("bisect 5", None, "")
    assert windowed["agreement"] < single["agreement"] and windowed["total"] < single["total"] / 4


def test_a_sample_is_read_as_the_settings_say(house: Path) -> None:
    file = lines(house)
    found = compared(house / "c.yaml", "--sample", file, "--user", "$.user")
    assert (found["source"], found["users"], found["events"]) == ("sample.jsonl", 4, 119)
    assert sum(found["refused"].values()) == 2 and len(found["refused"]) == 2
    told = run("compare", house / "c.yaml", "--sample", file, "--user", "$.user").stdout
    assert "Refused: 1 " in told and "flying" not in told and "119 events of 4 users" in told
    # Values that stay are what this model expects, and are kept more often than it expects them to be.
    drawn = compared(house / "c.yaml")["sides"][0]["agreement"]
    assert found["sides"][0]["agreement"] > drawn


def test_a_distance_is_counted_for_all(house: Path) -> None:
    (house / "far.json").write_text("[[0, 1, 4], [1, 0, 2], [4, 2, 0]]")
    change(house, "    path: $.activity", "    path: $.activity\n    distance: {table: far.json}")
    change(house, "name: optimal", "name: near")
    sides = compared(house / "c.yaml", "--users", 20, "--events", 20)["sides"]
    assert sides[0]["name"] == "near"
    assert all(0 < side["distance"] < 4 for side in sides)


@pytest.mark.parametrize(
    ("options", "where", "why"),
    [
        (("--sample", "sample.jsonl"), "--user", "from the record's key"),
        (("--sample", "sample.jsonl", "--user", "$."), "--user", "$"),
        (("--sample", "nowhere.jsonl", "--user", "$.user"), "nowhere.jsonl", "no such file"),
        (("--sample", "model.json", "--user", "$.user"), "model.json", "not_json"),
        (("--epsilon", "-1"), "--epsilon", "-1 is not allowed"),
        (("--epsilon", "20"), "--epsilon", "20 is not allowed"),
        (("--users", "1"), "--users", "at least 3 users"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    house: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], where: str, why: str
) -> None:
    monkeypatch.chdir(house)
    lines(house)
    answer = run("compare", "c.yaml", *options)
    assert answer.exit_code == EXIT_REFUSED
    assert f"where: {where}" in answer.stderr and why in answer.stderr and "to put it right: " in answer.stderr
