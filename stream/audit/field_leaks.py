"""What a value that lasts loses through the other fields of a joint table, worked out a second time.

A table's rows are laws of all other fields given one field's value. Reports of another field make some of its values
less likely than others, by e^-E at most, E being the levels of all its reports added up; reports of its group do the
same to groups, by e^-C. What is sought is the largest ratio between what two rows say of the outputs. Numbers are
decimals of 50 digits, and only positive ones are added; amounts without bound make e^-E nothing.

* Where every report speaks for one cell of values, an output that tells the most has all fine reports of a field speak
  for one cell, and all coarse ones for one group: each output is a cell and a group of each field.
* Otherwise the other fields are one, whose values are the combinations and whose groups those of the groups. For a
  ratio h the best output counts a value 1 if it is above h times as likely in the one row as in the other, else e^-E;
  and a group 1 if what it then counts in the one row is above h times that in the other, else e^-C. From 1 on, h rises
  to what that output attains until it attains no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from itertools import permutations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import UNBOUNDED, UNITS

Decimals = NDArray[Any]
"""Arrays of `Decimal`, added and multiplied one by one."""

FAR: Final = 250 * UNITS
"""Where outputs may speak for any set, amounts in sum above this count as without bound."""

EXACT: Final = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
_NONE, _ONE = Decimal(0), Decimal(1)


class Told(NamedTuple):
    """Of one other field: what its fine and its coarse reports told, in units, and the cell and the group of each of
    its values; where there are none, each value is its own.
    """

    fine: int
    coarse: int
    cells: tuple[int, ...] | None
    groups: tuple[int, ...] | None


def laws_of(weights: NDArray[np.float64], secret: int) -> Decimals:
    """A row for each value of the secret, with an axis for each other field, in their order."""
    turned = np.moveaxis(weights, secret, 0)
    with localcontext(EXACT):
        exact = np.array([Decimal(weight) for weight in turned.ravel().tolist()], dtype=object).reshape(turned.shape)
        totals = exact.reshape(turned.shape[0], -1).sum(axis=1)
        laws: Decimals = exact / totals.reshape(-1, *[1] * (turned.ndim - 1))
    return laws


def columns_of(size: int, told: Told) -> int:
    """How many outputs of one field there are that tell the most."""
    cells = len(set(told.cells or range(size))) if told.fine else 1
    return cells * (len(set(told.groups or range(size))) if told.coarse else 1)


def through_cells(laws: Decimals, told: Sequence[Told]) -> int:
    """In units, rounded up, where reports of each axis speak for one cell, or one group."""
    with localcontext(EXACT):
        seen = reported(laws, told)
        likely, unlikely = seen.max(axis=0).ravel().tolist(), seen.min(axis=0).ravel().tolist()
        return max(in_units(high, low) for high, low in zip(likely, unlikely, strict=True))


def reported(laws: Decimals, told: Sequence[Told]) -> Decimals:
    """What each row says of each output that speaks for one cell, and one group, of each axis."""
    seen = laws
    for axis, each in enumerate(told, 1):
        seen = np.moveaxis(_along(np.moveaxis(seen, axis, 0), each), 0, axis)
    return seen


def _along(cells: Decimals, told: Told) -> Decimals:
    """Along the first axis, each output's chances in place of each value's."""
    whole: Decimals = cells.sum(axis=0, keepdims=True)
    if not told.fine and not told.coarse:
        return whole
    low, own = power(told.fine), tuple(range(cells.shape[0]))
    if not told.coarse and (told.cells or own) == own:
        mixed: Decimals = whole * low + cells * (_ONE - low)
        return mixed
    fine = _counts(told.cells or own, told.fine)
    coarse = _counts(told.groups or own, told.coarse)
    return np.array([(cells.T * (one * other)).T.sum(axis=0) for one in fine for other in coarse], dtype=object)


def _counts(classes: tuple[int, ...], units: int) -> list[Decimals]:
    """For each class what it makes each value count; a single output where nothing was told."""
    if not units:
        return [np.array([_ONE] * len(classes), dtype=object)]
    low = power(units)
    return [
        np.array([_ONE if mine == named else low for mine in classes], dtype=object) for named in sorted(set(classes))
    ]


def through_any(laws: Decimals, told: Sequence[Told]) -> int:
    """In units, rounded up, where outputs may speak for any set of combinations of values."""
    low, lower = (sum(getattr(each, amount) for each in told) for amount in ("fine", "coarse"))
    with localcontext(EXACT):
        rows, edges = by_group(laws, told)
        counts = power(low if low <= FAR else UNBOUNDED), power(lower if lower <= FAR else UNBOUNDED)
        ratio = _ONE
        for one, other in permutations(rows, 2):
            while True:
                mine, theirs = best(one, other, edges, counts, ratio)
                if mine and not theirs:
                    return UNBOUNDED
                if not theirs or mine / theirs <= ratio:
                    break
                ratio = mine / theirs
        return in_units(ratio, _ONE)


def by_group(laws: Decimals, told: Sequence[Told]) -> tuple[Decimals, list[int]]:
    """Rows of the combinations, those of one group side by side, and where the groups begin. Fields of which nothing
    was told are summed out; one of which nothing was told coarsely is one group.
    """
    number = np.zeros((1,) * len(told), dtype=np.int64)
    for axis, each in enumerate(told):
        if not each.fine and not each.coarse:
            laws = laws.sum(axis=axis + 1, keepdims=True)
        groups = np.array(each.groups if each.coarse and each.groups else [0] * laws.shape[axis + 1])
        shape = [-1 if place == axis else 1 for place in range(len(told))]
        number = number * (int(groups.max()) + 1) + groups.reshape(shape)
    order = np.argsort(number.ravel(), kind="stable")
    ordered = number.ravel()[order]
    edges = [0, *(np.flatnonzero(np.diff(ordered)) + 1).tolist()]
    return laws.reshape(laws.shape[0], -1)[:, order], edges


def best(
    one: Decimals, other: Decimals, edges: list[int], counts: tuple[Decimal, Decimal], ratio: Decimal
) -> tuple[Decimal, Decimal]:
    """What two rows say of the output that is best against a ratio."""
    low, lower = counts
    above = one > other * ratio
    mine, theirs = one * low, other * low
    mine[above], theirs[above] = one[above], other[above]
    found, against = _NONE, _NONE
    for its, others in zip(np.add.reduceat(mine, edges), np.add.reduceat(theirs, edges), strict=True):
        count = _ONE if its > others * ratio else lower
        found, against = found + its * count, against + others * count
    return found, against


def power(units: int) -> Decimal:
    """e^-units."""
    return _NONE if units >= UNBOUNDED else (-Decimal(units) / UNITS).exp()


def in_units(high: Decimal, low: Decimal) -> int:
    if high <= low:
        return 0
    return int(((high / low).ln() * UNITS).to_integral_value(rounding=ROUND_CEILING)) if low else UNBOUNDED
