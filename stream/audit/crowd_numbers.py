"""Numbers as released records of crowds bear them: nine digits, rounded up; and which values are the same in JSON."""

from __future__ import annotations

import json
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Final

_UP: Final = Context(prec=9, rounding=ROUND_CEILING)
_DOWN: Final = Context(prec=9, rounding=ROUND_FLOOR)
_NEAR: Final = Fraction(1, 10**11)
_OFF: Final = Fraction(1, 1 << 40)


def up(amount: Fraction | float) -> Decimal:
    exact = Fraction(amount)
    return _UP.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def down(amount: Fraction) -> Decimal:
    return _DOWN.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def number(told: Any) -> Fraction | None:
    """Of a record; None where there is none."""
    if (
        isinstance(told, bool)
        or not isinstance(told, int | Decimal)
        or (isinstance(told, Decimal) and not told.is_finite())
    ):
        return None
    return Fraction(told)


def is_up(told: Any, exact: Fraction) -> bool:
    """Whether it is that number, to nine digits and rounded up; sums of doubles may be off by their last places."""
    found = number(told)
    return found is not None and up(exact * (1 - _OFF)) <= told <= up(exact * (1 + _OFF))


def same(told: Any, count: int) -> bool:
    return type(told) is int and told == count


def counted(told: Any) -> int:
    return told if type(told) is int else 0


def near(told: Any, exact: Fraction) -> bool:
    """Whether a number that had to be rounded to some digits is this one."""
    found = number(told)
    return found is not None and abs(found - exact) <= _NEAR * abs(exact)


def alike(told: Any) -> str:
    """The same text for the same JSON value, however its numbers are written; true is no number."""
    return json.dumps(_plain(told), sort_keys=True)


def _plain(told: Any) -> Any:
    if isinstance(told, list | tuple):
        return [_plain(each) for each in told]
    if isinstance(told, dict):
        return {name: _plain(each) for name, each in told.items()}
    if isinstance(told, bool) or not isinstance(told, int | float | Decimal):
        return told
    return str(Fraction(told)) if Decimal(told).is_finite() else str(told)
