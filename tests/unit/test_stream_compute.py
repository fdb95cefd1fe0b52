from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from beliefs import json_text
from stream.commands.compute import answer, compute_command
from stream.compute.catalogue import CATALOGUE, Computation
from stream.compute.door import holds_error
from stream.compute.inputs import Input, nats

GOOD = {"what": "sip.optimal", "inputs": {"prior": [0.85, 0.15], "epsilon": 1.0}}
BAD = {"what": "sip.optimal", "inputs": {"prior": [0.85, 0.05], "epsilon": 1.0}}


def ask(text: str) -> dict[str, dict[str, object]]:
    found = answer(json_text.read(text.encode()))
    assert isinstance(found, dict)
    return found


def error_field(text: str) -> object:
    return ask(text)["error"]["field"]


def test_one_question_one_answer_and_a_list_for_a_list() -> None:
    assert answer(GOOD) == {"result": {"accuracy": 0.85}}
    assert answer([GOOD, BAD, GOOD])[1]["error"]["field"] == "prior"  # type: ignore[index]
    assert [*answer([GOOD, BAD, GOOD])][2] == answer(GOOD)  # type: ignore[misc]
    assert answer([]) == []
    assert not holds_error([])
    assert holds_error([answer(GOOD), answer(BAD)])
    assert not holds_error(answer(GOOD))


def test_other_keys_of_a_question_are_ignored() -> None:
    assert answer({**GOOD, "id": 3, "expected": None, "why": "x", "tolerance": "y"}) == answer(GOOD)
    assert (
        ask('{"id": 1, "id": 2, "what": "sip.crr", "inputs": {"prior": [1], "epsilon": 1}}')["result"]["bounded"]
        is True
    )


@pytest.mark.parametrize("document", [None, 7, "sip.optimal", True, [7], [[GOOD]]])
def test_what_is_no_question_is_an_error_of_what(document: object) -> None:
    found = answer(document)
    one = found[0] if isinstance(found, list) else found
    assert isinstance(one, dict)
    assert one["error"]["field"] == "what"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"inputs": {"prior": [1], "epsilon": 1}}', "what"),
        ('{"what": "sip.crr"}', "prior"),
        ('{"what": "sip.crr", "what": "sip.crr", "inputs": {"prior": [1], "epsilon": 1}}', "what"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": 1}, "inputs": {}}', "inputs"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": 1, "epsilon": 2}}', "epsilon"),
        ('{"what": "sip.crr", "inputs": {"prior": [{"a": 1, "a": 2}], "epsilon": 1}}', "prior"),
        ('{"what": "sip.crr", "inputs": {"prior": [NaN, 1], "epsilon": 1}}', "prior"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": NaN}}', "epsilon"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": Infinity}}', "epsilon"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": -Infinity}}', "epsilon"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": 1e999}}', "epsilon"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": ' + "9" * 5000 + "}}", "epsilon"),
        ('{"what": "sip.crr", "inputs": {"prior": [1], "epsilon": -1e-300}}', "epsilon"),
        ('{"what": "sip.leakage", "inputs": {"prior": [1], "channel": [[NaN]]}}', "channel"),
        ('{"what": "sip.leakage", "inputs": {"prior": [1], "channel": [{"a": 1}]}}', "channel"),
    ],
)
def test_texts_that_only_a_file_can_hold(text: str, field: str) -> None:
    assert error_field(text) == field


def test_reasons_are_sentences_that_name_the_input() -> None:
    reason = ask('{"what": "sip.leakage", "inputs": {"prior": [0.5, 0.5], "channel": [[1], [0.5]]}}')["error"]["reason"]
    assert reason == "channel row 1 sums to 0.5; probabilities must sum to 1 within 1e-09."
    reason = ask('{"what": "sip.crr", "inputs": {"prior": [1]}}')["error"]["reason"]
    assert reason == "epsilon is missing."


def test_minus_zero_is_zero() -> None:
    assert ask('{"what": "sip.crr", "inputs": {"prior": [1, -0.0], "epsilon": -0.0}}')["result"]["upper"] == 0.0


def test_a_new_name_is_one_function_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    def double(epsilon: float, times: float = 2.0) -> dict[str, object]:
        return {"total": epsilon * times, "parts": (epsilon, math.inf, None, -math.inf), "table": {"a": [1, True]}}

    entry = Computation(double, (Input("epsilon", nats), Input("times", nats, needed=False)))
    monkeypatch.setitem(CATALOGUE, "test.double", entry)
    got = answer({"what": "test.double", "inputs": {"epsilon": 1.5}})
    want = {"total": 3.0, "parts": [1.5, "inf", None, "-inf"], "table": {"a": [1, True]}}
    assert got == {"result": want}
    assert answer({"what": "test.double", "inputs": {"epsilon": 1, "times": 5}})["result"]["total"] == 5.0  # type: ignore[index]


@pytest.mark.parametrize(
    ("content", "status"),
    [(json.dumps(GOOD), 0), (json.dumps([GOOD, GOOD]), 0), ("[]", 0), (json.dumps([GOOD, BAD]), 1), ("7", 1)],
)
def test_the_command_prints_one_json_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, status: int
) -> None:
    file = tmp_path / "questions.json"
    file.write_text(content)
    assert compute_command(file) == status
    shown = capsys.readouterr()
    assert json.loads(shown.out) == answer(json.loads(content))
    assert shown.err == ""


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"sip.optimal"])
def test_a_file_that_is_no_json_is_status_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    file = tmp_path / "questions.json"
    file.write_bytes(content)
    assert compute_command(file) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "to put it right" in shown.err


def test_a_file_that_cannot_be_read_is_status_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (tmp_path / "absent.json", tmp_path):
        assert compute_command(file) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "cannot be read" in shown.err


def test_infinity_leaves_as_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "questions.json"
    file.write_text('{"what": "sip.leakage", "inputs": {"prior": [0.5, 0.5], "channel": [[1, 0], [0, 1]]}}')
    assert compute_command(file) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert (result["lower"], result["epsilon"]) == ("inf", "inf")
