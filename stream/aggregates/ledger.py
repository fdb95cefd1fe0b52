"""The gate of a window: whether it is released, with more noise, or withheld, from public facts alone.

Nobody's data is looked at: the losses of the windows before, the claim about dependence, the target, and whether a
partition's sums are missing. So the decision itself tells nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from fractions import Fraction
from typing import Final, NamedTuple

from beliefs.checks import require
from stream import names
from stream.aggregates.promise import AggregatePromise

MOST_NOISE: Final = 8
"""A window is worth having with so many times its noise, and no more."""


class Decision(NamedTuple):
    """What becomes of a window. Amounts in units of 2^-40 nat: `loss` is what changing one user's contribution changes,
    `leak` what the window alone tells about a user, `total` what the last windows tell with it. `reason` is None where
    it is released, with `more_noise` times its scales.
    """

    reason: str | None
    loss: int
    leak: int
    total: int
    more_noise: Fraction = Fraction(1)


class Ledger:
    """The losses of the windows before the next one: as many as may tell something together with it."""

    def __init__(self, promise: AggregatePromise, losses: Iterable[int] = ()) -> None:
        self._claim, self._target, self._planned = promise.claim, promise.target, promise.window_loss
        self._tops_up = promise.beyond == "top_up"
        self._losses: deque[int] = deque(losses, maxlen=promise.horizon - 1)

    @property
    def losses(self) -> tuple[int, ...]:
        """Oldest first."""
        return tuple(self._losses)

    def decide(self, *, missing: bool) -> Decision:
        """The next window in order; what it loses is charged. `missing`: a partition's sums of it are not there."""
        spent = list(self._losses)
        decision = self._withheld(spent, names.WITHHELD_PARTIAL) if missing else self._decide(spent)
        self._losses.append(decision.loss)
        return decision

    def _decide(self, spent: list[int]) -> Decision:
        planned = self._planned
        total = self._claim.leak([*spent, planned])
        if self._target is None or total <= self._target:
            return Decision(None, planned, self._claim.leak([planned]), total)
        if self._tops_up:
            left = min(planned, self._claim.next_loss(spent, self._target))
            if left * MOST_NOISE >= planned:
                total = self._claim.leak([*spent, left])
                require(total <= self._target, "what a claim lets be lost stays within the target")
                return Decision(None, left, self._claim.leak([left]), total, Fraction(planned, left))
        return self._withheld(spent, names.WITHHELD_BUDGET)

    def _withheld(self, spent: list[int], reason: str) -> Decision:
        return Decision(reason, 0, 0, self._claim.leak([*spent, 0]))
