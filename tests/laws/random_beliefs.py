"""Beliefs of awkward shapes: flat, steep, tiny, zero, tied, certain, and near where a mechanism changes its case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from channels import epsilon_units

from beliefs.simplex import normalised
from mechanisms.contract import Floats

# Just above the logarithm of a whole number, 1 - k p* is tiny: one symbol is then released once in 10^9 times, and
# rounding to whole units weighs most, all the more where epsilon itself is tiny.
ROUNDING_WEIGHS_MOST = 1e-9
NEARLY_WHOLE = (ROUNDING_WEIGHS_MOST, 4e-9, *(float(np.log(whole)) + 1e-9 * whole for whole in (2, 3, 5)))
SPREAD_OUT = (
    1e-6,
    1e-5,
    1e-3,
    0.01,
    0.1,
    0.3,
    0.5,
    0.8,
    1.0,
    1.3,
    1.7,
    2.0,
    3.0,
    4.0,
    6.0,
    8.0,
    11.0,
    16.0,
    24.0,
    32.0,
)
EPSILONS = (*SPREAD_OUT, *NEARLY_WHOLE)
SHAPES = 9


def belief_of(shape: int, symbols: int, epsilon: float, rng: np.random.Generator) -> Floats:
    floor = 1.0 / (1.0 + np.exp(epsilon))
    match shape:
        case 0:
            masses = rng.dirichlet(np.ones(symbols))
        case 1:
            masses = rng.dirichlet(np.full(symbols, 0.2))
        case 2:
            masses = 10.0 ** rng.uniform(-12.0, 0.0, symbols)
        case 3:
            masses = rng.integers(1, 4, symbols).astype(np.float64)  # ties
        case 4:
            masses = rng.dirichlet(np.ones(symbols)) * (rng.random(symbols) < 0.6)
        case 5:
            masses = np.where(np.arange(symbols) == rng.integers(symbols), 1.0, rng.choice([0.0, 1e-12]))
        case 6:
            masses = np.round(rng.dirichlet(np.ones(symbols)), 2)
        case 7:  # around p*, where a symbol begins to need more than its own mass
            masses = floor * (1.0 + rng.choice([0.0, 1e-15, -1e-15, 1e-12, 1e-9, -1e-9, 0.1, -0.1, -0.5], symbols))
            masses[rng.integers(symbols)] = max(1.0 - masses[1:].sum(), floor)
        case _:  # one likely value and equal rare ones that together just reach p*: the donor's borderline
            masses = np.full(symbols, floor * (1.0 + 10.0 ** rng.uniform(-10, -3)) / max(symbols - 1, 1))
            masses *= 1.0 + 1e-11 * rng.random(symbols)
            masses[0] = max(1.0 - masses[1:].sum(), floor)
    masses = np.maximum(masses, 0.0)
    if not masses.sum() > 0.0:
        masses[0] = 1.0
    return normalised(masses)


def cases(
    count: int, seed: int, symbols_max: int = 8, epsilons: Sequence[float] = EPSILONS
) -> Iterator[tuple[Floats, int]]:
    """Pairs (belief, epsilon in units)."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        epsilon = float(rng.choice(epsilons))
        symbols = int(rng.integers(1, symbols_max + 1))
        yield belief_of(number % SHAPES, symbols, epsilon, rng), epsilon_units(epsilon)
