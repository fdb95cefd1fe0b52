"""Two attacks on noisy totals of where people go, as they were published, and a better one.

Whoever attacks knows where some people live, who is friends with whom, and what was released; he wonders in which cell
a person lives. Before he looks at the release he believes

    ALONE     what other people suggest: in each cell in proportion to those who live there
    FRIENDS   the same, times how near the cell is to friends, summed over them
    PRODUCT   the same with half a person more in each cell, times how near it is to each of the friends

and he judges the release by what the person would add in each cell. People he does not know he takes to live as those
he knows do: their total is a normal variable, which he folds into the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.dependence.attack import attack, entropy_bits
from stream.social.draws import Draws, Floats
from stream.social.noise import log_density
from stream.social.release import Release
from stream.social.world import CITIES, GRID, Integers, World, cell_centres

ALONE: Final = "alone"
FRIENDS: Final = "friends"
PRODUCT: Final = "product"
KINDS: Final = (ALONE, FRIENDS, PRODUCT)

OFFSET: Final = 0.03
EXPONENT: Final = 0.6
"""Nearness is (distance + OFFSET)^-EXPONENT: of several exponents the one least surprised by people who are known."""

ELSEWHERE: Final = 2.0
"""How far apart two cities count, in squares."""

SMOOTHING: Final = 0.5


class Belief(NamedTuple):
    """About the cell of one person: before anything, knowing others and friends, and with the release."""

    shares: Floats
    prior: Floats
    posterior: Floats

    @property
    def context_bits(self) -> float:
        """What friends tell; it is no part of what the release tells."""
        return entropy_bits(self.shares) - entropy_bits(self.prior)

    @property
    def release_bits(self) -> float:
        return entropy_bits(self.prior) - entropy_bits(self.posterior)

    @property
    def told(self) -> float:
        """Nats: by how much the release changed the odds of two cells at most."""
        met = (self.prior > 0.0) & (self.posterior > 0.0)
        moved = np.log(self.posterior[met]) - np.log(self.prior[met])
        return float(moved.max() - moved.min())


@dataclass(frozen=True, eq=False)
class Attacker:
    world: World
    release: Release
    kind: str
    known: NDArray[np.bool_]
    exponent: float = EXPONENT

    @classmethod
    def of(cls, world: World, release: Release, kind: str, knows: int, seed: int = 1) -> Attacker:
        """Knows so many people, chosen by the seed."""
        known = np.zeros(world.size, dtype=bool)
        known[Draws.of(seed).order("known", world.size)[:knows]] = True
        return cls(world, release, kind, known)

    def surprise(self, people: Integers) -> float:
        """Bits in the mean over people, before the release is looked at: what an exponent is chosen by."""
        cells = self._cells
        return float(np.mean([bits_of(self.look_at(int(one)).prior, int(cells[one])) for one in people]))

    def look_at(self, person: int) -> Belief:
        others = self.known.copy()
        others[person] = False
        counts = np.bincount(self._cells[others], minlength=self._candidates.shape[0]).astype(np.float64)
        unknown = self.world.size - 1 - int(others.sum())
        total, variance = self._of_all(others, unknown)
        smoothing = SMOOTHING if self.kind == PRODUCT else 0.0
        weights = self._weights(person, others)
        if unknown and self.kind == PRODUCT:
            return self._folded(counts + smoothing, weights, total, variance)
        told = attack(
            counts,
            self.release.totals.astype(np.float64),
            total,
            self._candidates,
            1.0,
            self.release.scale,
            weights,
            smoothing,
        )
        shares = (counts + smoothing) / (counts + smoothing).sum()
        return Belief(shares, np.array(told.prior), np.array(told.posterior))

    def _folded(self, counts: Floats, weights: Floats, total: Floats, variance: Floats) -> Belief:
        shares = counts / counts.sum()
        prior = shares * weights
        prior /= prior.sum()
        logs = np.zeros(len(prior))
        left = self.release.totals - total
        for column, spread in enumerate(np.sqrt(variance)):
            values, place = np.unique(self._candidates[:, column], return_inverse=True)
            logs += log_density(left[column] - values, self.release.scale, float(spread))[place]
        posterior = prior * np.exp(logs - logs.max())
        return Belief(shares, prior, posterior / posterior.sum())

    def _of_all(self, others: NDArray[np.bool_], unknown: int) -> tuple[Floats, Floats]:
        """The total of all others in the mean, and the variance of its unknown part."""
        known = self._added[others]
        total = known.sum(axis=0) + unknown * known.mean(axis=0)
        return total, unknown * known.var(axis=0)

    def _weights(self, person: int, others: NDArray[np.bool_]) -> Floats:
        """How near each cell is to known friends: 1 everywhere for whoever asks for no friends, or finds none."""
        friends = self.world.friends_of(person)
        cells = self._cells[friends[others[friends]]]
        if self.kind == ALONE or cells.size == 0:
            return np.ones(self._candidates.shape[0])
        if self.kind == FRIENDS:
            added: Floats = self._nearness[cells].sum(axis=0)
            return added
        logs = np.log(self._nearness[cells]).sum(axis=0)
        product: Floats = np.exp(logs - logs.max())
        return product

    @cached_property
    def _cells(self) -> Integers:
        return self.world.cells()

    @cached_property
    def _added(self) -> Floats:
        return self.release.question.contributions(self.world.city, self.world.goes_to).astype(np.float64)

    @cached_property
    def _candidates(self) -> Floats:
        """What somebody adds who goes nowhere but to the middle of a cell."""
        centres = np.tile(cell_centres(), (len(CITIES), 1))
        city = np.repeat(np.arange(len(CITIES)), GRID * GRID)
        goes_to = np.repeat(centres[:, None], self.release.question.places, axis=1)
        return self.release.question.contributions(city, goes_to).astype(np.float64)

    @cached_property
    def _nearness(self) -> Floats:
        return (distances() + OFFSET) ** -self.exponent


def distances() -> Floats:
    """Between the cells of all cities, in squares."""
    centres = cell_centres()
    within = np.hypot(*np.moveaxis(centres[:, None] - centres, 2, 0))
    city = np.repeat(np.arange(len(CITIES)), GRID * GRID)
    apart: Floats = np.where(city[:, None] == city, np.tile(within, (len(CITIES), len(CITIES))), ELSEWHERE)
    return apart


def middle_of(law: Floats, apart: Floats) -> int:
    """The cell that is nearest in the mean: a guess that is less often far off than the likeliest one."""
    return int((apart * law).sum(axis=1).argmin())


def bits_of(law: Floats, cell: int) -> float:
    """How surprised somebody with this belief is by the truth."""
    return -math.log2(law[cell]) if law[cell] > 0.0 else math.inf
