"""The numbers of a promise, worked out a second time: amounts in units, logarithms, and the constants of one epsilon.

Nothing here is shared with the rooms that release events. What must be equal to the last bit is equal because both
follow the same definition, which is repeated here in words:

* One unit is 2^-40 nat. Budgets are rounded down to units. 2^62 units stand for an amount without bound, and sums stay
  there.
* The logarithm of a ratio r > 1, in units: r = m 2^k with m in [sqrt(1/2), sqrt(2)), s = (m - 1)/(m + 1), then
  k ln 2 + 2 s (1 + s^2/3 + ... + s^26/27), Horner's rule from the last term on, in doubles; half a unit is added, the
  sum cut to a whole number, and one unit added. NaN and ratios above 1e300 are without bound.
* A mechanism is built for less than epsilon: 64 units less, and less again by what the belief may be off. The doubles
  that it uses are the correctly rounded values of exp and of what is made from it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

UNITS = 2**40
UNBOUNDED = 2**62
WHOLE = 2**62
"""The integers of one row of a channel add up to this."""

DRIFT_UNKNOWN = 2**32 - 1
DRIFT_STEP_UNITS = 2**8  # a drift is counted in 2^-32 nat
LEVELS = 34
_SHAVE = 64
_BITS = 512

# Columns of the table of constants.
COVERED, REVEALED, CEILING, CAP, FULL, PAD = range(6)

_LN2 = math.log(2.0)
_ODD = np.array([1.0 / odd for odd in range(1, 28, 2)])
_UPPER_HALF = math.sqrt(0.5)


@kernel
def log_units(ratio: float) -> int:
    if ratio != ratio or ratio > 1.0e300:
        return UNBOUNDED
    if ratio <= 1.0:
        return 0
    m, k = math.frexp(ratio)
    if m < _UPPER_HALF:
        m, k = 2.0 * m, k - 1
    s = (m - 1.0) / (m + 1.0)
    terms = _ODD[13]
    for place in range(12, -1, -1):
        terms = terms * (s * s) + _ODD[place]
    units: int = math.floor((k * _LN2 + 2.0 * s * terms) * 1099511627776.0 + 0.5)
    return units + 1


@kernel
def added(spent: int, more: int) -> int:
    """Neither exceeds 2^62; the sum of two would be 2^63 and no longer fit."""
    return UNBOUNDED if spent >= UNBOUNDED - more else spent + more


def units_within(nats: float) -> int:
    """The whole units in an amount of nats."""
    return UNBOUNDED if math.isinf(nats) else min(UNBOUNDED, int(Fraction(nats) * UNITS))


def nats_of(units: int) -> float:
    return math.inf if units >= UNBOUNDED else units / UNITS


def exponential(units: int) -> Fraction:
    """exp of so many units, with an error below 2^-450 of its value: a Taylor series far below 1, then squarings."""
    halvings = max(0, units.bit_length() - 40) + 8
    power = total = 1 << _BITS
    for term in range(1, 100):
        power = power * units // (UNITS * term << halvings)
        total += power
    for _ in range(halvings):
        total = total * total >> _BITS
    return Fraction(total, 1 << _BITS)


def constants_of(units: int) -> list[float]:
    """e^-a, 1 - e^-a, e^a, 1 + e^a, 1/(1 + e^a) and the padding of a base, for a mechanism built for `units`."""
    if units <= 0:
        return [1.0, 0.0, 1.0, 2.0, 0.5, 0.0]
    ceiling = exponential(units)
    padding = math.ceil((2 * ceiling + 1) / (ceiling - 1)) + 1
    return [float(value) for value in (1 / ceiling, 1 - 1 / ceiling, ceiling, 1 + ceiling, 1 / (1 + ceiling), padding)]


def withheld(epsilon: int, radius: float) -> int:
    """What is kept back of epsilon, never more than half of it rounded up, so that readers whose belief is within this
    total variation of the model's learn at most epsilon.

    With A = e^epsilon and X = e^(what is left) a reader expects a value at least 1 - r (X - 1/X) times as often as the
    model does; A (1 - r (X - 1/X)) >= X is the same as (1 + r A) X^2 <= A X + r A.
    """
    if radius == 0 or epsilon == 0:
        return 0
    grown = Fraction(radius) * exponential(epsilon)
    enough, too_much = epsilon // 2, epsilon
    while too_much - enough > 1:
        tried = (enough + too_much) // 2
        x = exponential(tried)
        if (1 + grown) * x * x <= exponential(epsilon) * x + grown:
            enough = tried
        else:
            too_much = tried
    return epsilon - enough


def wrong_model(error: float, contraction: int, span: int, values: int, *, by_clock: bool) -> int:
    """How far apart what two models expect of one release of so many values may be, when all their probabilities are
    within exp(+-error) of one another; in units. A belief forgets all but contraction/2^32 of that in a span.

    A span that finds d leaves contraction d + span 2 error, the steps of an unfinished one add 2 error each; so does
    each further value of a release, or by the clock, twice what beliefs may be apart.
    """
    if error == 0:
        return 0
    if contraction >= 1 << 32:
        return UNITS << 20
    step = math.ceil(Fraction(error) * 2 * UNITS)
    kept = 1 - Fraction(contraction, 1 << 32)
    beliefs = math.ceil(step * span / kept) + (span - 1) * step
    return beliefs + (values - 1) * (2 * beliefs if by_clock else step)


def built_for(epsilon: int, level: int, shift: int = 0) -> int:
    """A belief that may be off by less than 2^level drift steps costs that much of epsilon, and so does a shift, but
    both together never more than half of it.
    """
    off = epsilon if level == LEVELS - 1 else (DRIFT_STEP_UNITS << level if level else 0)
    return max(epsilon - shift - off, epsilon // 2) - _SHAVE


def constants_by_level(epsilon: int, shift: int = 0) -> Floats:
    return np.array([constants_of(built_for(epsilon, level, shift)) for level in range(LEVELS)])


@kernel
def level_of(drift: int) -> int:
    """The number of binary digits of a drift; the last level is that of an unknown one."""
    if drift == DRIFT_UNKNOWN:
        return LEVELS - 1
    level = 0
    while drift >> level:
        level += 1
    return level


@kernel
def cost(log_ratio: int, log_spread: int, shift: int, epsilon: int) -> int:
    """What one side of a release costs when the belief may be off by `shift` units: the ratio and the shift, or, from
    half of epsilon on, the largest ratio between two rows, which holds whatever the belief is."""
    if shift > 0 and shift >= epsilon - shift:
        return log_spread
    return added(log_ratio, shift)


@kernel
def roundings(symbols: int) -> float:
    """What a ratio is raised by, to cover the roundings of a sum over the symbols and of the few operations beside."""
    return 1.0 + (symbols + 32) * 2.0**-52
