"""What a released window says of its aggregates: whether scales, intervals and parts are those that must be there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from stream.audit.aggregate_noise import reach_of, scale_from
from stream.audit.aggregate_records import rounded_up
from stream.audit.aggregate_rules import Asked

_ALONE, _PART = Fraction(19, 20), Fraction(39, 40)


def scales_with(asked: Asked, times: Fraction) -> tuple[Fraction, ...]:
    """The scales of a window with so many times the noise."""
    return asked.scales if times == 1 else tuple(scale_from(scale * times) for scale in asked.scales)


def numbers_in(asked: Asked, told: Any, times: Fraction) -> tuple[dict[int, int], bool]:
    """The noisy numbers that were shown, by their cell, in steps of the grid; and whether all else follows."""
    try:
        with localcontext() as context:
            context.prec = 60
            return _numbers_in(asked, told, scales_with(asked, times))
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return {}, False


def _numbers_in(asked: Asked, told: Mapping[str, Any], scales: Sequence[Fraction]) -> tuple[dict[int, int], bool]:
    if told["kind"] != asked.kind:
        return {}, False
    if asked.kind == "mean":
        return _mean(asked, told, scales)
    if asked.labels:
        return _histogram(asked, told, scales[0])
    number, fine = _amount({key: value for key, value in told.items() if key != "kind"}, scales[0], asked.grid, _ALONE)
    return {0: number}, fine


def _amount(told: Mapping[str, Any], scale: Fraction, grid: Decimal, confidence: Fraction) -> tuple[int, bool]:
    number = _steps(told["value"], grid)
    reach = reach_of(scale, confidence)
    wanted = {
        "value": told["value"],
        "scale": rounded_up(scale * Fraction(grid)),
        "interval": [(number - reach) * grid, (number + reach) * grid],
    }
    return number, told == wanted


def _mean(asked: Asked, told: Mapping[str, Any], scales: Sequence[Fraction]) -> tuple[dict[int, int], bool]:
    summed = dict(told["sum"])
    above = summed.pop("above")
    total, total_fine = _amount(summed, scales[0], asked.grid, _PART)
    users, users_fine = _amount(told["count"], scales[1], Decimal(1), _PART)
    far, more = reach_of(scales[0], _PART), reach_of(scales[1], _PART)
    counts = {max(1, users - more), max(1, users + more)}
    low = min(_inside(asked, Fraction(total - far, count)) for count in counts)
    high = max(_inside(asked, Fraction(total + far, count)) for count in counts)
    value = None if users <= 0 else _rounded(_inside(asked, Fraction(total, users)), asked.grid, ROUND_HALF_EVEN)
    wanted = {
        "kind": "mean",
        "value": value,
        "interval": [_rounded(low, asked.grid, ROUND_FLOOR), _rounded(high, asked.grid, ROUND_CEILING)],
        "sum": told["sum"],
        "count": told["count"],
    }
    fine = told == wanted and above == asked.centre * asked.grid
    return {0: total, 1: users}, fine and total_fine and users_fine


def _inside(asked: Asked, above: Fraction) -> Fraction:
    """In steps; a mean lies where one user's value lies."""
    return min(max(asked.centre + above, Fraction(asked.low)), Fraction(asked.high))


def _rounded(steps: Fraction, grid: Decimal, rounding: str) -> Decimal:
    exact = steps * Fraction(grid)
    return Context(prec=12, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))


def _histogram(asked: Asked, told: Mapping[str, Any], scale: Fraction) -> tuple[dict[int, int], bool]:
    places = {_hashable(label): place for place, label in enumerate(asked.labels)}
    reach = reach_of(scale, _ALONE)
    found: dict[int, int] = {}
    fine = told.keys() == {"kind", "cells", "scale"} and told["scale"] == rounded_up(scale)
    for cell in told["cells"]:
        count = cell["count"]
        fine &= cell.keys() == {"value", "count", "interval"} and type(count) is int
        fine &= cell["interval"] == [count - reach, count + reach]
        found[places[_hashable(cell["value"])]] = count
    order = list(_in_order(asked, found))
    return found, fine and len(found) == len(told["cells"]) and list(found) == order


def _in_order(asked: Asked, found: Mapping[int, int]) -> Iterator[int]:
    """All cells as they are declared; or the largest first, of equal ones the one that is declared first."""
    if asked.shown is None:
        yield from range(asked.cells)
        return
    if len(found) == min(asked.shown, asked.cells):
        yield from sorted(found, key=lambda place: (-found[place], place))


def _hashable(label: Any) -> Any:
    if isinstance(label, list | tuple):
        return tuple(map(_hashable, label))
    return float(label) if isinstance(label, Decimal) else label


def _steps(value: Any, grid: Decimal) -> int:
    steps = Fraction(value) / Fraction(grid)
    if isinstance(value, bool) or steps.denominator != 1:
        raise ValueError("off the grid")
    return steps.numerator
