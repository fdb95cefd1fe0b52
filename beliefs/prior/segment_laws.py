"""The laws of the sums of unknown values beside an attacked one of a chain. Proof: segments.md."""

from __future__ import annotations

import math

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.native import kernel
from beliefs.prior.scaled import EMPTY, Floats, Powers, Scaled, add_shifted, scaled, scaled_exponentials
from beliefs.prior.segments import FREE, after, log_margins, logarithms_of

PLACES_MAX = 1 << 25
CELLS_MAX = 1 << 13


class Lattice:
    """Values of a chain as multiples of their greatest common step, from the least on."""

    def __init__(self, law: MarkovLaw) -> None:
        whole = [int(value) for value in law.domain]
        self.step = math.gcd(*(value - whole[0] for value in whole)) or 1
        self.places = np.array([(value - whole[0]) // self.step for value in whole], dtype=np.int64)
        self.width = int(self.places[-1])


def as_table(law: MarkovLaw) -> TableLaw | None:
    """A short chain whose values are so far apart that its combinations are fewer than the places of its sum."""
    cells = law.start.size**law.length if law.length * math.log2(law.start.size) <= math.log2(CELLS_MAX) else math.inf
    return law.table() if cells <= min(CELLS_MAX, Lattice(law).width * law.length) else None


class SegmentLaws:
    """Grows the laws of one side by one unknown value at a time, as far as they are asked for."""

    def __init__(self, law: MarkovLaw, lattice: Lattice, *, left: bool) -> None:
        self.law, self.lattice, self.left = law, lattice, left
        self.rows = logarithms_of(law.rows)
        self.count = law.start.size
        self.margins = log_margins(law)
        self.known = [self._nothing(self.count)]
        self.free = [self._nothing(1)]
        self.reach = self.rows if left else self.rows.T

    def of(self, length: int, ended: int) -> Scaled:
        """[attacked value, sum in steps]: a law for each value that can occur beside that end."""
        if ended == FREE:
            while len(self.free) <= length:
                self.free.append(self._grown(self.free[-1], self._free_weights(len(self.free))))
            found, row = self.free[length], 0
        else:
            while len(self.known) <= length:
                turned = self.rows.T if self.left else self.rows
                self.known.append(self._grown(self.known[-1], turned + self.reach[:, None, :]))
                self.reach = after(self.reach, turned.T)
            found, row = self.known[length], ended
        return Scaled(found.part[row], found.power[row])

    def size(self, length: int, ended: int) -> int:
        """How many places the laws up to that length take."""
        ends = 1 if ended == FREE else self.count
        return (length + 1) ** 2 * self.lattice.width * self.count * ends

    def roundings(self, length: int) -> int:
        """How often a mass of a law of that length is rounded; logarithms of 700 lose as much as 700 products."""
        logs = self.rows[np.isfinite(self.rows)]
        return length * (self.count + 24 + 4 * math.ceil(float(-logs.min(initial=0.0))))

    def _free_weights(self, length: int) -> Matrix:
        if self.left:
            weights: Matrix = self.rows.T[None] + self.margins[length - 1]
            return weights
        return self.rows[None]

    def _nothing(self, ends: int) -> Scaled:
        return scaled(np.ones((ends, self.count, 1)))

    def _grown(self, before: Scaled, weights: Matrix) -> Scaled:
        totals = np.logaddexp.reduce(weights, axis=2, keepdims=True)
        factors = scaled_exponentials(weights - np.where(np.isfinite(totals), totals, 0.0))
        shape = (*before.part.shape[:2], before.part.shape[2] + self.lattice.width)
        part, power = np.zeros(shape), np.full(shape, EMPTY, dtype=np.int64)
        _grow(*before, *factors, self.lattice.places, part, power)
        return Scaled(part, power)


@kernel
def _grow(
    before_part: Floats,
    before_power: Powers,
    factor_part: Floats,
    factor_power: Powers,
    places: Powers,
    part: Floats,
    power: Powers,
) -> None:
    ends, count, _ = before_part.shape
    for end in range(ends):
        for value in range(count):
            for near in range(count):
                if factor_part[end, value, near] > 0.0:
                    add_shifted(
                        factor_part[end, value, near],
                        factor_power[end, value, near],
                        before_part[end, near],
                        before_power[end, near],
                        places[near],
                        part[end, value],
                        power[end, value],
                    )
