"""A tree given by the laws of each two neighbours, given each other. Proof: edges.md."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.dependence.passed import ROUNDINGS_A_UNIT, Frontiers
from beliefs.dependence.tree import Edgewise, TreeInfluence
from beliefs.laws.forest import by_depth
from beliefs.simplex import Vector

SAME = 1e-6
"""Chances that follow from each other by Bayes' rule within this share of themselves are printed alike."""

Edges = Mapping[tuple[int, int], Matrix]
"""[one, two] holds the law of two, given one: a row for each value of one."""


def tree_of_edges(edges: Edges) -> TreeInfluence:
    """Checks that there are laws both ways, that they belong to one joint law, and that no way leads back."""
    names = sorted({name for pair in edges for name in pair})
    _check_both_ways(edges)
    parents = _parents(edges, names)
    _check_marginals(edges)
    places = {name: place for place, name in enumerate(names)}
    above = np.array([places.get(parents[name], -1) for name in names], dtype=np.int64)
    order, _ = by_depth(above)
    tied = [(name, parents[name]) for name in names if parents[name] >= 0]
    edge_of = np.where(above >= 0, np.cumsum(above >= 0) - 1, -1)
    widest = max(max(table.shape) for table in edges.values())
    numbers = np.arange(len(tied))
    to_parent = Edgewise(numbers, Frontiers.of(edges[parent, name] for name, parent in tied))
    to_child = Edgewise(numbers, Frontiers.of(edges[name, parent] for name, parent in tied))
    return TreeInfluence(above, order, edge_of, to_parent, to_child, 2 + 4 * widest // ROUNDINGS_A_UNIT)


def _check_both_ways(edges: Edges) -> None:
    for (one, two), table in edges.items():
        if (two, one) not in edges:
            raise Invalid("edges", f"lead from {one} to {two}, but not back; the law is needed both ways")
        if edges[two, one].shape != table.T.shape:
            raise Invalid("edges", f"between {one} and {two} have tables that do not fit: rows one way, columns back")
    values: dict[int, int] = {}
    for (one, _), table in edges.items():
        if values.setdefault(one, len(table)) != len(table):
            raise Invalid("edges", f"give {one} different numbers of values")


def _parents(edges: Edges, names: list[int]) -> dict[int, int]:
    """-1 for the first of each tree."""
    tied: dict[int, list[int]] = {name: [] for name in names}
    for one, two in edges:
        tied[one].append(two)
    parents: dict[int, int] = {}
    for first in names:
        if first in parents:
            continue
        parents[first], border = -1, [first]
        while border:
            one = border.pop()
            for two in tied[one]:
                if two == parents[one]:
                    continue
                if two in parents:
                    raise Invalid("edges", f"form a circle through {two}; only trees have a law that pairs determine")
                parents[two] = one
                border.append(two)
    return parents


def _check_marginals(edges: Edges) -> None:
    """Each pair of tables follows from one joint law, and what it says of one of the two agrees with other pairs."""
    known: dict[int, tuple[Vector, int]] = {}
    for (one, two), table in edges.items():
        for weights in _weights(table, edges[two, one], one, two):
            law, other = known.setdefault(one, (weights, two))
            if not np.allclose(law, weights, rtol=SAME, atol=0.0):
                raise Invalid("edges", f"say one thing of {one} beside {other}, and another beside {two}")


def _weights(forth: Matrix, back: Matrix, one: int, two: int) -> Iterator[Vector]:
    """The law of `one` by itself, where the tables determine it: chance(one) x forth = chance(two) x back."""
    met = forth > 0.0
    if not bool((met == (back.T > 0.0)).all()):
        raise Invalid("edges", f"between {one} and {two} exclude values together one way that they do not exclude back")
    with np.errstate(divide="ignore", invalid="ignore"):
        raised = np.where(met, np.log(back.T) - np.log(forth), 0.0)
    rows, columns = np.full(len(forth), math.nan), np.full(len(back), math.nan)
    rows[0], border = 0.0, [0]
    while border:
        row = border.pop()
        for column in np.flatnonzero(met[row] & np.isnan(columns)).tolist():
            columns[column] = rows[row] - raised[row, column]
            for other in np.flatnonzero(met[:, column] & np.isnan(rows)).tolist():
                rows[other] = columns[column] + raised[other, column]
                border.append(other)
    apart = np.abs(rows[:, None] - columns - raised)[met]
    if bool((apart > SAME).any()):
        raise Invalid("edges", f"between {one} and {two} are no two sides of one law: Bayes' rule does not hold")
    if not bool(np.isnan(rows).any()):
        weights = np.exp(rows - rows.max())
        yield weights / np.add.accumulate(weights)[-1]
