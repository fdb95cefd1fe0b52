"""Numbers from `low` to `high` in steps of `grid`, as sections declare them."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final, Protocol

from stream.settings.amounts import write_decimal
from stream.settings.own_names import Wrong

Steps = tuple[Decimal, Decimal, Decimal]

_MOST_STEPS: Final = 1_000_000_000
"""So that the sum of two thousand million users' contributions fits 62 bits."""


class Stepped(Protocol):
    """A section with these three."""

    @property
    def low(self) -> Decimal | None: ...
    @property
    def high(self) -> Decimal | None: ...
    @property
    def grid(self) -> Decimal | None: ...


def steps_of(declared: Stepped) -> Steps | None:
    """low, high and grid, where all are given."""
    if declared.low is None or declared.high is None or declared.grid is None:
        return None
    return declared.low, declared.high, declared.grid


def wrong_steps(steps: Steps) -> Iterator[Wrong]:
    low, high, grid = steps
    if grid <= 0:
        yield ("grid",), write_decimal(grid), "a step above 0", "write how fine values are looked at, such as 0.5"
        return
    if not low < high:
        yield ("high",), f"{write_decimal(high)}, with low {write_decimal(low)}", "more than low", "raise high"
    for name, bound in (("low", low), ("high", high)):
        if abs(bound) > grid * _MOST_STEPS:
            found = f"{write_decimal(bound)} with a grid of {write_decimal(grid)}"
            yield (name,), found, f"at most {_MOST_STEPS:,} steps of the grid from 0", "choose larger steps"
        elif bound % grid:
            nearest = (bound / grid).to_integral_value() * grid
            fix = f"write {write_decimal(nearest)}, or a grid that divides it"
            yield (name,), f"{write_decimal(bound)}, between two multiples of the grid", "a multiple of grid", fix
