"""Formulas about prior knowledge as they were published, which are no guarantees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.table import TableLaw
from beliefs.prior.published import (
    Edge,
    chain_rule,
    correlation_of_values,
    fast_search,
    full_search,
    influences,
    pair_table,
)
from beliefs.simplex import Vector
from stream.compute.correlated_published import NO_GUARANTEE
from stream.compute.inputs import ascending_set, number, whole_number
from stream.compute.prior import Known, context_in
from stream.compute.sequence import Result

FULL, FAST = "full", "fast"
SEARCHED_MAX = {FULL: 20, FAST: 64}
UNKNOWN_MAX = 12


def chain(
    joint: Matrix,
    domains: Sequence[Vector],
    scale: float,
    attacked: int,
    known: Known = (),
    known_values: Known | None = None,
) -> Result:
    """Theorems 2 and 5."""
    law = TableLaw(joint, tuple(domains))
    context_in(law, attacked, known, known_values)
    if law.size - len(known) - 1 > UNKNOWN_MAX:
        raise Invalid("joint", f"has more than {UNKNOWN_MAX} attributes besides the attacked and the known ones")
    return {"epsilon": chain_rule(law, scale, attacked, known, known_values), **NO_GUARANTEE}


def influence(
    joint: Matrix,
    domains: Sequence[Vector],
    scale: float,
    attacked: int,
    other: int,
    known: Known = (),
    known_values: Known | None = None,
) -> Result:
    """Eq. (9) and Pearson's coefficient."""
    law = TableLaw(joint, tuple(domains))
    if known and known_values is None:
        raise Invalid("known_values", "is missing; an influence is that in one context")
    context_in(law, attacked, known, known_values)
    if other >= law.size or other == attacked or other in known:
        raise Invalid("other", "must be an attribute that is neither attacked nor known")
    pair = pair_table(law, attacked, other, known, known_values or ())
    return {
        "pairs": [list(each) for each in influences(pair, law.domains[other], scale)],
        "correlation": correlation_of_values(pair, law.domains[attacked], law.domains[other]),
        **NO_GUARANTEE,
    }


def graph(ranges: Vector, scale: float, default: float, edges: Sequence[Mapping[str, object]], variant: str) -> Result:
    """Algorithms 1 and 2 on weights that are given."""
    if variant not in SEARCHED_MAX:
        raise Invalid("variant", f"is not known; there are {', '.join(SEARCHED_MAX)}")
    if ranges.size > SEARCHED_MAX[variant]:
        raise Invalid("ranges", f"has {ranges.size} entries; the {variant} search takes up to {SEARCHED_MAX[variant]}")
    weights: dict[Edge, float] = {}
    for row, edge in enumerate(edges):
        place, weight = _edge(edge, ranges.size, f"entry {row} ")
        if place in weights:
            raise Invalid("edges", f"entry {row} gives a weight to an edge that has one")
        weights[place] = weight
    search = full_search if variant == FULL else fast_search
    return {**search(ranges.tolist(), scale, weights, default)._asdict(), **NO_GUARANTEE}


def _edge(edge: Mapping[str, object], size: int, where: str) -> tuple[Edge, float]:
    """A step that takes one attribute away from what is known."""
    if set(edge) != {"attacked", "removed", "known", "weight"}:
        raise Invalid("edges", f"{where}must have attacked, removed, known and weight, and nothing else")
    try:
        attacked, removed = (whole_number(edge[name], name) for name in ("attacked", "removed"))
        known, weight = ascending_set(edge["known"], "known"), number(edge["weight"], "weight")
    except Invalid as problem:
        raise Invalid("edges", f"{where}has a wrong {problem.field}, which {problem.reason}") from None
    if len({attacked, removed, *known}) != len(known) + 2:
        raise Invalid("edges", f"{where}names an attribute twice")
    if max(attacked, removed, *known) >= size:
        raise Invalid("edges", f"{where}names an attribute that does not exist; there are {size}")
    return (attacked, removed, frozenset(known)), weight
