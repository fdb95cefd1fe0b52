"""The small laws that the paper names, and those that its claims fail on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.gaussian import Sums, gaussian_leak

TWO: Final = np.array([0.0, 1.0])
FAR: Final = np.array([0.0, 5.0])


def table(joint: object, *domains: Matrix) -> TableLaw:
    """Weights that are divided by their sum; bits where no values are named."""
    weights = np.asarray(joint, dtype=float)
    return TableLaw(weights / weights.sum(), domains or (TWO,) * weights.ndim)


TABLE_2: Final[Mapping[str, TableLaw]] = {
    "a": table([[3, 2], [2, 3]]),
    "b": table([[2, 3], [3, 2]]),
    "a'": table([[49, 1], [1, 49]]),
    "b'": table([[1, 49], [49, 1]]),
    "c": table([[1, 0], [0, 1]]),
    "d": table([[1, 0], [0, 1]], TWO, FAR),
}
"""Table II and Example 3; of (d) the second value of x2 is 5, as Example 4 needs."""

FIVE: Final[Mapping[str, TableLaw]] = {
    "perfectly positive": TABLE_2["c"],
    "weakly positive": TABLE_2["a"],
    "independent": table([[1, 1], [1, 1]]),
    "weakly negative": TABLE_2["b"],
    "perfectly negative": table([[0, 1], [1, 0]]),
}
"""Figure 2. Weak is as in Table II: the figure names no numbers."""

RIGHT_TAIL: Final = table([[2, 0], [1, 1]])
INTERIOR: Final = table([[0.005, 0.495], [0.495, 0.005]], TWO, FAR)
OTHER_PAIR: Final = table([[0, 1], [1, 0], [1, 0]], np.array([0.0, 1.0, 3.0]), FAR)
ALL_POSITIVE: Final = table([[[2, 4], [1, 16]], [[1, 18], [4, 85]]], TWO, FAR, TWO)
FLIPPED_SIGN: Final = table([[0, 50, 0], [24.5, 0, 25.5]], TWO, np.arange(3.0))
FLIPPED_SIGNS: Final = table([[0, 50, 0], [24.5, 0, 25.5], [24.5, 0, 25.5]], np.arange(3.0), np.arange(3.0))
PARITY: Final = table([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
"""The first is 1 where the two others differ."""

CONTEXTS: Final = table([[[9, 1], [1, 9]], [[1, 9], [9, 1]]])
"""Axis 2 decides whether the first two are alike."""

ALL_COVARIANCES_POSITIVE: Final = GaussianLaw(np.array([[1.0, 0.95, 1.07], [0.95, 1.0, 0.1], [1.07, 0.1, 9.77]]), 1.0)
"""x3 is 10 x1 - 9.4 x2 and a little noise; x1 and x2 correlate with .95."""


def copies(count: int, flip: float = 0.01) -> TableLaw:
    """A fair bit, and so many copies of one noisy reading of it."""
    joint = np.zeros((2,) * (count + 1))
    for bit in (0, 1):
        joint[(bit, *(bit,) * count)] = (1 - flip) / 2
        joint[(bit, *(1 - bit,) * count)] = flip / 2
    return table(joint)


def alike(count: int, apart: float) -> TableLaw:
    """So many readings of one hidden fair bit, each wrong with the chance `apart`: any two correlate the same way."""
    ones = np.indices((2,) * count).sum(axis=0)
    hidden = [apart**ones * (1 - apart) ** (count - ones), apart ** (count - ones) * (1 - apart) ** ones]
    return table(hidden[0] + hidden[1])


def sticky(length: int, stays: float = 0.9) -> MarkovLaw:
    return MarkovLaw(np.array([[stays, 1 - stays], [1 - stays, stays]]), np.full(2, 0.5), TWO, length)


def even(size: int, rho: float) -> GaussianLaw:
    """Figures 4(c) and (d): +1 or -1 off the diagonal and 1/|rho| on it."""
    covariance = np.full((size, size), np.sign(rho))
    np.fill_diagonal(covariance, 1.0 / abs(rho))
    return GaussianLaw(covariance, 1.0)


def leak(law: TableLaw, attacked: int = 0, known: tuple[int, ...] = (), scale: float = 1.0) -> float:
    """Eq. (2), the largest over what the known ones may be."""
    return Seen.by(law, Query.of(law), attacked, known).leak(scale)


def gauss(law: GaussianLaw, attacked: int = 0, known: tuple[int, ...] = (), scale: float = 1.0) -> float:
    return gaussian_leak(law, Sums(np.ones((1, law.size)), np.array([scale])), attacked, known)
