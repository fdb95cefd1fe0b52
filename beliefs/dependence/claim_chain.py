"""What releases of several windows tell about one, where a user's contributions are a chain. Proof: claim.md."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Places
from beliefs.dependence.budget import largest_loss
from beliefs.dependence.chain import ChainInfluence, stationary_law
from beliefs.dependence.remembered import remembered
from beliefs.laws.chosen import Law
from beliefs.laws.markov import MarkovLaw
from beliefs.prior.worst import SOUND
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from beliefs.simplex import TOLERANCE

CLOSE = 1 << 8


@dataclass(frozen=True, eq=False)
class ChainClaim:
    """The worst window of any `horizon` in a row; the chain is as long as the windows that lose something."""

    chain: ChainInfluence
    adversary: str
    horizon: int
    sides: OrderedDict[int, tuple[Places, Places]] = field(default_factory=OrderedDict, repr=False)
    known: OrderedDict[tuple[int, ...], int] = field(default_factory=OrderedDict, repr=False)
    method = SOUND

    def leak(self, losses: Sequence[int]) -> int:
        told = _between_zeros(losses[-self.horizon :])
        if not told:
            return 0
        if min(told) == max(told):
            return remembered(self.known, (told[0], len(told)), lambda: self._alike(told[0], len(told)))
        return remembered(self.known, (len(told), *told), lambda: self._apart(told))

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        """Own losses are always told, so no loss above the target needs to be looked at; right to 1/256."""
        before = list(spent[max(0, len(spent) - self.horizon + 1) :])
        if self.leak(before) > target:
            return 0
        return largest_loss(lambda loss: self.leak([*before, loss]), target, min(target, INFINITE - 1), CLOSE)

    def _alike(self, loss: int, count: int) -> int:
        if loss >= INFINITE // (count + 1):
            return INFINITE
        left, right = remembered(self.sides, loss, lambda: self.chain.sides_of(loss))
        return int((loss + left[:count] + right[:count][::-1]).max())

    def _apart(self, losses: Sequence[int]) -> int:
        chain = replace(self.chain, length=len(losses))
        return chain.worst(np.array(losses, dtype=np.int64)).units


def chain_claim(law: Law, adversary: str, horizon: int, *, knowing: bool) -> ChainClaim:
    """The chain must keep its law of one window, as any windows in a row are to have the same one."""
    if not isinstance(law, MarkovLaw):
        raise Invalid("windows", "must have the law of a chain: what one window's contribution says of the next one's")
    try:
        kept = stationary_law(law.rows)
    except Invalid as problem:
        raise Invalid("windows", f"have a law whose {problem.field} {problem.reason}") from None
    if bool((np.abs(kept - law.start) > TOLERANCE).any()):
        shown = ", ".join(f"{each:.6g}" for each in kept.tolist())
        raise Invalid("windows", f"have a law with another start than the one that it keeps, which is {shown}")
    chain = ChainInfluence.of(replace(law, start=kept, length=horizon), knowing=knowing)
    claim = ChainClaim(chain, adversary, horizon)
    if horizon > 1:  # what would take too long is refused now, and not at some window
        claim.leak([UNITS_PER_NAT] * horizon)
        claim.leak([UNITS_PER_NAT] * (horizon - 1) + [1])
    return claim


def _between_zeros(losses: Sequence[int]) -> Sequence[int]:
    """What lies before the first loss or behind the last one tells less than these do."""
    first = next((place for place, loss in enumerate(losses) if loss), len(losses))
    last = next((place for place in range(len(losses), first, -1) if losses[place - 1]), first)
    return losses[first:last]
