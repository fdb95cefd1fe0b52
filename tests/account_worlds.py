"""Tables, amounts and radii of all kinds for accounts of several fields."""

from __future__ import annotations

import numpy as np
from account_oracles import Matrix

from beliefs.correlation.account import Totals
from beliefs.rounding import units_up
from beliefs.simplex import Vector


def apart(size: int) -> tuple[int, ...]:
    return tuple(range(size))


def halves(size: int) -> tuple[int, ...]:
    return tuple(2 * value // size for value in range(size))


def some_table(generator: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
    """Even ones, lopsided ones and ones with zeros, but no value without weight."""
    weights: Matrix = generator.gamma(generator.choice([0.2, 1.0, 30.0]), size=shape) + 1e-9
    if generator.random() < 0.4:
        holes = np.where(generator.random(shape) < 0.3, 0.0, weights)
        if all(np.moveaxis(holes, axis, 0).reshape(size, -1).any(axis=1).all() for axis, size in enumerate(shape)):
            return holes
    return weights


def some_units(generator: np.random.Generator, *scales: float) -> int:
    return units_up(float(generator.choice(scales) * generator.random()))


def some_radii(generator: np.random.Generator, size: int) -> Vector:
    """Small ones, large ones, none, and all."""
    return np.minimum(1.0, generator.choice([1e-9, 0.02, 0.3, 1.5]) * generator.choice([0.0, 1.0, 1.0], size))


def require_rising(totals: Totals, generator: np.random.Generator, rounding: int) -> None:
    """No total falls by more than so many units when more is told, and none is above the plain sum."""
    account = totals.nothing
    before = totals.of(account)
    for _ in range(12):
        place = int(generator.integers(0, len(account)))
        account = tuple(
            told + (some_units(generator, 0.5, 3.0, 90.0) if word == place else 0) for word, told in enumerate(account)
        )
        after = totals.of(account)
        assert all(late + rounding >= early for early, late in zip(before, after, strict=True))
        assert max(after) <= totals.most(account)
        before = after
