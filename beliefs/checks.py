"""How this code refuses: `Invalid` for what comes in from outside, `require` for what must hold inside.

* `Invalid`, a `ValueError`: a value from outside breaks a stated rule; it names the field and what is wrong with it.
* `InvariantBroken`, a `RuntimeError`: a promise of the code itself failed; nobody may catch it and carry on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")


class Invalid(ValueError):
    """A value from outside that breaks a rule: `field` says where, `reason` is a clause that follows the field."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[type[Invalid], tuple[str, str]]:
        return (Invalid, (self.field, self.reason))


class Problems:
    """Runs one check after the other and keeps what each found wrong."""

    def __init__(self) -> None:
        self.found: list[Invalid] = []

    def add(self, field: str, reason: str) -> None:
        self.found.append(Invalid(field, reason))

    def run(self, check: Callable[[], Result]) -> Result | None:
        try:
            return check()
        except Invalid as problem:
            self.found.append(problem)
            return None


class InvariantBroken(RuntimeError):
    """A promise of the code itself does not hold, so nothing that it would do next can be trusted."""


def require(condition: bool, what: str) -> None:
    """Stop unless `condition` holds. Unlike `assert` this survives `python -O`."""
    if not condition:
        raise InvariantBroken(f"does not hold: {what}")


def finite_number(value: object, field: str, where: str = "") -> float:
    """The number as a float. Truth values, texts, NaN, infinities and integers beyond the floats are refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise Invalid(field, f"{where}must be a number, found {kind_of(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Invalid(field, f"{where}must be a finite number")
    return number


def share(value: object, field: str) -> float:
    """A number from 0 to 1."""
    number = finite_number(value, field)
    if not 0.0 <= number <= 1.0:
        raise Invalid(field, "must lie between 0 and 1")
    return number


def read_object(value: object, field: str) -> Mapping[str, object]:
    """An object of JSON."""
    if not isinstance(value, dict):
        raise Invalid(field, f"must be an object, found {kind_of(value)}")
    return value


def kind_of(value: object) -> str:
    """What a value is, in the words of JSON, without showing the value."""
    if value is None:
        return "null"
    if isinstance(value, bool | np.bool_):
        return "a truth value"
    names: tuple[tuple[tuple[type, ...], str], ...] = (
        ((str,), "a text"),
        ((int, float, np.integer, np.floating), "a number"),
        ((list, tuple, np.ndarray), "a list"),
        ((dict,), "an object"),
    )
    return next((name for types, name in names if isinstance(value, types)), "something else")
