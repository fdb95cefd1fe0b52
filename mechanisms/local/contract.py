"""What every local mechanism says of itself: numbers that hold for one field of `values` values."""

from __future__ import annotations

from typing import Protocol

from beliefs.correlation.outputs import Sets
from mechanisms.contract import Floats
from mechanisms.local.estimate import Estimate
from mechanisms.local.guesses import Guess


class Local(Protocol):
    """`p`, `q`: the chances that a report supports its own value, and another one; None where reports support none."""

    @property
    def values(self) -> int: ...

    @property
    def p(self) -> float | None: ...

    @property
    def q(self) -> float | None: ...

    @property
    def level(self) -> float:
        """The true epsilon of one report."""
        ...

    def extras(self) -> dict[str, object]:
        """The mechanism's own parameters by their names."""
        ...

    def worst_sets(self) -> Sets:
        """Which sets of values outputs make e^level times likelier than the others."""
        ...

    def guess(self) -> Guess: ...

    def estimate(self, counts: Floats, reports: int) -> Estimate: ...
