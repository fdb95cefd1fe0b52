"""Totals of several fields by definition: every output of every extreme mechanism, in decimals of 45 digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt

from beliefs.rounding import UNITS_PER_NAT

Matrix = npt.NDArray[np.float64]
OWN_ERROR = Decimal("1e-20")
"""What the decimals themselves may be off by, in units: far more than 45 digits leave."""

Column = tuple[Decimal, ...]
Columns = list[Column]


def power(units: int) -> Decimal:
    with localcontext() as context:
        context.prec = 45
        return (Decimal(units) / UNITS_PER_NAT).exp()


def response_columns(classes: Sequence[int], units: int) -> Columns:
    """The chances, up to a factor, of each report of randomised response over classes; one column if none is made."""
    if units == 0:
        return [(Decimal(1),) * len(classes)]
    high = power(units)
    return [tuple(high if each == named else Decimal(1) for each in classes) for named in sorted(set(classes))]


def extreme_columns(size: int, units: int) -> Columns:
    """The corners of all columns whose entries lie between 1 and e^units."""
    if units == 0:
        return [(Decimal(1),) * size]
    return list(itertools.product((Decimal(1), power(units)), repeat=size))


def both(columns: Columns, others: Columns, groups: Sequence[int]) -> Columns:
    """A report of the value and one of its group; `others` has an entry for each group."""
    with localcontext() as context:
        context.prec = 45
        return [
            tuple(one * other[group] for one, group in zip(column, groups, strict=True))
            for column in columns
            for other in others
        ]


def leak_units(weights: Matrix, secret: int, columns: Sequence[Columns]) -> Decimal:
    """The largest log ratio over all products of columns of the axes other than the secret's, in units."""
    with localcontext() as context:
        context.prec = 45
        laws, worst = laws_of(weights, secret), Decimal(1)
        for product in products(columns):
            chances = [sum((p * c for p, c in zip(law, product, strict=True)), Decimal(0)) for law in laws]
            highest, lowest = max(chances), min(chances)
            if lowest > 0:
                worst = max(worst, highest / lowest)
        return worst.ln() * UNITS_PER_NAT - OWN_ERROR


def moved_leak_units(weights: Matrix, secret: int, columns: Sequence[Columns], radii: Sequence[Decimal]) -> Decimal:
    """The same under the worst of all tables whose laws, given each value, lie within that value's radius: as much as
    it allows is taken from the cells that weigh least, or most, and given to one that weighs most, or least.
    """
    with localcontext() as context:
        context.prec = 45
        laws, worst = laws_of(weights, secret), Decimal(1)
        for product in products(columns):
            highs, lows = (
                [_moved(law, product, radius, rising=rising) for law, radius in zip(laws, radii, strict=True)]
                for rising in (True, False)
            )
            for one, other in itertools.permutations(range(len(laws)), 2):
                worst = max(worst, highs[one] / lows[other])
        return worst.ln() * UNITS_PER_NAT - OWN_ERROR


def _moved(law: Sequence[Decimal], weights: Sequence[Decimal], radius: Decimal, *, rising: bool) -> Decimal:
    left, chance = radius, Decimal(0)
    for weight, part in sorted(zip(weights, law, strict=True), reverse=not rising):
        taken = min(left, part)
        left -= taken
        chance += (part - taken) * weight
    return chance + (radius - left) * (max(weights) if rising else min(weights))


def laws_of(weights: Matrix, secret: int) -> list[list[Decimal]]:
    turned = np.moveaxis(weights, secret, 0)
    return [_law(row) for row in turned.reshape(turned.shape[0], -1).tolist()]


def _law(row: Sequence[float]) -> list[Decimal]:
    weights = [Decimal(each) for each in row]
    total = sum(weights, Decimal(0))
    return [each / total for each in weights]


def products(columns: Sequence[Columns]) -> Iterator[list[Decimal]]:
    for chosen in itertools.product(*columns):
        yield [math.prod(entries, start=Decimal(1)) for entries in itertools.product(*chosen)]
