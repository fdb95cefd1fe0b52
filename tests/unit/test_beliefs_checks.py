from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from beliefs.checks import Invalid, InvariantBroken, finite_number, kind_of, require


def test_require_lets_what_holds_pass_and_stops_what_does_not() -> None:
    require(True, "one equals one")
    with pytest.raises(InvariantBroken, match="does not hold: the books balance"):
        require(False, "the books balance")


def test_require_works_without_asserts() -> None:
    code = "from beliefs.checks import require; require(False, 'kept')"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-O", "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "does not hold: kept" in done.stderr


def test_a_broken_invariant_is_no_bad_input() -> None:
    assert not issubclass(InvariantBroken, ValueError)
    assert issubclass(Invalid, ValueError)


def test_invalid_names_field_and_reason_and_survives_pickling() -> None:
    problem = pickle.loads(pickle.dumps(Invalid("start", "sums to 2")))
    assert (problem.field, problem.reason, str(problem)) == ("start", "sums to 2", "start: sums to 2")


@pytest.mark.parametrize("value", [0, 1, -3, 0.5, 5e-324, 10**308, np.float64(0.25), np.int64(7)])
def test_finite_numbers_pass(value: object) -> None:
    assert finite_number(value, "x") == float(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [True, False, np.True_, None, "1", b"1", [1], {}, math.nan, math.inf, -math.inf, 10**400, -(10**400), 1j]
)
def test_everything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(Invalid) as caught:
        finite_number(value, "epsilon")
    assert caught.value.field == "epsilon"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "a truth value"),
        ("7", "a text"),
        (7, "a number"),
        (7.5, "a number"),
        ([7], "a list"),
        ({"a": 7}, "an object"),
        (b"7", "something else"),
    ],
)
def test_kinds_are_named_without_showing_the_value(value: object, words: str) -> None:
    assert kind_of(value) == words
