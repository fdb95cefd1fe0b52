"""`sottovoce attack`: published attacks on made-up people, as an auditor of claims."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command_house import run

from stream.names import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED

SMALL = ("--people", 12, "--knows", 6968)


def found(*arguments: object, status: int = EXIT_DONE) -> dict[str, Any]:
    answer = run("attack", *SMALL, *arguments, "--json")
    assert answer.exit_code == status, answer.stderr
    figures: dict[str, Any] = json.loads(answer.stdout)
    return figures


def test_noise_for_one_person_is_found_beyond_its_claim() -> None:
    told = found(status=EXIT_FAILED)
    windows = told["windows"]
    assert told["ok"] is True and told["beyond"] is True and windows["beyond"] is True
    assert windows["shown_of_one"] > windows["claimed_of_one"] == 1.0
    assert windows["realised"] > windows["claimed"] == 8.0
    # What it says of one person alone it keeps: no odds are moved further than epsilon.
    assert all(0.0 < row["moved"] <= row["epsilon"] and row["beyond"] is False for row in told["attacks"])


@pytest.mark.parametrize("epsilon", ["0.1", "1/2", "4"])
def test_noise_for_friends_together_stays_under_its_claim(epsilon: str) -> None:
    told = found("--noise", "dependent", "--epsilon", epsilon)
    windows = told["windows"]
    assert told["beyond"] is False
    assert windows["shown_of_one"] <= windows["claimed_of_one"]
    assert windows["realised"] <= windows["may_tell"] <= windows["claimed"]


def test_without_friends_own_noise_is_enough() -> None:
    told = found("--friends", 0, "--windows", 5)
    assert told["beyond"] is False and len(told["windows"]["seen"]) == 5


def test_beliefs_stand_before_and_after() -> None:
    told = found("--attack", "alone", "--attack", "product", "--epsilon", 8, "--friends", 0)
    alone, product = told["attacks"]
    assert (alone["kind"], product["kind"]) == ("alone", "product")
    assert abs(alone["context_bits"]) < 1e-9 < 3.0 < product["context_bits"]
    assert alone["release_bits"] > 0.5 > product["release_bits"] - product["context_bits"]
    assert alone["surprise_after"] < alone["surprise_before"]
    homes = [cell for cell in told["one_person"] if cell["is_home"]]
    assert len(homes) == 1 and 0.0 < homes[0]["before"] < 1.0
    assert 5 <= len(told["one_person"]) <= 6


def test_whoever_knows_hardly_anybody_learns_from_few_and_nothing_breaks() -> None:
    told = found("--knows", 2, "--epsilon", "32", "--epsilon", "0.001", "--friends", 0, "--windows", 1)
    assert [row["beyond"] for row in told["attacks"]] == [False] * 6
    assert all(0.0 <= row["moved"] <= row["epsilon"] for row in told["attacks"])


def test_the_same_seed_says_the_same_and_another_one_something_else() -> None:
    one, again, other = (found("--friends", 0, "--seed", seed) for seed in (3, 3, 4))
    assert one == again != other


def test_the_terminal_tells_beliefs_and_a_verdict() -> None:
    answer = run("attack", *SMALL, "--epsilon", "1", "--attack", "friends")
    assert answer.exit_code == EXIT_FAILED
    told = answer.stdout
    assert "friends, as published" in told and "verdict: BEYOND THE CLAIM" in told
    assert "lives here" in told and "claimed" in told and "-0.000" not in told
    assert all(len(line) <= 120 for line in told.splitlines())
    covered = run("attack", *SMALL, "--epsilon", "1", "--attack", "alone", "--noise", "dependent")
    assert covered.exit_code == EXIT_DONE and "verdict: UNDER THE CLAIM" in covered.stdout


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("--epsilon", "0"), "--epsilon"),
        (("--epsilon", "much"), "--epsilon"),
        (("--epsilon", "1/0"), "--epsilon"),
        (("--epsilon", "33"), "--epsilon"),
        (("--epsilon", "nan"), "--epsilon"),
        (("--epsilon", "1e999999999"), "--epsilon"),
        (("--attack", "hope"), "--attack"),
        (("--noise", "none"), "--noise"),
        (("--friends", "10"), "--friends"),
        (("--people", "0"), "--people"),
        (("--knows", "7000"), "--knows"),
        (("--knows", "1"), "--knows"),
        (("--windows", "0"), "--windows"),
        (("--seed", "-1"), "--seed"),
    ],
)
def test_what_cannot_be_tried_says_where_why_and_how_to_put_it_right(arguments: tuple[str, ...], where: str) -> None:
    answer = run("attack", *arguments)
    assert answer.exit_code == EXIT_REFUSED
    assert f"option {where}" in answer.stderr and "to put it right" in answer.stderr and not answer.stdout
    told = json.loads(run("attack", *arguments, "--json").stdout)
    assert told["ok"] is False and where in told["where"]
