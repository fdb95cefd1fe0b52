"""Numbers on a grid, clipped: what one person may add to a sum. Note: quantised.md.

A value is put on the grid before it is added, by whole numbers, so that sums are exact in any order, and noise on the
grid leaves no hole in the law of what is released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

from beliefs.alphabet import is_json_number
from beliefs.checks import Invalid

UNITS_MAX = 1 << 31
"""Of one contribution: those of 2^32 people stay below 2^63."""


@dataclass(frozen=True)
class Amounts:
    """Numbers from `low` to `high` in whole multiples of `grid`; what lies outside counts as the nearer end."""

    low: Decimal
    high: Decimal
    grid: Decimal
    low_units: int = field(init=False, repr=False, compare=False)
    high_units: int = field(init=False, repr=False, compare=False)
    centre: int = field(init=False, repr=False, compare=False)
    _grid: tuple[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("low", "high", "grid"):
            if not getattr(self, name).is_finite():
                raise Invalid(name, "must be a finite number")
        if self.grid <= 0:
            raise Invalid("grid", "must be above 0")
        if not self.low < self.high:
            raise Invalid("high", "must be above low")
        grid = self.grid.as_integer_ratio()
        ends = [Fraction(end) / Fraction(*grid) for end in (self.low, self.high)]
        if max(map(abs, ends)) > UNITS_MAX:
            raise Invalid("grid", f"is too fine: low and high must lie within {UNITS_MAX} steps of it from 0")
        low, high = map(round, ends)
        if low == high:
            raise Invalid("grid", "is too wide: low and high fall on the same step of it")
        for name, value in (
            ("low_units", low),
            ("high_units", high),
            ("centre", round(sum(ends) / 2)),
            ("_grid", grid),
        ):
            object.__setattr__(self, name, value)

    @property
    def reach(self) -> int:
        """By how much one person can move a sum: by another value, by coming or by staying away, which adds 0."""
        return max(abs(self.low_units), abs(self.high_units), self.width)

    @property
    def width(self) -> int:
        return self.high_units - self.low_units

    @property
    def half(self) -> int:
        """The farthest that a value lies from the centre."""
        return max(self.high_units - self.centre, self.centre - self.low_units)

    def index_of(self, value: object) -> int | None:
        """The step that the number falls on, a middle on the even one; nothing if it is no finite number.

        Rounding ascends, so that clipping afterwards is clipping before.
        """
        if not is_json_number(value) or not (type(value) is int or math.isfinite(value)):
            return None
        return self.clipped(_rounded(value, self._grid))

    def clipped(self, units: int) -> int:
        """Units that were added up, within the same ends."""
        return min(max(units, self.low_units), self.high_units)

    def value_at(self, units: int) -> Decimal:
        """So many steps as an exact decimal."""
        with localcontext() as context:
            context.prec = 100
            context.traps[Inexact] = True
            return units * self.grid


def _rounded(value: int | float, grid: tuple[int, int]) -> int:
    """value/grid to the nearest whole number, a middle to the even one; exact for every double and integer."""
    top, bottom = value.as_integer_ratio()
    top *= grid[1]
    bottom *= grid[0]
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole & 1))
