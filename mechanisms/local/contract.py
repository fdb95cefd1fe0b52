"""What every local mechanism says of itself: numbers that hold for one field of `values` values."""

from __future__ import annotations

from typing import Any, Protocol

from beliefs.correlation.outputs import Sets
from mechanisms.coins import Coins
from mechanisms.contract import Floats, Integers
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


class Drawn(Protocol):
    """A mechanism in the whole numbers that its reports are drawn from; `words` of coins a report."""

    @property
    def values(self) -> int: ...

    @property
    def words(self) -> int: ...

    @property
    def level(self) -> float:
        """The epsilon of these whole numbers for one report, rounded up."""
        ...

    def draw(self, values: Integers, coins: Coins) -> Any:
        """Reports in the mechanism's own form, one for each value and row of coins."""
        ...

    def counts(self, reports: Any) -> Integers | Floats:
        """How many reports support each value, or name each cell of top-k; of noisy cells their sums."""
        ...

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        """Frequencies with the chances of exactly these whole numbers."""
        ...
