"""How far one law of a sum must be moved to become another: the largest step of the best plan. Proof: atoms.md."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.native import kernel, part_of_caller
from beliefs.prior.atoms import Atoms, Places
from beliefs.prior.scaled import Floats

SAME = 1e-12
"""Levels closer than this share of themselves are one: decimals that print the same law differ by less."""


def transport(weights: Matrix, atoms: Atoms) -> float:
    """The largest W_inf between the laws of two values in one context, over all contexts, up to `SAME`."""
    masses = np.empty((weights.shape[1], atoms.points.size))
    return float(_farthest(weights, atoms.place, atoms.points, masses, SAME))


def exact_transport(weights: Matrix, atoms: Atoms) -> float:
    """The same in fractions, without room: never too small, and large where equal levels are not printed alike."""
    farthest = 0.0
    for rows in weights:
        laws = []
        for row, place in zip(rows.tolist(), atoms.place, strict=True):
            masses = [Fraction(0)] * atoms.points.size
            for mass, atom in zip(row, place.tolist(), strict=True):
                masses[atom] += Fraction(mass)
            total = sum(masses)
            if total > 0:
                laws.append([(atom, mass / total) for atom, mass in enumerate(masses) if mass > 0])
        for one, two in itertools.combinations(laws, 2):
            farthest = max(farthest, _farthest_of(one, two, atoms.points.tolist()))
    return farthest


def _farthest_of(one: list[tuple[int, Fraction]], two: list[tuple[int, Fraction]], points: list[float]) -> float:
    farthest, first, second = 0.0, 0, 0
    left, right = one[0][1], two[0][1]
    while True:
        farthest = max(farthest, abs(points[one[first][0]] - points[two[second][0]]))
        met = min(left, right)
        left, right = left - met, right - met
        if left == 0:
            first += 1
        if right == 0:
            second += 1
        if first == len(one) or second == len(two):
            return farthest
        left, right = left or one[first][1], right or two[second][1]


@kernel
def _farthest(weights: Floats, place: Places, points: Floats, masses: Floats, room: float) -> float:
    contexts, values, rest = weights.shape
    farthest = 0.0
    for context in range(contexts):
        for value in range(values):
            total = 0.0
            for atom in range(points.size):
                masses[value, atom] = 0.0
            for k in range(rest):
                masses[value, place[value, k]] += weights[context, value, k]
            for atom in range(points.size):
                total += masses[value, atom]
            for atom in range(points.size):
                masses[value, atom] = masses[value, atom] / total if total > 0.0 else -1.0
        for one in range(values):
            for two in range(one + 1, values):
                if masses[one, 0] >= 0.0 and masses[two, 0] >= 0.0:
                    farthest = max(farthest, _from_one_end(masses[one], masses[two], points, room, 1))
                    farthest = max(farthest, _from_one_end(masses[one], masses[two], points, room, -1))
    return farthest


@part_of_caller
def _from_one_end(one: Floats, two: Floats, points: Floats, room: float, step: int) -> float:
    """The levels up to one half, counted from this end, where small masses are told apart."""
    size = points.size
    place = 0 if step > 0 else size - 1
    first = second = place
    reached_first, reached_second = one[first], two[second]
    farthest = begun = 0.0
    while begun < 0.5:
        ended = min(reached_first, reached_second)
        if ended - begun > room * ended:
            farthest = max(farthest, abs(points[first] - points[second]))
        begun = max(begun, ended)
        moved = False
        if reached_first <= ended and 0 <= first + step < size:
            first += step
            reached_first += one[first]
            moved = True
        if reached_second <= ended and 0 <= second + step < size:
            second += step
            reached_second += two[second]
            moved = True
        if not moved:
            return farthest
    return farthest
