"""What a report of a field tells, and what it looks like: the whole numbers of each local mechanism, worked out again.

Chances are whole numbers out of T = 2^62. R stands for e^(epsilon (1 - 2^-46)), H for its square root.

    response of k values, ratio r   LOW = T/(r + k - 1) rounded up, HIGH = T - (k - 1) LOW, ratio HIGH/LOW
    grr, exp, top_k                 responses with r = R; r = H; r = R of the named values and the others as one
    blh, olh                        responses of the hash range 2; e^epsilon + 1 to the nearest whole number
    bits of chances p, q            ratio p (T - q)/(q (T - p)), or its inverse
    oue, sue                        p = T/2, q = T/(R + 1) rounded up; q = T/(H + 1) rounded up, p = T - q
    the, threshold t                q = T/2 R^(-t/2) and T - p = T/2 R^(-(1 - t)/2), both rounded up
    rappor                          what is kept: bits of sue; a report of it: chances out of T^2
    ss, size w                      p (k - w)/((T - p) w) (1 + 4 k w/T), p the largest with which it stays within R
    she                             the square of the largest ratio of its two rows of cells

A mechanism prints the logarithm of its ratio rounded up to a double, and the account counts that in whole units,
rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Final, NamedTuple

from stream.audit.amounts import UNBOUNDED, UNITS, WHOLE
from stream.errors import CannotAudit
from stream.settings.fields import LocalMechanismSettings

LABELS, BITS, HASHES, SETS, CELLS = "labels", "bits", "hashes", "sets", "cells"

LARGEST_RANGE: Final = 1 << 16
REPORT_ZERO, REPORT_ONE = 0.5, 0.75
"""Of rappor, where nothing is said."""

_DIGITS: Final = Context(prec=80)
_LEAST_CELLS, _MOST_CELLS = 0.01, 16.0


class Numbers(NamedTuple):
    """Of one way to report a field: the shape of its reports, what one of them tells, and what all of them together
    do, in units. `size` is the hash range or that of a set; cells run from `first` to `last` steps of 1/`size`.
    """

    shape: str
    level: int
    together: int = UNBOUNDED
    size: int = 0
    first: int = 0
    last: int = 0


def numbers_of(mechanism: LocalMechanismSettings, values: int, epsilon: float) -> Numbers:
    """Of a field of so many values, an empty slot among them where it holds lists."""
    if not 1e-6 <= epsilon <= 32.0:
        raise _impossible(f"reports are drawn for 0.000001 to 32 nats, and this asks for {epsilon:g}")
    return _NUMBERS[mechanism.name](mechanism, values, epsilon)


def in_units(nats: float) -> int:
    """What was told, in whole units, rounded up."""
    return UNBOUNDED if math.isinf(nats) else min(UNBOUNDED, math.ceil(Fraction(nats) * UNITS))


def printed(ratio: Fraction) -> float:
    """The logarithm of a ratio of 1 or more as mechanisms print it: the next double that is not below it."""
    if ratio <= 1:
        return 0.0
    if ratio - 1 < Fraction(1, 1 << 64):
        return _upwards(ratio - 1)
    with localcontext(_DIGITS):
        return _upwards(Fraction((Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()))


def _upwards(amount: Fraction) -> float:
    nearest = float(amount)
    return nearest if nearest >= amount else math.nextafter(nearest, math.inf)


def _power(epsilon: float, part: Fraction = Fraction(1)) -> Fraction:
    """e^(part of epsilon), of which 2^-46 is kept back."""
    nats = Fraction(epsilon) * part * (1 - Fraction(1, 1 << 46))
    with localcontext(_DIGITS):
        return Fraction((Decimal(nats.numerator) / Decimal(nats.denominator)).exp())


def _level(ratio: Fraction) -> int:
    return in_units(printed(ratio))


def _response(values: int, ratio: Fraction) -> int:
    low = math.ceil(WHOLE / (ratio + values - 1))
    return _level(Fraction(WHOLE - (values - 1) * low, low))


def _bits(one: int, other: int, whole: int = WHOLE) -> int:
    high, low = max(one, other), min(one, other)
    if high != low and (low == 0 or high == whole):
        return UNBOUNDED
    return 0 if high == low else _level(Fraction(high * (whole - low), low * (whole - high)))


def _grr(_: LocalMechanismSettings, values: int, epsilon: float) -> Numbers:
    return Numbers(LABELS, _response(values, _power(epsilon)))


def _exp(_: LocalMechanismSettings, values: int, epsilon: float) -> Numbers:
    return Numbers(LABELS, _response(values, _power(epsilon, Fraction(1, 2))))


def _top_k(mechanism: LocalMechanismSettings, _: int, epsilon: float) -> Numbers:
    return Numbers(LABELS, _response(len(mechanism.top or ()) + 1, _power(epsilon)))


def _blh(_: LocalMechanismSettings, __: int, epsilon: float) -> Numbers:
    return Numbers(HASHES, _response(2, _power(epsilon)), size=2)


def _olh(_: LocalMechanismSettings, __: int, epsilon: float) -> Numbers:
    with localcontext(_DIGITS):
        span = int(Decimal(epsilon).exp().to_integral_value()) + 1
    if span > LARGEST_RANGE:
        raise _impossible(f"olh needs a hash range of {span} for it, and {LARGEST_RANGE:,} is the largest")
    return Numbers(HASHES, _response(span, _power(epsilon)), size=span)


def _oue(_: LocalMechanismSettings, __: int, epsilon: float) -> Numbers:
    return Numbers(BITS, _bits(WHOLE // 2, math.ceil(WHOLE / (_power(epsilon) + 1))))


def _sue(_: LocalMechanismSettings, __: int, epsilon: float) -> Numbers:
    other = _flipped(epsilon)
    return Numbers(BITS, _bits(WHOLE - other, other))


def _flipped(epsilon: float) -> int:
    return math.ceil(WHOLE / (_power(epsilon, Fraction(1, 2)) + 1))


def _rappor(mechanism: LocalMechanismSettings, _: int, epsilon: float) -> Numbers:
    kept = _flipped(epsilon)
    shares = (mechanism.report_zero, REPORT_ZERO), (mechanism.report_one, REPORT_ONE)
    zero, one = (round(Fraction(usual if share is None else share) * WHOLE) for share, usual in shares)
    own, other = ((WHOLE - kept) * one + kept * zero, kept * one + (WHOLE - kept) * zero)
    return Numbers(BITS, _bits(own, other, WHOLE * WHOLE), together=_bits(WHOLE - kept, kept))


def _the(_: LocalMechanismSettings, __: int, epsilon: float) -> Numbers:
    threshold = _threshold(epsilon)
    other = math.ceil(WHOLE / (2 * _power(epsilon, threshold / 2)))
    below = math.ceil(WHOLE / (2 * _power(epsilon, (1 - threshold) / 2)))
    return Numbers(BITS, _bits(WHOLE - below, other))


def _threshold(epsilon: float) -> Fraction:
    """Of 32/64, 33/64, ..., 1 the one for which q (1 - q)/(p - q)^2 is least, the first of equals."""

    def scatter(threshold: Fraction) -> Decimal:
        half = Decimal(epsilon) / 2
        above = Decimal(threshold.numerator) / threshold.denominator
        q, off = (-above * half).exp() / 2, ((above - 1) * half).exp() / 2
        return q * (1 - q) / (1 - off - q) ** 2

    with localcontext(_DIGITS):
        return min((Fraction(sixty_fourths, 64) for sixty_fourths in range(32, 65)), key=scatter)


def _ss(_: LocalMechanismSettings, values: int, epsilon: float) -> Numbers:
    size = max(1, math.floor(values / (math.exp(epsilon) + 1.0)))
    uneven = 1 + Fraction(4 * values * size, WHOLE)
    weight = size * _power(epsilon) / uneven
    own = math.floor(WHOLE * weight / (weight + values - size))
    ratio = Fraction(own * (values - size), (WHOLE - own) * size)
    nats = printed(max(ratio, Fraction(1)) * uneven)
    if nats > epsilon:
        raise _impossible(f"sets of {size} of {values} values cannot be drawn for {epsilon:g} nats")
    return Numbers(SETS, in_units(nats), size=size)


def _she(_: LocalMechanismSettings, __: int, epsilon: float) -> Numbers:
    if not _LEAST_CELLS <= epsilon <= _MOST_CELLS:
        raise _impossible(f"she draws cells for {_LEAST_CELLS} to {_MOST_CELLS:g} nats, and this asks for {epsilon:g}")
    steps = max(4, math.ceil(4.0 * epsilon))
    reach = math.ceil(24.0 * steps / epsilon)  # in doubles: that is what decides how far the cells go
    design = epsilon
    while True:
        told = printed(_steepest(_cells(design, steps, reach)) ** 2)
        if told <= epsilon:
            return Numbers(CELLS, in_units(told), size=steps, first=-reach, last=steps + reach)
        design -= 2.0 * (told - epsilon) + math.ulp(epsilon)


def _cells(epsilon: float, steps: int, reach: int) -> list[int]:
    """Cases of -reach .. steps + reach steps where the value is another one: (1 - f)/(1 + f) f^|n| with f = e^(-epsilon
    /(2 steps)), each end with all beyond it, each to the nearest whole number; 0 steps take what is left."""
    with localcontext(_DIGITS):
        fades = (-Decimal(epsilon) / (2 * steps)).exp()
        chances = [WHOLE * (1 - fades) / (1 + fades)]
        while len(chances) <= reach + steps:
            chances.append(chances[-1] * fades)
        row = [chances[abs(n)] for n in range(-reach, steps + reach + 1)]
        row[0], row[-1] = row[0] / (1 - fades), row[-1] / (1 - fades)
        cases = [int(chance.to_integral_value()) for chance in row]
    cases[reach] += WHOLE - sum(cases)
    return cases


def _steepest(row: list[int]) -> Fraction:
    """The largest ratio of a cell's cases where the value is another one to those where it is the own one."""
    high, low = 1, 1
    for one, other in zip(row, reversed(row), strict=True):
        if one * low > other * high:
            high, low = one, other
    return Fraction(high, low)


def _impossible(why: str) -> CannotAudit:
    fix = "name the settings that the pipeline ran with"
    return CannotAudit("No pipeline can have run with these settings.", "fields.each", why, fix)


_NUMBERS: Final[dict[str, Callable[[LocalMechanismSettings, int, float], Numbers]]] = {
    "grr": _grr,
    "exp": _exp,
    "top_k": _top_k,
    "blh": _blh,
    "olh": _olh,
    "oue": _oue,
    "sue": _sue,
    "rappor": _rappor,
    "the": _the,
    "ss": _ss,
    "she": _she,
}
