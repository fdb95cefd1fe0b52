"""Crowds that can be worked out: what is exact beside the paper's bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

from beliefs.crowd.divergence import apart, least_epsilon
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.sums import Sum, added, certain, law, times
from beliefs.crowd.worst import largest_delta, smallest_epsilon
from beliefs.laws.markov import MarkovLaw
from beliefs.simplex import Vector

FAIR: Final = np.array([0.5, 0.5])


class Moments(NamedTuple):
    """Of one person: the variance, the third central moment with and without its sign, and the paper's raw ones."""

    variance: float
    third: float
    absolute: float
    raw_third: float
    raw_fourth: float


def moments(chances: Vector) -> Moments:
    values = np.arange(float(chances.size))
    away = values - float((chances * values).sum())
    powers = (away**2, away**3, abs(away) ** 3, values**3, values**4)
    return Moments(*(float((chances * each).sum()) for each in powers))


def bits(probability: float, users: int = 1) -> Group:
    return Group(np.array([1.0 - probability, probability]), users)


def chosen(users: int, probability: float) -> Vector:
    """How many of so many are selected."""
    mass: Vector = binom.pmf(np.arange(users + 1), users, probability)
    return mass


def both_ways(mass: Vector, epsilon: float) -> float:
    """M against M + 1 and the other way round: the exact delta, by its definition."""
    factor = math.exp(epsilon)
    up, down = np.append(0.0, mass[:-1]), np.append(mass[1:], 0.0)
    return max(float(np.maximum(mass - factor * other, 0.0).sum()) for other in (up, down))


def given_at_least(mass: Vector, minimum: int) -> Vector:
    kept = np.where(np.arange(mass.size) >= minimum, mass, 0.0)
    return kept / kept.sum()


def from_normal(mass: Vector) -> float:
    """Kolmogorov's distance from the normal law with the same mean and variance: both sides of every step."""
    places = np.arange(float(mass.size))
    mean = float((mass * places).sum())
    deviation = math.sqrt(float((mass * (places - mean) ** 2).sum()))
    below, normal = np.add.accumulate(mass), ndtr((places - mean) / deviation)
    return float(max(np.abs(below - normal).max(), np.abs(below - mass - normal).max()))


def sum_of(laws: Sequence[Vector]) -> Vector:
    mass = np.ones(1)
    for each in laws:
        mass = np.convolve(mass, each)
    return mass


def fair_bits(users: int) -> Sum:
    return times(law(FAIR), users)


def delta_of_shift(others: Sum, shift: int, epsilon: float) -> float:
    return apart(others, added(others, certain(shift)), epsilon)


def epsilon_of_shift(others: Sum, shift: int, delta: float) -> float:
    return least_epsilon(delta, lambda at: delta_of_shift(others, shift, at))


def of_fair_bits(users: int, epsilon: float) -> float:
    return largest_delta(kinds_of([Group(FAIR, users)]), epsilon)


def epsilon_of_fair_bits(users: int, delta: float) -> float:
    return smallest_epsilon(kinds_of([Group(FAIR, users)]), delta)


def equal_in(blocks: int, size: int, epsilon: float) -> float:
    """Blocks of people who all have the same fair bit: the delta for one of them, who moves his whole block."""
    return largest_delta(kinds_of([Group(np.array([0.5, *[0.0] * (size - 1), 0.5]), blocks)]), epsilon)


def epsilon_equal_in(blocks: int, size: int, delta: float) -> float:
    return smallest_epsilon(kinds_of([Group(np.array([0.5, *[0.0] * (size - 1), 0.5]), blocks)]), delta)


def sticky(stay: float, length: int) -> MarkovLaw:
    rows = np.array([[stay, 1.0 - stay], [1.0 - stay, stay]])
    return MarkovLaw(rows, FAIR, np.array([0.0, 1.0]), length)
