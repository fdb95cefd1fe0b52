"""What one adversary learns of one attribute from a noisy weighted sum of a table's attributes. Proof: adversary.md.

An adversary attacks an attribute and knows some others; what he sees is judged in every context, which is a combination
of values that the known attributes can have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, upwards
from beliefs.laws.table import TableLaw
from beliefs.prior.atoms import NOBODY, Atoms, Spread, atoms_of, spread_of_table
from beliefs.prior.outward import least_above
from beliefs.prior.scaled import LONGEST
from beliefs.prior.transport import transport
from beliefs.simplex import Vector

BEYOND = Fraction(2) ** 1020
"""Sums of weighted values stay below this, so that none of their differences overflows."""


class Brackets(NamedTuple):
    """The leak, rounded up; below it what both tails show; above it what moving the laws takes, and the group."""

    epsilon: float
    tails: float
    wasserstein: float
    group: float


@dataclass(frozen=True)
class Query:
    """A weighted sum of a table's attributes; `terms[i]` holds what each value of attribute i adds, from its least on.

    `weights`, `least` and `ranges` say the same exactly: the factor, the least that it adds, and the most beyond that.
    """

    terms: tuple[Vector, ...]
    weights: tuple[Fraction, ...]
    least: tuple[Fraction, ...]
    ranges: tuple[Fraction, ...]

    @classmethod
    def of(cls, law: TableLaw, weights: Vector | None = None, field: str = "weights") -> Query:
        chosen = np.ones(law.size) if weights is None else weights
        if chosen.size != law.size:
            raise Invalid(field, f"has {chosen.size} entries, but there are {law.size} attributes")
        factors = tuple(Fraction(weight) for weight in chosen.tolist())
        ends = [(Fraction(float(domain[0])), Fraction(float(domain[-1]))) for domain in law.domains]
        ranges = tuple(abs(factor) * (high - low) for factor, (low, high) in zip(factors, ends, strict=True))
        least = tuple(min(factor * low, factor * high) for factor, (low, high) in zip(factors, ends, strict=True))
        if sum(ranges) + sum(map(abs, least)) >= BEYOND:
            raise Invalid("domains" if weights is None else field, "make sums beyond the doubles")
        terms = tuple(
            np.array([float(factor * Fraction(value) - low) for value in domain.tolist()])
            for factor, domain, low in zip(factors, law.domains, least, strict=True)
        )
        return cls(terms, factors, least, ranges)

    def offset(self, law: TableLaw, known: tuple[int, ...] = (), values: tuple[int, ...] = ()) -> Fraction:
        """The least sum when the known attributes have these values."""
        least = list(self.least)
        for axis, value in zip(known, values, strict=True):
            least[axis] = self.weights[axis] * Fraction(float(law.domains[axis][value]))
        return sum(least, Fraction(0))

    def unknown(self, known: tuple[int, ...], attacked: int) -> list[int]:
        return [axis for axis in range(len(self.terms)) if axis not in known and axis != attacked]


@dataclass(frozen=True)
class Seen:
    """What an adversary sees of the sum: weights[context, value, combination of unknown ones], and where they lie."""

    weights: Matrix
    atoms: Atoms
    reach: Fraction

    @classmethod
    def by(cls, law: TableLaw, query: Query, attacked: int, known: tuple[int, ...], context: int | None = None) -> Seen:
        weights = law.arranged(known, attacked)
        possible = weights.any(axis=(1, 2))
        if context is not None:
            possible = possible & (np.arange(possible.size) == context)
        rest = query.unknown(known, attacked)
        sums = query.terms[attacked][:, None] + sums_of([query.terms[axis] for axis in rest])
        reach = sum((query.ranges[axis] for axis in rest), query.ranges[attacked])
        return cls(weights[possible], atoms_of(sums, float(reach)), reach)

    def distances(self, released: Fraction, scale: float) -> Matrix:
        """From each sum to a released number, both counted from the least sum on, in scales.

        Beyond either end all distances grow alike, which changes no ratio, so the number is first moved to that end.
        """
        nearest = float(min(max(released, Fraction(0)), self.reach))
        away: Matrix = np.abs(self.atoms.points - nearest)[self.atoms.place]
        return away / max(scale, float(self.reach) / LONGEST)  # narrower noise singles out the nearest sum alike

    def spread(self, scale: float) -> Spread:
        if not self.contested():
            return NOBODY
        if self.is_beyond(scale):
            return NOBODY._replace(nats=math.inf)
        return spread_of_table(self.weights[:, :, None], self.atoms, scale)

    def contested(self) -> bool:
        """Whether there is a context in which the attacked attribute may have two values."""
        return bool((np.count_nonzero(self.weights.any(axis=2), axis=1) > 1).any())

    def is_beyond(self, scale: float) -> bool:
        """Whether the noise is so narrow that distances in scales are no longer told apart."""
        return self.reach > Fraction(scale) * Fraction(LONGEST)

    def leak(self, scale: float) -> float:
        return min(self.spread(scale).nats, self.group(scale))

    def laws(self) -> Matrix:
        """The law of the sum in each context under each value, on the atoms; 0 everywhere for one that cannot be."""
        contexts, values, _ = self.weights.shape
        masses = np.zeros((contexts, values, self.atoms.points.size))
        for value in range(values):
            np.add.at(masses[:, value].T, self.atoms.place[value], self.weights[:, value].T)
        totals = np.add.accumulate(self.weights, axis=2)[:, :, -1:]
        return np.divide(masses, totals, out=masses, where=totals > 0.0)

    def unveiled(self) -> float:
        """The leak of the sum without any noise: infinite where one value excludes a sum that another allows."""
        told = 0.0
        for context in self.laws():
            laws = context[context.any(axis=1)]
            high, low = laws.max(axis=0), laws.min(axis=0)
            if bool((low[high > 0.0] == 0.0).any()):
                return math.inf
            told = max(told, float(np.log(high[high > 0.0] / low[high > 0.0]).max()))
        return upwards(told, self.weights.shape[2] + 8)

    def group(self, scale: float) -> float:
        """All that is not known, moved from end to end."""
        return least_above(self.reach / Fraction(scale))

    def brackets(self, scale: float) -> Brackets:
        epsilon, group = self.leak(scale), self.group(scale)
        moved = least_above(Fraction(transport(self.weights, self.atoms)) / Fraction(scale))
        return Brackets(epsilon, min(epsilon, self.tails(scale)), min(group, max(epsilon, moved)), group)

    def tails(self, scale: float) -> float:
        """The larger of the two ends, rounded down: there a density is its law's mean of e^-+(sum/scale)."""
        if self.is_beyond(scale):
            return 0.0
        widest, laws = 0.0, self.laws()
        possible = laws.any(axis=2)
        with np.errstate(divide="ignore"):
            logs = np.log(laws)
        for end in (self.atoms.points - self.atoms.points[0], self.atoms.points[-1] - self.atoms.points):
            away = logs - end / scale
            top = np.where(possible, away.max(axis=2), 0.0)
            with np.errstate(divide="ignore"):
                shown = top + np.log(np.exp(away - top[:, :, None]).sum(axis=2))
            high = np.where(possible, shown, -math.inf).max(axis=1)
            low = np.where(possible, shown, math.inf).min(axis=1)
            widest = max(widest, float((high - low).max(initial=0.0)))
        lost = (self.weights.shape[2] + 2 * self.atoms.points.size + 64) * 2.0**-52 + self.group(scale) * 2.0**-50
        return float(max(0.0, widest - lost - 4.0 * (self.atoms.moved / scale)))


def context_of(law: TableLaw, known: tuple[int, ...], values: tuple[int, ...]) -> int:
    """The number of the context in which the known attributes have these values."""
    if len(values) != len(known):
        raise Invalid("known_values", f"has {len(values)} entries for {len(known)} known attributes")
    number = 0
    for attribute, value in zip(known, values, strict=True):
        length = law.joint.shape[attribute]
        if value >= length:
            raise Invalid("known_values", f"holds {value}, but attribute {attribute} has {length} values")
        number = number * length + value
    if not bool(np.moveaxis(law.joint, known, range(len(known)))[values].any()):
        raise Invalid("known_values", "cannot happen: the table gives these values of the known attributes no chance")
    return number


def require_adversary(size: int, attacked: int, known: tuple[int, ...]) -> None:
    """An attribute that exists, and an ascending set of others."""
    if attacked >= size:
        raise Invalid("attacked", f"is {attacked}, but there are {size} attributes, counted from 0")
    if known and known[-1] >= size:
        raise Invalid("known", f"holds {known[-1]}, but there are {size} attributes, counted from 0")
    if attacked in known:
        raise Invalid("known", "holds the attacked attribute")


def sums_of(terms: list[Vector]) -> Vector:
    """The sum of one term of each, for all combinations, the last attribute running fastest."""
    sums = np.zeros(1)
    for term in terms:
        sums = (sums[:, None] + term).ravel()
    return sums
