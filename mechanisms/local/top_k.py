"""Top-k randomised response: a few named values by themselves, all others as one. Proof: top_k.md.

The cells that reports name are the named values in the order in which they were given, and behind them one for all
other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import GROUPS, Sets
from mechanisms.coins import Coins
from mechanisms.contract import Floats, Integers
from mechanisms.local.estimate import Estimate
from mechanisms.local.grr import DrawnResponse, Response, drawn_response
from mechanisms.local.guesses import Guess
from mechanisms.local.units import require_values


@dataclass(frozen=True)
class TopK:
    """`top`: the values that have a cell of their own; `response`: randomised response between the cells."""

    values: int
    top: tuple[int, ...]
    response: Response

    @property
    def level(self) -> float:
        return self.response.level

    @property
    def p(self) -> float:
        return self.response.p

    @property
    def q(self) -> float:
        return self.response.q

    def extras(self) -> dict[str, object]:
        return {"top": list(self.top)}

    def worst_sets(self) -> Sets:
        """Each named value, and all others together."""
        return Sets(GROUPS, groups=groups_of(self.values, self.top))

    def guess(self) -> Guess:
        """The cell that was reported; among the others no value is likelier than another."""
        return self.response.guess()

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        """Of each cell."""
        return self.response.estimate(counts, reports)

    def channel(self) -> Floats:
        """Row: value; column: cell."""
        rows: Floats = self.response.channel()[cells_of(self.values, self.top)]
        return rows


def top_k(values: int, epsilon: float, top: Sequence[int]) -> TopK:
    chosen = _chosen(values, top)
    return TopK(values, chosen, Response(len(chosen) + 1, epsilon))


def groups_of(values: int, top: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The values of each cell."""
    return (*((value,) for value in top), tuple(value for value in range(values) if value not in set(top)))


def cells_of(values: int, top: Sequence[int]) -> Integers:
    """The cell of each value."""
    cells = np.full(values, len(top), dtype=np.int64)
    cells[list(top)] = np.arange(len(top))
    return cells


def _chosen(values: int, top: Sequence[int]) -> tuple[int, ...]:
    """Public, and known before the first report: which values are named must not depend on whom reports are about."""
    chosen = tuple(int(value) for value in top)
    if not chosen or len(set(chosen)) != len(chosen):
        raise Invalid("top", "must name at least one value, and none twice")
    if not all(0 <= value < values for value in chosen):
        raise Invalid("top", f"must hold places of values, 0 to {values - 1}")
    if len(chosen) == values:
        raise Invalid("top", "names every value, so that nothing is left for the others: that is grr")
    return chosen


@dataclass(frozen=True)
class DrawnTop:
    """What is drawn: the own cell or another one."""

    values: int
    top: tuple[int, ...]
    response: DrawnResponse
    words = 1

    @property
    def level(self) -> float:
        return self.response.level

    def draw(self, values: Integers, coins: Coins) -> Integers:
        """One cell for each value, from one word each."""
        require_values(values, self.values)
        return self.response.draw(cells_of(self.values, self.top)[values], coins)

    def counts(self, reports: Integers) -> Integers:
        """How many reports name each cell."""
        return self.response.counts(reports)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        """Of each cell."""
        return self.response.estimate(counts, reports)


def drawn_top_k(values: int, epsilon: float, top: Sequence[int]) -> DrawnTop:
    chosen = _chosen(values, top)
    return DrawnTop(values, chosen, drawn_response(len(chosen) + 1, epsilon))
