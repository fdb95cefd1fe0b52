"""How numbers stand in released records: amounts exactly, as decimals; what is a bound rounded at the last digit that
is written, so that what is read still holds.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any, Final

import orjson

from stream.settings.amounts import write_decimal

_UP: Final = Context(prec=9, rounding=ROUND_CEILING)
_DOWN: Final = Context(prec=9, rounding=ROUND_FLOOR)
_EXACT: Final = Context(prec=60)
_ROUNDED: Final = {way: Context(prec=12, rounding=way) for way in (ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING)}


def exact(value: int, grid: Decimal) -> Any:
    """So many steps of a grid."""
    return value if grid == 1 else number(_EXACT.multiply(value, grid))


def rounded_up(value: Fraction) -> Any:
    """With nine digits."""
    return number(_UP.divide(Decimal(value.numerator), Decimal(value.denominator)))


def rounded_down(value: Fraction) -> Any:
    """With nine digits."""
    return number(_DOWN.divide(Decimal(value.numerator), Decimal(value.denominator)))


def near(value: Fraction, rounding: str) -> Any:
    """With twelve digits, rounded this way."""
    return number(_ROUNDED[rounding].divide(Decimal(value.numerator), Decimal(value.denominator)))


def number(value: Decimal) -> Any:
    """As it is written, and not as the double next to it."""
    return orjson.Fragment(write_decimal(value).encode())
