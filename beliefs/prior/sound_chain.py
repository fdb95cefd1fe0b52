"""The chain rule repaired: bounds for every adversary of a small table, one step of knowledge after the other.

Proof: sound_chain.md. The exact leak needs every law of the sum; this needs laws of single attributes, and what was
bounded before.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.influence import passed_on_by
from beliefs.prior.outward import least_above
from beliefs.prior.transport import exact_transport

Adversary = tuple[int, tuple[int, ...]]


def chain_bounds(law: TableLaw, query: Query, scale: float) -> Mapping[Adversary, float]:
    """For each attacked attribute and known set a bound on the leak in nats."""
    everyone, bounds = range(law.size), dict[Adversary, float]()
    for count in range(law.size - 1, -1, -1):
        for attacked in everyone:
            others = [each for each in everyone if each != attacked]
            for known in itertools.combinations(others, count):
                bounds[attacked, known] = _bound(law, query, scale, attacked, known, bounds)
    return bounds


def _bound(
    law: TableLaw,
    query: Query,
    scale: float,
    attacked: int,
    known: tuple[int, ...],
    bounds: Mapping[Adversary, float],
) -> float:
    seen = Seen.by(law, query, attacked, known)
    unknown = query.unknown(known, attacked)
    if not unknown:
        return seen.group(scale)  # whether or not the law allows both values: the next step relies on that
    moved = Fraction(exact_transport(seen.weights, seen.atoms)) + 4 * Fraction(seen.atoms.moved)
    least = min(seen.group(scale), least_above(moved / Fraction(scale)))
    for removed in unknown:
        before = bounds[attacked, tuple(sorted({*known, removed}))]
        about = bounds[removed, tuple(sorted({*known, attacked}))]
        least = min(least, before + _let_through(law, attacked, removed, known, about, alone=len(unknown) == 1))
    return least


def _let_through(
    law: TableLaw, attacked: int, removed: int, known: tuple[int, ...], about: float, *, alone: bool
) -> float:
    """What not knowing one attribute more adds, if a loss of at most `about` is about it."""
    rest = tuple(axis for axis in range(law.size) if axis not in (*known, attacked, removed))
    kept = [axis for axis in range(law.size) if axis not in rest]
    margin = np.transpose(law.joint.sum(axis=rest), [kept.index(axis) for axis in (*known, attacked, removed)])
    tables = margin.reshape(-1, *margin.shape[-2:])
    if not alone and _supports_differ(tables):
        return math.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(tables)
        totals = np.logaddexp.reduce(logs, axis=2, keepdims=True)
        laws = np.where(np.isfinite(totals), logs - totals, -math.inf)
    return float(passed_on_by(laws, np.full(tables.shape[0], about)).max())


def _supports_differ(tables: Matrix) -> bool:
    """Whether a value is possible under one value of the attacked attribute and not under another, in some context."""
    met, possible = tables > 0.0, tables.any(axis=2)
    some = met.any(axis=1)
    every = np.logical_or(met, ~np.expand_dims(possible, 2)).all(axis=1)
    return bool((some & ~every).any())
