"""Slow answers about dependent attributes, right by definition: every cell, every set, every adversary."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from prior_oracles import adversaries, contexts_of

from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw

Matrix = npt.NDArray[np.float64]

PARITY = np.array([[[0.25, 0.0], [0.0, 0.25]], [[0.0, 0.25], [0.25, 0.0]]])
"""Three bits whose sum is even."""


def through(laws: Matrix, loss: float) -> float:
    """The largest ln (1 + w A)/(1 + w B) over all pairs of rows and all sets of columns."""
    sets = (np.arange(1 << laws.shape[1])[:, None] >> np.arange(laws.shape[1])) & 1
    inside = (sets[:, None, :] * laws).sum(axis=2)
    outside = ((1 - sets)[:, None, :] * laws).sum(axis=2)
    with np.errstate(divide="ignore"):
        told = np.logaddexp(np.log(outside), loss + np.log(inside))
    return max(0.0, float((told.max(axis=1) - told.min(axis=1)).max()))


def conditional(law: TableLaw, one: int, two: int, fixed: dict[int, int]) -> Matrix:
    """The laws of attribute two given each possible value of one, where some others have these values."""
    index = tuple(fixed.get(axis, slice(None)) for axis in range(law.size))
    kept = [axis for axis in range(law.size) if axis not in fixed]
    rest = tuple(place for place, axis in enumerate(kept) if axis not in (one, two))
    pair = law.joint[index].sum(axis=rest)
    pair = pair if one < two else pair.T
    rows = pair[pair.any(axis=1)]
    return rows / rows.sum(axis=1, keepdims=True)


def influence(law: TableLaw, ties: list[tuple[int, int]], losses: list[float], known: tuple[int, ...]) -> list[float]:
    """Section 2 H for each attribute that is not known, the largest over what the known ones may be."""
    found = [0.0] * law.size
    for fixed in contexts_of(law, known):

        def told(one: int, towards: int, fixed: dict[int, int] = fixed) -> float:
            if one in fixed:
                return 0.0
            below = losses[one] + sum(told(other, one) for other in beside(one) if other != towards)
            return through(conditional(law, towards, one, fixed), below)

        def beside(one: int) -> Iterator[int]:
            return (sum(tie) - one for tie in ties if one in tie)

        for one in range(law.size):
            if one not in known:
                found[one] = max(found[one], losses[one] + sum(told(other, one) for other in beside(one)))
    return found


def influence_of_anybody(law: TableLaw, ties: list[tuple[int, int]], losses: list[float]) -> list[float]:
    found = [0.0] * law.size
    for count in range(law.size):
        for known in itertools.combinations(range(law.size), count):
            told = influence(law, ties, losses, known)
            found = [max(pair) for pair in zip(found, told, strict=True)]
    return found


def some_mechanism(generator: np.random.Generator, shape: tuple[int, ...], outputs: int) -> Matrix:
    """Chances of outputs in every cell: noisy sums, noisy sets of cells, or anything that is not too sharp."""
    kind, size = int(generator.integers(3)), len(shape)
    cells = np.stack(np.meshgrid(*(np.arange(each) for each in shape), indexing="ij"), axis=-1)
    if kind == 0:
        sums = (cells * generator.choice([1.0, 1.0, -1.0, 0.5], size)).sum(axis=-1)
        marks = np.linspace(sums.min() - 2.0, sums.max() + 2.0, outputs)
        logs = -np.abs(sums[..., None] - marks) / float(generator.choice([0.5, 1.0, 4.0]))
    elif kind == 1:
        logs = float(generator.choice([0.2, 1.0, 2.0])) * generator.integers(0, 2, (*shape, outputs))
    else:
        logs = generator.normal(size=(*shape, outputs))
    chances = np.exp(logs)
    return chances / chances.sum(axis=-1, keepdims=True)


def losses_of(chances: Matrix) -> list[float]:
    """For each attribute the largest log ratio of one output's chances when it alone changes."""
    logs = np.log(chances)
    return [float((logs.max(axis=axis) - logs.min(axis=axis)).max()) for axis in range(logs.ndim - 1)]


def some_releases(generator: np.random.Generator, shape: tuple[int, ...]) -> tuple[Matrix, list[float]]:
    """Two queries, the second of which depends on the first one's output: chances of both, and losses added up."""
    first = some_mechanism(generator, shape, 3)
    seconds = [some_mechanism(generator, shape, 3) for _ in range(3)]
    both = np.concatenate([first[..., [k]] * second for k, second in enumerate(seconds)], axis=-1)
    after = np.max([losses_of(second) for second in seconds], axis=0)
    return both, [one + two for one, two in zip(losses_of(first), after.tolist(), strict=True)]


def joint_leak(law: TableLaw, chances: Matrix, attacked: int, known: tuple[int, ...]) -> float:
    """The largest log ratio of an output's chances under two values of the attacked attribute, in any context."""
    rest = [axis for axis in range(law.size) if axis != attacked and axis not in known]
    turned = np.transpose(chances, (*known, attacked, *rest, law.size))
    weights = law.arranged(known, attacked)
    told = (weights[..., None] * turned.reshape(*weights.shape, -1)).sum(axis=2)
    masses = weights.sum(axis=2)
    widest = 0.0
    for context, mass in zip(told, masses, strict=True):
        logs = np.log(context[mass > 0.0] / mass[mass > 0.0, None])
        if len(logs) > 1:
            widest = max(widest, float((logs.max(axis=0) - logs.min(axis=0)).max()))
    return widest


def largest_joint_leak(law: TableLaw, chances: Matrix, *, knowing: bool) -> float:
    return max(joint_leak(law, chances, *each) for each in adversaries(law.size, None if knowing else 0))


def some_tree(generator: np.random.Generator, size: int, states: int) -> tuple[TreeLaw, list[tuple[int, int]]]:
    """One to three trees in any order of attributes; some steps are impossible, some say nothing."""
    names = generator.permutation(size)
    parents = np.full(size, -1, dtype=np.int64)
    for place in range(1, size):
        if generator.random() < 0.85:
            parents[names[place]] = names[generator.integers(place)]
    kernels = generator.dirichlet(np.full(states, generator.choice([0.4, 1.0, 5.0])), (2, states)) + 1e-3
    if generator.random() < 0.3:
        kernels = np.where(generator.random(kernels.shape) < 0.3, 0.0, kernels) + 0.2 * np.eye(states)
    kernels /= kernels.sum(axis=2, keepdims=True)
    roots = generator.dirichlet(np.ones(states), int((parents < 0).sum()))
    law = TreeLaw(parents, roots, kernels, generator.integers(0, 2, size), np.arange(float(states)))
    return law, [(one, two) for one, two in enumerate(parents.tolist()) if two >= 0]


def some_chain(generator: np.random.Generator, states: int, length: int) -> MarkovLaw:
    rows = generator.dirichlet(np.full(states, generator.choice([0.4, 1.0, 5.0])), states) + 1e-3
    if generator.random() < 0.3:
        rows = np.where(generator.random(rows.shape) < 0.3, 0.0, rows) + 0.2 * np.eye(states)
    start = generator.dirichlet(np.ones(states))
    return MarkovLaw(rows / rows.sum(axis=1, keepdims=True), start, np.arange(float(states)), length)
