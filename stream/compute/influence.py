"""What any releases tell along a chain or a tree, given what they may change with one attribute alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import rows_of
from beliefs.dependence.budget import largest_loss
from beliefs.dependence.chain import ChainInfluence, stationary_law
from beliefs.dependence.edges import Edges, tree_of_edges
from beliefs.laws.components import components_of
from beliefs.laws.markov import MarkovLaw
from beliefs.prior.calibration import WEAKEST, WORST
from beliefs.prior.outward import least_above
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units, nats, units_up
from beliefs.simplex import Vector
from stream.compute.dependent import knows
from stream.compute.inputs import channel, whole_number
from stream.compute.sequence import Result

SEARCHED_MAX = 1 << 24
"""Chances along a chain that is looked at once for each loss that is tried."""


def influence(
    transition: Sequence[Vector] = (),
    length: int = 0,
    edges: Sequence[Mapping[str, object]] | None = None,
    adversary: str = WORST,
    loss: float | None = None,
    epsilon: float | None = None,
) -> Result:
    """The leak of a loss that is the same for every attribute, or the largest loss for a leak."""
    if (loss is None) == (epsilon is None):
        raise Invalid("loss", "belongs to a choice: give exactly one of loss, or epsilon")
    knowing = knows(adversary)
    if edges is None:
        leak, together = _along_chain(transition, length, knowing=knowing), length
    else:
        if knowing:
            raise Invalid("adversary", f"of a tree is {WEAKEST}: who knows others is looked at on chains only")
        leak, together = _along_tree(_edges_of(edges))
    if loss is not None:
        told = leak(units_up(loss)) if loss <= nats(INFINITE) else INFINITE
        return {"epsilon": min(nats(told), least_above(Fraction(loss) * together))}
    assert epsilon is not None
    if edges is None and length * len(transition) ** 3 > SEARCHED_MAX:
        raise Invalid("length", "is too large to look for a loss; ask for the epsilon of a loss instead")
    found = largest_loss(leak, budget_units(epsilon), min(INFINITE - 1, budget_units(epsilon)))
    return {"loss": _down(max(Fraction(found, UNITS_PER_NAT), Fraction(epsilon) / together))}


def _along_chain(transition: Sequence[Vector], length: int, *, knowing: bool) -> Callable[[int], int]:
    if len(transition) != transition[0].size:
        raise Invalid("transition", f"has {len(transition)} rows of {transition[0].size} entries; it must be square")
    rows = rows_of(transition)
    law = MarkovLaw(rows, stationary_law(rows), np.arange(float(len(rows))), length)
    chain = ChainInfluence.of(law, knowing=knowing)
    return lambda loss: chain.worst_of(loss).units


def _along_tree(edges: Edges) -> tuple[Callable[[int], int], int]:
    tree = tree_of_edges(edges)
    children = np.flatnonzero(tree.parents >= 0)
    largest = components_of(tree.size, np.stack([children, tree.parents[children]], axis=1)).largest
    return lambda loss: tree.worst(np.full(tree.size, loss, dtype=np.int64)).units, largest


def _edges_of(listed: Sequence[Mapping[str, object]]) -> Edges:
    if not listed:
        raise Invalid("edges", "is empty")
    found = {}
    for place, edge in enumerate(listed):
        if set(edge) != {"from", "to", "conditional"}:
            raise Invalid("edges", f"entry {place} must have from, to and conditional, and nothing else")
        try:
            one, two = (whole_number(edge[name], name) for name in ("from", "to"))
            table = rows_of(channel(edge["conditional"], "conditional"))
        except Invalid as problem:
            raise Invalid("edges", f"entry {place} has a wrong {problem.field}, which {problem.reason}") from None
        if one == two or (one, two) in found:
            raise Invalid("edges", f"entry {place} leads back to where it starts, or is given twice")
        found[one, two] = table
    return found


def _down(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)
