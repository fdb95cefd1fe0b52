"""Slow answers about noisy sums of dependent attributes, right by definition: every cell, on a grid of outputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw

Matrix = npt.NDArray[np.float64]


def cells_of(law: TableLaw, weights: Sequence[float]) -> tuple[Matrix, Matrix, Matrix]:
    """Every combination of values: their numbers, its weighted sum, and the log of its chance."""
    places = np.stack(np.meshgrid(*(np.arange(each) for each in law.joint.shape), indexing="ij"), axis=-1)
    places = places.reshape(-1, law.size)
    values = np.stack([domain[places[:, axis]] for axis, domain in enumerate(law.domains)], axis=1)
    with np.errstate(divide="ignore"):
        return places, values @ np.asarray(weights, dtype=float), np.log(law.joint.ravel())


def densities(
    law: TableLaw,
    weights: Sequence[float],
    scale: float,
    attacked: int,
    known: dict[int, int],
    outputs: Matrix,
) -> Matrix:
    """Log densities of the output, one row for each value of the attacked attribute that is possible there."""
    places, sums, logs = cells_of(law, weights)
    here = np.all([places[:, axis] == value for axis, value in known.items()] or [np.ones(sums.size)], axis=0)
    rows = []
    for value in range(law.joint.shape[attacked]):
        met = here & (places[:, attacked] == value) & np.isfinite(logs)
        if met.any():
            total = np.logaddexp.reduce(logs[met])
            away = np.abs(outputs[None] - sums[met][:, None]) / scale
            rows.append(np.logaddexp.reduce(logs[met][:, None] - total - away, axis=0))
    return np.array(rows)


def contexts_of(law: TableLaw, known: Sequence[int]) -> Iterator[dict[int, int]]:
    """Values of the known attributes that can occur."""
    for values in itertools.product(*(range(law.joint.shape[axis]) for axis in known)):
        fixed = dict(zip(known, values, strict=True))
        if law.joint[tuple(fixed.get(axis, slice(None)) for axis in range(law.size))].any():
            yield fixed


def leak_on_a_grid(
    law: TableLaw,
    weights: Sequence[float],
    scale: float,
    attacked: int,
    known: Sequence[int],
    between: int = 6,
) -> tuple[float, float]:
    """The largest log ratio at all sums, and at outputs between and beyond them."""
    _, sums, _ = cells_of(law, weights)
    atoms = np.unique(sums)
    shares = np.linspace(0.0, 1.0, between + 2)[1:-1]
    inner = (atoms[:-1, None] + np.diff(atoms)[:, None] * shares).ravel()
    outer = [atoms[0] - 3.0 * scale, atoms[0] - 50.0 * scale, atoms[-1] + 3.0 * scale, atoms[-1] + 50.0 * scale]
    found = []
    for outputs in (atoms, np.concatenate([inner, outer])):
        largest = 0.0
        for fixed in contexts_of(law, known):
            rows = densities(law, weights, scale, attacked, fixed, outputs)
            largest = max(largest, float((rows.max(axis=0) - rows.min(axis=0)).max()))
        found.append(largest)
    return found[0], found[1]


def chance_of_interval(sums: Matrix, masses: Matrix, scale: float, low: float, high: float) -> float:
    """The probability that the noisy sum lies in an interval, from the distribution function of the noise."""

    def below(end: float) -> Matrix:
        away = (end - sums) / scale
        return np.where(away < 0, 0.5 * np.exp(np.minimum(away, 0.0)), 1.0 - 0.5 * np.exp(-np.maximum(away, 0.0)))

    return math.fsum((masses * (below(high) - below(low))).tolist())


def adversaries(size: int, most: int | None = None) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Everybody: by the attacked attribute, then from few known ones to many."""
    for attacked in range(size):
        others = [each for each in range(size) if each != attacked]
        for count in range(size if most is None else most + 1):
            yield from ((attacked, known) for known in itertools.combinations(others, count))


def some_table(generator: np.random.Generator, size: int | None = None, values: int = 3) -> TableLaw:
    """Laws of one to five attributes: even or uneven, some with zeros, some with independent parts."""
    count = int(generator.integers(1, 6)) if size is None else size
    shape = tuple(int(generator.integers(1, (values if count < 4 else 2) + 1)) for _ in range(count))
    joint = generator.gamma(generator.choice([0.2, 1.0, 5.0]), size=shape)
    kind = int(generator.integers(4))
    if kind == 0:
        joint[generator.random(shape) < 0.35] = 0.0
    if kind == 1 and count > 1:
        half = count // 2
        joint = np.multiply.outer(joint.sum(axis=tuple(range(half, count))), joint.sum(axis=tuple(range(half))))
    joint.flat[-1] += 0.05 * joint.sum() + 1e-3
    domains = (np.sort(generator.choice(np.arange(-4, 9), each, replace=False)).astype(float) for each in shape)
    return TableLaw(joint / joint.sum(), tuple(domains))


def some_weights(generator: np.random.Generator, size: int) -> Matrix:
    return generator.choice([1.0, 1.0, 1.0, -1.0, 0.5, 0.3, 0.0, -2.0], size)


def some_chain(generator: np.random.Generator, lengths: tuple[int, int] = (1, 6)) -> MarkovLaw:
    """Chains of one to three values: fast and slow, some with impossible steps or a sure start."""
    states, length = int(generator.integers(1, 4)), int(generator.integers(*lengths))
    rows = generator.dirichlet(np.full(states, generator.choice([0.3, 1.0, 5.0])), states)
    if generator.random() < 0.35:
        rows = np.where(generator.random(rows.shape) < 0.35, 0.0, rows)
        rows[np.arange(states), generator.integers(0, states, states)] += 0.1
    start = generator.dirichlet(np.ones(states))
    if generator.random() < 0.25:
        start = np.eye(states)[generator.integers(states)]
    domain = np.sort(generator.choice(np.arange(-4, 6), states, replace=False)).astype(float)
    return MarkovLaw(rows / rows.sum(axis=1, keepdims=True), start, domain, length)
