"""What a secret loses through all its neighbours' randomised responses together, in whole units. Proof: account.md.

The same bits on every machine: sums in a fixed order, powers from decimals, and the logarithm of beliefs.rounding. The
table is worked on flat, as `left` times the values of one axis times `right`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.correlation.nested_lists import CELLS_MAX
from beliefs.native import kernel
from beliefs.rounding import UNITS_PER_NAT, fading_down, log_units_up
from beliefs.simplex import Vector

RANGE = 2.0**-200
"""The least weight beside the largest: with all that multiplies it, it stays an ordinary double."""

_POWERS = 280
"""Nats that the powers of all axes may have together, twice: e^-560 times RANGE is above the least ordinary double."""
_FAR = 64


class Axis(NamedTuple):
    """What has been told of one neighbour: units of its fine reports and of those of its groups.

    `classes` are what a fine report names, and `groups` what a coarse one does: a number for each value.
    """

    fine: int
    coarse: int
    classes: tuple[int, ...]
    groups: tuple[int, ...]


class Responses:
    """The joint table of the lasting fields, ready for many accounts."""

    def __init__(self, weights: Matrix, radii: Sequence[Vector | None]) -> None:
        """Of each axis the radii of its laws, or None where they are exact."""
        if weights.size > CELLS_MAX:
            raise Invalid("joint", f"has {weights.size:,} cells; {CELLS_MAX:,} are the most that is worked with")
        # By a power of two, which rounds nothing.
        scaled = np.ldexp(weights, -math.frexp(float(weights.max()))[1])
        if bool((scaled[scaled > 0.0] < RANGE).any()):
            raise Invalid("joint", "holds a weight below 2^-200 of its largest; write 0, or a larger one")
        self.weights = np.ascontiguousarray(scaled)
        self.shape, self.radii = weights.shape, tuple(radii)
        self.margins = [_margin(self.weights, axis) for axis in range(weights.ndim)]
        self.far = min(_FAR, _POWERS // weights.ndim) * UNITS_PER_NAT
        self.slack = 1.0 + (4 * sum(self.shape) + 16 * weights.ndim + 64) * 2.0**-53

    def leaks(self, axes: Sequence[Axis]) -> list[int]:
        """Of every axis, what is lost through all the others; INFINITE where some report may rule a value out.

        Of an axis with radii it is a bound: every output's chance is taken to be off as far as any chance may be.
        """
        found = [0] * len(axes)
        self._halves(self.weights, list(axes), 0, len(axes), found)
        return found

    def columns(self, axes: Sequence[Axis]) -> int:
        """How many products of columns there are, or cells where these are more."""
        return math.prod(max(size, _columns(axis)) for size, axis in zip(self.shape, axes, strict=True))

    def _halves(self, cells: Matrix, axes: list[Axis], start: int, stop: int, found: list[int]) -> None:
        """All axes outside of start to stop have been reported; for either half, the other one is reported as well."""
        if stop - start == 1:
            found[start] = self._widest(cells, start, axes)
            return
        middle = (start + stop) // 2
        for low, high, others in ((start, middle, range(middle, stop)), (middle, stop, range(start, middle))):
            seen = cells
            for axis in others:
                seen = self._reported(seen, axis, axes[axis])
            self._halves(seen, axes, low, high, found)

    def _reported(self, cells: Matrix, place: int, axis: Axis) -> Matrix:
        """The chances, up to a factor, of each column of this neighbour."""
        if axis.fine == 0 and axis.coarse == 0:
            return summed(cells, place)
        low, lower = self.powers(axis)
        if axis.coarse == 0 and axis.classes == tuple(range(self.shape[place])):
            seen = cells.copy()
            left, right = math.prod(cells.shape[:place]), math.prod(cells.shape[place + 1 :])
            _respond(seen.reshape(left, cells.shape[place], right), low, 1.0 - low, np.empty(right))
            return seen
        return through(cells, place, _columns_of(axis, low, lower))

    def powers(self, axis: Axis) -> tuple[float, float]:
        """What a value weighs that is in another class, or in another group, than the one that a report names."""
        low, lower = (0.0 if units > self.far else fading_down(units) for units in (axis.fine, axis.coarse))
        return low, lower

    def _widest(self, cells: Matrix, secret: int, axes: Sequence[Axis]) -> int:
        if self.shape[secret] == 1:
            return 0
        left, right = math.prod(cells.shape[:secret]), math.prod(cells.shape[secret + 1 :])
        shaped = cells.reshape(left, cells.shape[secret], right)
        margin, radii = self.margins[secret], self.radii[secret]
        if radii is None:
            return log_units_up(float(_spread(shaped, margin, np.empty(right), np.empty(right))) * self.slack)
        floor = math.prod(math.prod(self.powers(axis)) for place, axis in enumerate(axes) if place != secret)
        rooms = radii * (1.0 - floor) + (self.slack - 1.0)
        highs, lows = np.empty(margin.size), np.empty(margin.size)
        return log_units_up(float(farthest_of_sums(shaped, margin, rooms, floor, highs, lows)) * self.slack)


def _columns(axis: Axis) -> int:
    fine = len(set(axis.classes)) if axis.fine else 1
    return fine * (len(set(axis.groups)) if axis.coarse else 1)


def _columns_of(axis: Axis, low: float, lower: float) -> Matrix:
    """1 where the value is in the class and the group named, less by one power for each that it is not in."""
    classes, groups = np.array(axis.classes), np.array(axis.groups)
    fine = [np.where(classes == each, 1.0, low) for each in sorted(set(axis.classes))] if axis.fine else [1.0]
    coarse = [np.where(groups == each, 1.0, lower) for each in sorted(set(axis.groups))] if axis.coarse else [1.0]
    return np.array([one * other for one in fine for other in coarse])


def through(cells: Matrix, place: int, columns: Matrix) -> Matrix:
    """Each column's sum over the axis, from the first value on."""
    moved = np.moveaxis(cells, place, 0)
    seen = np.zeros((columns.shape[0], *moved.shape[1:]))
    for value in range(columns.shape[1]):
        seen += columns[:, value].reshape(-1, *[1] * (moved.ndim - 1)) * moved[value]
    return np.ascontiguousarray(np.moveaxis(seen, 0, place))


def summed(cells: Matrix, place: int) -> Matrix:
    """The axis stays, with one entry."""
    return through(cells, place, np.ones((1, cells.shape[place])))


def _margin(weights: Matrix, axis: int) -> Vector:
    seen = weights
    for other in range(weights.ndim):
        if other != axis:
            seen = summed(seen, other)
    return seen.ravel()


@kernel
def _respond(cells: Matrix, low: float, high: float, sums: Vector) -> None:
    """Each entry v along the middle axis becomes low (sum of v) + high v."""
    for left in range(cells.shape[0]):
        for right in range(cells.shape[2]):
            sums[right] = 0.0
        for value in range(cells.shape[1]):
            for right in range(cells.shape[2]):
                sums[right] += cells[left, value, right]
        for right in range(cells.shape[2]):
            sums[right] *= low
        for value in range(cells.shape[1]):
            for right in range(cells.shape[2]):
                cells[left, value, right] = sums[right] + high * cells[left, value, right]


@kernel
def _spread(cells: Matrix, margin: Vector, most: Vector, least: Vector) -> float:
    """The largest ratio of one output's chances under two secrets; infinite where one of two is 0."""
    widest = 1.0
    for left in range(cells.shape[0]):
        for right in range(cells.shape[2]):
            most[right] = 0.0
            least[right] = np.inf
        for value in range(cells.shape[1]):
            for right in range(cells.shape[2]):
                chance = cells[left, value, right] / margin[value]
                most[right] = max(most[right], chance)
                least[right] = min(least[right], chance)
        for right in range(cells.shape[2]):
            if most[right] > widest * least[right] and most[right] > 0.0:
                widest = max(widest, most[right] / least[right])
    return widest


@kernel
def farthest(highs: Vector, lows: Vector) -> float:
    """The largest ratio of one secret's highest chance to another one's lowest: a secret is never held against itself,
    however far its law may be moved. Infinite where a chance may be 0.
    """
    lowest, second, whose = np.inf, np.inf, 0
    for secret in range(lows.size):
        if lows[secret] < lowest:
            lowest, second, whose = lows[secret], lowest, secret
        elif lows[secret] < second:
            second = lows[secret]
    widest = 1.0
    for secret in range(highs.size):
        low = second if secret == whose else lowest
        if highs[secret] > widest * low:
            widest = max(widest, highs[secret] / low)
    return widest


@kernel
def farthest_of_sums(cells: Matrix, margin: Vector, rooms: Vector, floor: float, highs: Vector, lows: Vector) -> float:
    """The same where every chance may be higher or lower by its secret's room, though never below `floor`."""
    widest = 1.0
    for left in range(cells.shape[0]):
        for right in range(cells.shape[2]):
            for secret in range(cells.shape[1]):
                chance = cells[left, secret, right] / margin[secret]
                highs[secret] = min(1.0, chance + rooms[secret])
                lows[secret] = max(floor, chance - rooms[secret])
            widest = max(widest, farthest(highs, lows))
    return widest
