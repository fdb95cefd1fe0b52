"""What is passed on where only the odds between attributes are known, whoever is known. Proof: odds.md.

A coupling is the largest log odds ratio of two attributes, all others given. Couplings, losses and leaks are whole
units of 2^-40 nat, and only + - * / touch what decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beliefs.correlation.bound import Matrix, Places
from beliefs.dependence.passed import faded
from beliefs.laws.components import components_of
from beliefs.laws.forest import by_depth
from beliefs.laws.tree import TreeLaw
from beliefs.native import kernel, part_of_caller
from beliefs.prior.influence import least_tied, widest_odds
from beliefs.prior.structure import structure_of
from beliefs.rounding import INFINITE, UNITS_PER_NAT, add_units, log_units_up

COARSE = 1 << 10
"""Couplings of tables are rounded up to a billionth of a nat: their logarithms are the processor's own."""

FAINTEST = 1e-290
"""Sums of powers below this are no longer divided by."""

SWEEPS = 64
"""Where messages still rise after so many, nothing better than the group's bound is said."""


@part_of_caller
def passed_by_odds(coupling: int, loss: int) -> int:
    """The most that a loss about one attribute becomes about another: 2 ln (1 + xy)/(x + y), rounded up.

    x and y are e^-coupling/2 and e^-loss/2, both rounded down, as the quotient falls with either. Where it leaves the
    doubles it says nothing, and the less of the two counts.
    """
    least = min(coupling, loss)
    if least <= 0 or max(coupling, loss) >= INFINITE:
        return max(least, 0)
    x, y = faded(coupling - coupling // 2), faded(loss - loss // 2)
    if x + y < FAINTEST:
        return least
    return min(least, 2 * log_units_up((1.0 + x * y) / (x + y)))


@dataclass(frozen=True, eq=False)
class TableOdds:
    """Any table, by the couplings of each two of its attributes; `left_out` is added to what is told."""

    couplings: Places
    left_out: int

    @classmethod
    def of(cls, joint: Matrix) -> TableOdds:
        found = structure_of(joint)
        with np.errstate(invalid="ignore"):
            coarse = np.ceil(found.couplings * (1.0 + 2.0**-40) * (UNITS_PER_NAT // COARSE))
        units = np.where(coarse < INFINITE // COARSE, coarse, INFINITE // COARSE).astype(np.int64) * COARSE
        left_out = 0 if found.left_out == 0.0 else int(np.ceil(found.left_out * UNITS_PER_NAT)) + COARSE
        return cls(units, left_out)

    def worst_of(self, loss: int) -> int:
        """About whomever most is told, where everybody has the same loss."""
        size = len(self.couplings)
        leaks, counted = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        found = _all_attacked(self.couplings, np.empty_like(self.couplings), leaks, counted, min(loss, INFINITE))
        return min(found + self.left_out, size * loss, INFINITE)


@dataclass(frozen=True, eq=False)
class GraphOdds:
    """Attributes tied in pairs: the chance of all values is a product over attributes and pairs.

    Each tie stands twice, once for either direction: `start[i]` .. `start[i + 1]` are those that lead to i, with
    `coupling`; `back` is the number of the same tie the other way round. `together` says of each attribute how many
    hang together with it, and `order` who is looked at first.
    """

    order: Places
    start: Places
    back: Places
    coupling: Places
    together: Places

    @classmethod
    def of(cls, order: Places, ties: Places, couplings: Places) -> GraphOdds:
        """Each row of `ties` names two of the attributes that `order` lists."""
        count, size = len(ties), order.size
        components = components_of(size, ties)
        target = np.concatenate([ties[:, 0], ties[:, 1]])
        sorting = np.argsort(target, kind="stable")
        place = np.empty(2 * count, dtype=np.int64)
        place[sorting] = np.arange(2 * count)
        back = place[(sorting + count) % (2 * count)] if count else sorting
        start = np.searchsorted(target[sorting], np.arange(size + 1)).astype(np.int64)
        together = components.sizes()[components.of]
        return cls(order, start, back.astype(np.int64), np.tile(couplings, 2)[sorting], together)

    @classmethod
    def of_tree(cls, law: TreeLaw) -> GraphOdds:
        """The couplings are those of each edge by itself; one that excludes values has no end."""
        both = law.both_ways()
        odds = [widest_odds(np.ascontiguousarray(table)[None, :, None, :, None]) for table in both.down]
        units = np.array([log_units_up(each) for each in odds], dtype=np.int64)
        children = np.flatnonzero(law.parents >= 0)
        ties = np.stack([children, law.parents[children]], axis=1)
        return cls.of(by_depth(law.parents)[0], ties, units[both.edge_of[children]])

    def leaks(self, losses: Places) -> Places:
        """About each attribute, whoever else is known."""
        told, messages = np.empty_like(losses), np.zeros_like(self.back)
        capped = np.minimum(losses, INFINITE)
        widest = int(capped.max(initial=0))
        endless = self.together > INFINITE // max(widest, 1)
        cap = np.where(endless, INFINITE, np.where(endless, 0, self.together) * widest)
        ties = (self.start, self.back, self.coupling)
        return told if _settle(self.order, *ties, cap, capped, messages, told) else cap

    def worst_of(self, loss: int) -> int:
        return int(self.leaks(np.full(self.order.size, loss, dtype=np.int64)).max(initial=0))


@kernel
def _settle(
    order: Places,
    start: Places,
    back: Places,
    coupling: Places,
    cap: Places,
    losses: Places,
    messages: Places,
    told: Places,
) -> bool:
    """Raises messages until none moves: messages[t] is what is told through tie t to where it leads."""
    for sweep in range(SWEEPS):
        moved = False
        for place in range(order.size):
            one = order[place] if sweep % 2 == 0 else order[order.size - 1 - place]
            total = losses[one]
            for tie in range(start[one], start[one + 1]):
                total = add_units(total, messages[tie])
            told[one] = min(total, cap[one])
            for tie in range(start[one], start[one + 1]):
                others = total - messages[tie] if total < INFINITE else INFINITE
                passed = passed_by_odds(coupling[tie], min(others, cap[one]))
                if passed > messages[back[tie]]:
                    messages[back[tie]] = passed
                    moved = True
        if not moved:
            return True
    return False


@kernel
def _all_attacked(couplings: Places, left: Places, leaks: Places, counted: Places, loss: int) -> int:
    size, worst = counted.size, 0
    for attacked in range(size):
        for one in range(size):
            leaks[one], counted[one] = loss, 1
            for two in range(size):
                left[one, two] = couplings[one, two]
        counted[attacked] = 2
        _eliminate(left, leaks, counted)
        worst = max(worst, leaks[attacked])
    return worst


@kernel
def _eliminate(couplings: Places, leaks: Places, counted: Places) -> None:
    """Makes those that count 1 unknown, next always the one with the fewest ties; 0 stands for gone."""
    size = counted.size
    while True:
        gone = least_tied(couplings, counted)
        if gone < 0:
            return
        counted[gone] = 0
        for one in range(size):
            if counted[one] == 0 or couplings[one, gone] <= 0:
                continue
            leaks[one] = add_units(leaks[one], passed_by_odds(couplings[one, gone], leaks[gone]))
            for two in range(one):
                if counted[two] != 0 and couplings[two, gone] > 0:
                    more = passed_by_odds(couplings[one, gone], couplings[two, gone])
                    couplings[one, two] = couplings[two, one] = add_units(couplings[one, two], more)
