"""Formulas about prior knowledge as they were published, which are no bounds: for comparison. See published.md."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.table import TableLaw
from beliefs.prior.outward import least_above
from beliefs.prior.scaled import LONGEST
from beliefs.simplex import Vector

Edge = tuple[int, int, frozenset[int]]
"""The attacked attribute, the one that is no longer known, and those that still are."""


class Layers(NamedTuple):
    """Largest values from the strongest adversary on, the largest of all, and the size of the whole graph."""

    layers: list[float]
    epsilon: float
    nodes: int
    edges: int


def chain_rule(
    law: TableLaw, scale: float, attacked: int, known: tuple[int, ...], values: tuple[int, ...] | None = None
) -> float:
    """Theorems 2 and 5 by Algorithm 1: takes what is unknown away from the strongest adversary, in every order.

    An edge's weight is the increment that makes the sum largest, over all contexts of what is still known.
    """
    rest = [axis for axis in range(law.size) if axis != attacked and axis not in known]
    fixed = dict(zip(known, values, strict=True)) if values is not None else {}
    domain = law.domains[attacked]
    own = (Fraction(float(domain[-1])) - Fraction(float(domain[0]))) / Fraction(scale)
    node = {frozenset(rest): least_above(own)}
    for count in range(len(rest) - 1, -1, -1):
        layer = {}
        for left in map(frozenset, itertools.combinations(rest, count)):
            reached = []
            for removed in set(rest) - left:
                gains = increments(law, scale, attacked, removed, tuple(sorted({*known, *left})), fixed)
                before = node[left | {removed}]
                reached.append(max((abs(before + gain) for gain in gains), default=before))
            layer[left] = min(reached)
        node = layer
    return node[frozenset()]


def increments(
    law: TableLaw, scale: float, attacked: int, other: int, known: tuple[int, ...], fixed: Mapping[int, int]
) -> list[float]:
    """Eq. (9) for all pairs a < b of possible values in every possible context; some known values may be fixed."""
    tables = _pairs_in_contexts(law, attacked, other, known, fixed)
    return [gain for table in tables for _, _, gain in influences(table, law.domains[other], scale)]


def influences(table: Matrix, domain: Vector, scale: float) -> list[tuple[int, int, float]]:
    """Eq. (9) between two attributes: a, b, and ln of E[e^(-other/scale)] under a, over the same under b."""
    if Fraction(float(domain[-1])) - Fraction(float(domain[0])) > Fraction(scale) * Fraction(LONGEST):
        raise Invalid("scale", "is so small that values are no longer told apart by their distances in scales")
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    totals = np.logaddexp.reduce(logs, axis=1)
    means = np.logaddexp.reduce(logs - (domain - domain[0]) / scale, axis=1)
    met = np.flatnonzero(np.isfinite(totals)).tolist()
    levels = {value: float(means[value] - totals[value]) for value in met}
    return [(one, two, levels[one] - levels[two]) for one, two in itertools.combinations(met, 2)]


def pair_table(law: TableLaw, attacked: int, other: int, known: tuple[int, ...], values: tuple[int, ...]) -> Matrix:
    """Weights of the values of two attributes in one context, all others left out of sight."""
    (table,) = _pairs_in_contexts(law, attacked, other, known, dict(zip(known, values, strict=True)))
    return table


def correlation_of_values(table: Matrix, one: Vector, two: Vector) -> float:
    """Pearson's coefficient of the values themselves; 0 where one of the two does not vary."""
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    one, two = (each / max(abs(each).max(), 2.0**-1000) for each in (one, two))  # so that no square overflows
    down, along = one - (rows * one).sum(), two - (columns * two).sum()
    spread = math.sqrt(float((rows * down**2).sum()) * float((columns * along**2).sum()))
    together = float((joint * down[:, None] * along).sum())
    return max(-1.0, min(1.0, together / spread)) if spread > 0.0 else 0.0


def full_search(ranges: Sequence[float], scale: float, weights: Mapping[Edge, float], default: float) -> Layers:
    """Algorithm 1: the value of a node is the least over the edges that lead to it."""
    count = len(ranges)
    everyone = (1 << count) - 1
    heights = np.full((count, 1 << count), math.inf)
    special = _as_bits(weights)
    layers = []
    for attacked, extent in enumerate(ranges):
        heights[attacked, everyone & ~(1 << attacked)] = extent / scale
    sizes = np.array([mask.bit_count() for mask in range(1 << count)])
    for size in range(count - 1, -1, -1):
        masks = np.flatnonzero(sizes == size)
        tops = [_lowered(heights, attacked, masks, special, default, count, size) for attacked in range(count)]
        layers.append(max(tops))
    return Layers(layers, max(layers), count << (count - 1), (count * (count - 1) << count) >> 2)


def fast_search(ranges: Sequence[float], scale: float, weights: Mapping[Edge, float], default: float) -> Layers:
    """Algorithm 2: only the n largest nodes of a layer lead on; of equal ones those that come first."""
    count = len(ranges)
    everyone = frozenset(range(count))
    nodes = {(attacked, everyone - {attacked}): extent / scale for attacked, extent in enumerate(ranges)}
    layers = [max(nodes.values())]
    for _ in range(count - 1):
        following: dict[tuple[int, frozenset[int]], float] = {}
        for (attacked, known), height in nodes.items():
            for removed in sorted(known):
                left = known - {removed}
                reached = abs(height + weights.get((attacked, removed, left), default))
                following[attacked, left] = min(reached, following.get((attacked, left), math.inf))
        kept = sorted(following, key=lambda node: (-following[node], node[0], sorted(node[1])))[:count]
        nodes = {node: following[node] for node in kept}
        layers.append(max(nodes.values()))
    return Layers(layers, max(layers), count << (count - 1), (count * (count - 1) << count) >> 2)


def _lowered(
    heights: Matrix,
    attacked: int,
    masks: np.typing.NDArray[np.int64],
    special: Mapping[tuple[int, int], Mapping[int, float]],
    default: float,
    count: int,
    size: int,
) -> float:
    """Fills in one layer of the nodes about one attribute, and says how high it reaches."""
    own = masks[(masks >> attacked) & 1 == 0]
    if size < count - 1:
        least = np.full(own.size, math.inf)
        for removed in range(count):
            free = ((own >> removed) & 1 == 0) & (removed != attacked)
            gains = np.full(own.size, default)
            for mask, weight in special.get((attacked, removed), {}).items():
                gains[own == mask] = weight
            with np.errstate(over="ignore"):
                reached = np.abs(heights[attacked, own | (1 << removed)] + gains)
            least = np.where(free, np.minimum(least, reached), least)
        heights[attacked, own] = least
    return float(heights[attacked, own].max())


def _as_bits(weights: Mapping[Edge, float]) -> dict[tuple[int, int], dict[int, float]]:
    special: dict[tuple[int, int], dict[int, float]] = {}
    for (attacked, removed, known), weight in weights.items():
        special.setdefault((attacked, removed), {})[sum(1 << each for each in known)] = weight
    return special


def _pairs_in_contexts(
    law: TableLaw, attacked: int, other: int, known: tuple[int, ...], fixed: Mapping[int, int]
) -> list[Matrix]:
    """For each possible context the weights of the two attributes' values."""
    rest = tuple(axis for axis in range(law.size) if axis not in (*known, attacked, other))
    margin = law.joint.sum(axis=rest)
    kept = [axis for axis in range(law.size) if axis not in rest]
    turned = np.transpose(margin, [kept.index(axis) for axis in (*known, attacked, other)])
    chosen = turned[tuple(fixed.get(axis, slice(None)) for axis in known)]
    tables = chosen.reshape(-1, *turned.shape[-2:])
    return [table for table in tables if table.any()]
