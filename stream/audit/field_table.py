"""The joint table of fields that last: which way it says what each of them loses through the others.

Where every field of which something was told has reports that speak for one cell of values each, what is lost is
exact, unless there are more than 2^20 outputs to look at: then coarse reports count in full. Otherwise, and where that
is less, it is the bound for any reports of these amounts. Amounts beyond `far` count as without bound: above 64 nats,
or 280 shared among the fields of the table, where all reports speak for cells, and above 250 nats elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import UNBOUNDED, UNITS
from stream.audit.field_leaks import FAR, Decimals, Told, columns_of, laws_of, through_any, through_cells
from stream.audit.field_moved import Radii, patterns_of, through_any_moved, through_patterns, through_sums
from stream.audit.field_rules import Axis

MOST_OUTPUTS: Final = 1 << 20
_RAISED: Final = Decimal(2) ** -20


class Table:
    def __init__(self, axes: tuple[Axis, ...], weights: NDArray[np.float64]) -> None:
        self._radii = [_raised(axis.radii) for axis in axes]
        self.places = [axis.place for axis in axes]
        self._axes, self._weights = axes, weights
        self._laws: dict[int, Decimals] = {}
        self._near = min(64, 280 // len(axes)) * UNITS
        self.far = self._near if all(axis.cells is not None for axis in axes) else FAR

    def leak(self, place: int, amounts: tuple[int, ...]) -> int:
        """What the field at this place loses; of each field of the table a fine and a coarse amount, in its order."""
        number = self.places.index(place)
        told = [
            Told(fine, coarse, axis.cells, axis.groups)
            for axis, fine, coarse in zip(self._axes, amounts[::2], amounts[1::2], strict=True)
        ]
        others = [each for each in told if each is not told[number]]
        if not others:
            return 0
        laws = self._laws_about(number)
        radii = self._radii[number]
        if radii is not None:
            return self._moved(laws, told, others, radii)
        if not _speak_for_cells(others):
            return through_any(laws, others)
        if self._are_few(told):
            return through_cells(laws, [self._nearer(each) for each in others])
        finely = through_cells(laws, [self._nearer(each)._replace(coarse=0) for each in others])
        return min(UNBOUNDED, finely + sum(each.coarse for each in others), through_any(laws, others))

    def _moved(self, laws: Decimals, told: Sequence[Told], others: Sequence[Told], radii: Radii) -> int:
        """The same of a table that is known within radii. Exact are patterns of outputs, if these are not too many."""
        if not _speak_for_cells(others):
            return through_any_moved(laws, others, radii)
        nearer = [self._nearer(each) for each in others]
        patterns = math.prod(patterns_of(size, each) for size, each in zip(laws.shape[1:], others, strict=True))
        if patterns * len(laws) <= MOST_OUTPUTS:
            return through_patterns(laws, nearer, radii)
        if self._are_few(told):
            return through_sums(laws, nearer, radii)
        finely = through_sums(laws, [each._replace(coarse=0) for each in nearer], radii)
        return min(UNBOUNDED, finely + sum(each.coarse for each in others), through_any_moved(laws, others, radii))

    def _are_few(self, told: Sequence[Told]) -> bool:
        sizes = zip(self._weights.shape, told, strict=True)
        return math.prod(max(size, columns_of(size, each)) for size, each in sizes) <= MOST_OUTPUTS

    def _nearer(self, told: Told) -> Told:
        fine, coarse = (amount if amount <= self._near else UNBOUNDED for amount in (told.fine, told.coarse))
        return told._replace(fine=fine, coarse=coarse)

    def _laws_about(self, number: int) -> Decimals:
        found = self._laws.get(number)
        if found is None:
            found = self._laws[number] = laws_of(self._weights, number)
        return found


def _speak_for_cells(others: Sequence[Told]) -> bool:
    return all(each.cells is not None or not (each.fine or each.coarse) for each in others)


def _raised(radii: Radii | None) -> Radii | None:
    """All radii about a field by the same, if there are any above 0: room for whoever rounds."""
    if radii is None or not any(radii):
        return None
    return tuple(min(Decimal(1), radius + _RAISED) for radius in radii)
