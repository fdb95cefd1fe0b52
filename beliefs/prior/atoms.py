"""The exact leak of a noisy sum at the atoms of the sum. Proof: atoms.md.

Laws of the sum, one for each value of the attacked attribute, stand on common places; the noise is Laplace's, or the
two-sided geometric one on whole numbers. All distances are in scales.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.correlation.bound import upwards
from beliefs.native import kernel
from beliefs.prior.densities import compare_far, compare_near, far_densities, near_densities, pairs_far, pairs_near
from beliefs.prior.scaled import EMPTY, LONGEST, Floats, Powers, Scaled, plain, scaled_exponentials

Places = npt.NDArray[np.int64]

NEAR = 600.0
"""Up to so many scales from end to end every density is an ordinary double, as its law has a mass of 1 within them."""


class Spread(NamedTuple):
    """The largest log ratio in nats, rounded up; where it is attained: context, atom, and the two values."""

    nats: float
    context: int
    atom: int
    high: int
    low: int


class Atoms(NamedTuple):
    """Distinct sums in ascending order, the place of every combination among them, and by how far it was moved."""

    points: Floats
    place: Places
    moved: float

    def span(self, scale: float) -> float:
        """From end to end, in scales."""
        with np.errstate(over="ignore"):
            return float((self.points[-1] - self.points[0]) / scale)

    def gaps(self, scale: float) -> Floats:
        """The distance of each atom from the one before, in scales; that of the first is 0."""
        return np.diff(self.points, prepend=self.points[0]) / scale


NOBODY = Spread(0.0, 0, 0, 0, 0)


def atoms_of(sums: Floats, magnitude: float) -> Atoms:
    """Sums that differ by roundings only are one atom: `magnitude` is the sum of the sizes of all terms.

    A sum of up to 32 terms is off by less than 2^-48 of their sizes; an atom takes what lies within twice that of its
    first. Nothing is merged where a run of such sums would be longer.
    """
    flat = sums.ravel()
    order = np.argsort(flat, kind="stable")
    ascending = flat[order]
    room = magnitude * 2.0**-47
    first = np.concatenate([[True], np.diff(ascending) > room])
    group = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    moved = float((ascending - ascending[starts][group]).max())
    if moved > 2.0 * room:
        first = np.concatenate([[True], np.diff(ascending) > 0.0])
        group, starts, moved = np.cumsum(first) - 1, np.flatnonzero(first), 0.0
    place = np.empty(flat.size, dtype=np.int64)
    place[order] = group
    return Atoms(ascending[starts], place.reshape(sums.shape), moved + room)


def spread_of_table(table: Floats, atoms: Atoms, scale: float, roundings: int = 0) -> Spread:
    """Over all contexts: `table[left, value, right, rest]` are weights, a context is a pair of left and right.

    `atoms.place[value, rest]` says where the sum lies. Values without weight in a context do not occur in it. Each
    weight is right to so many roundings.
    """
    span = atoms.span(scale)
    if span > LONGEST:
        return NOBODY._replace(nats=math.inf)
    gaps = atoms.gaps(scale)
    shape, best = (table.shape[1], gaps.size), np.zeros(6)
    if span <= NEAR:
        _near_contexts(table, atoms.place, np.exp(-gaps), np.empty(shape), np.empty(shape), best)
    else:
        laws = Scaled(np.empty(shape), np.empty(shape, dtype=np.int64))
        shown = Scaled(np.empty(shape), np.empty(shape, dtype=np.int64))
        _far_contexts(table, atoms.place, *scaled_exponentials(-gaps), *laws, *shown, best)
    return _spread(best, roundings + table.shape[3] + 6 * gaps.size, 4.0 * (atoms.moved / scale) + span * 2.0**-50)


def spread_of_laws(laws: Scaled, gaps: Floats, roundings: int) -> Spread:
    """Of one context, whose laws have so many roundings each and may lack their common factors."""
    span, best = float(gaps.sum()), np.zeros(6)
    if span <= NEAR:
        compare_near(_near_shown(laws, gaps), best)
    else:
        compare_far(*_far_shown(laws, gaps), best)
    return _spread(best, roundings + 7 * gaps.size, span * 2.0**-50)


def pairs_of_laws(laws: Scaled, gaps: Floats, roundings: int) -> Floats:
    """For each two laws the largest log ratio of the first one's density to the second one's, rounded up.

    It is 0 where one of the two does not occur.
    """
    span = float(gaps.sum())
    logs = np.zeros((laws.part.shape[0],) * 2)
    if span <= NEAR:
        pairs_near(_near_shown(laws, gaps), logs)
    else:
        pairs_far(*_far_shown(laws, gaps), logs)
    room = (roundings + 7 * gaps.size) * 2.0**-52 + span * 2.0**-50
    raised: Floats = np.where(logs > 0.0, logs * (1.0 + 2.0**-48) + room, 0.0)
    return raised


def _near_shown(laws: Scaled, gaps: Floats) -> Floats:
    shown = np.empty(laws.part.shape)
    near_densities(plain(Scaled(laws.part, laws.power - laws.power.max(axis=1)[:, None])), np.exp(-gaps), shown)
    return shown


def _far_shown(laws: Scaled, gaps: Floats) -> tuple[Floats, Powers]:
    shown, height = np.empty(laws.part.shape), np.empty_like(laws.power)
    far_densities(laws.part.copy(), laws.power.copy(), *scaled_exponentials(-gaps), shown, height)
    return shown, height


def _spread(best: Floats, roundings: int, moved: float) -> Spread:
    """`best` holds a ratio and its power of two, context, atom, high, low; the ratio is 0 where nothing was compared.

    Both densities are right to `roundings` of 2^-53; `upwards` counts in units of 2^-51.
    """
    if best[0] == 0.0:
        return NOBODY
    nats = best[1] * math.log(2.0) + math.log(best[0])
    # Where laws differ, a leak that is lost in roundings is still none of 0.
    return Spread(float(upwards(max(nats, math.ulp(0.0)), roundings // 2) + moved), *(int(each) for each in best[2:]))


@kernel
def _near_contexts(table: Floats, place: Places, decay: Floats, masses: Floats, shown: Floats, best: Floats) -> None:
    lefts, values, rights, rest = table.shape
    for left in range(lefts):
        for right in range(rights):
            for value in range(values):
                for atom in range(decay.size):
                    masses[value, atom] = 0.0
                for k in range(rest):
                    masses[value, place[value, k]] += table[left, value, right, k]
            near_densities(masses, decay, shown)
            if compare_near(shown, best):
                best[2] = left * rights + right


@kernel
def _far_contexts(
    table: Floats,
    place: Places,
    decay_part: Floats,
    decay_power: Powers,
    part: Floats,
    power: Powers,
    shown: Floats,
    height: Powers,
    best: Floats,
) -> None:
    lefts, values, rights, rest = table.shape
    for left in range(lefts):
        for right in range(rights):
            for value in range(values):
                for atom in range(decay_part.size):
                    part[value, atom] = 0.0
                for k in range(rest):
                    part[value, place[value, k]] += table[left, value, right, k]
                for atom in range(decay_part.size):
                    mantissa, exponent = math.frexp(part[value, atom])
                    part[value, atom] = mantissa
                    power[value, atom] = exponent if mantissa > 0.0 else EMPTY
            far_densities(part, power, decay_part, decay_power, shown, height)
            if compare_far(shown, height, best):
                best[2] = left * rights + right
