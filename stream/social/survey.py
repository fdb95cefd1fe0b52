"""Attacks on many people of the made-up country, and one of them in full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from stream.social.attacker import Attacker, bits_of, distances, middle_of
from stream.social.draws import Draws
from stream.social.release import release
from stream.social.world import GRID, SQUARE_KM, World

SHOWN: Final = 5
UNHEARD: Final = 30.0
"""Bits at most that a truth counts for of which a belief says that it cannot be."""

Tick = Callable[[int, int], None]


@dataclass(frozen=True)
class Asked:
    """`dependent` multiplies the noise of one person."""

    epsilons: Sequence[Fraction]
    kinds: Sequence[str]
    knows: int
    people: int
    dependent: Fraction
    seed: int


class Row(NamedTuple):
    """Means over people, but for `moved`: the most nats that odds of two cells were moved by; epsilon is claimed."""

    kind: str
    epsilon: Fraction
    right: float
    apart_km: float
    surprise_before: float
    surprise_after: float
    context_bits: float
    release_bits: float
    moved: float

    @property
    def is_beyond(self) -> bool:
        return self.moved > float(self.epsilon) * (1.0 + 1e-9)


class Cell(NamedTuple):
    city: int
    east: int
    north: int
    before: float
    after: float
    is_home: bool


def survey(world: World, asked: Asked, tick: Tick) -> list[Row]:
    """One release for each epsilon, attacked in every way."""
    people = Draws.of(asked.seed).order("attacked", world.size)[: asked.people].tolist()
    apart, rows = distances(), list[Row]()
    for epsilon in asked.epsilons:
        released = release(world, epsilon, seed=asked.seed, dependent=asked.dependent)
        for kind in asked.kinds:
            attacker = Attacker.of(world, released, kind, asked.knows, asked.seed)
            rows.append(_row(attacker, people, apart, epsilon))
            tick(len(rows), len(asked.epsilons) * len(asked.kinds))
    return rows


def _row(attacker: Attacker, people: Sequence[int], apart: np.typing.NDArray[np.float64], epsilon: Fraction) -> Row:
    cells = attacker.world.cells()
    found = []
    for person in people:
        belief, home = attacker.look_at(person), int(cells[person])
        found.append(
            (
                float(int(belief.posterior.argmax()) == home),
                float(apart[middle_of(belief.posterior, apart), home]) * SQUARE_KM,
                min(UNHEARD, bits_of(belief.prior, home)),
                min(UNHEARD, bits_of(belief.posterior, home)),
                belief.context_bits,
                belief.release_bits,
                belief.told,
            )
        )
    means, moved = np.mean(found, axis=0), max(each[-1] for each in found)
    right, far, before, after, context, of_release = (float(each) for each in means[:-1])
    return Row(attacker.kind, epsilon, right, far, before, after, context, of_release, moved)


def one_person(world: World, asked: Asked) -> list[Cell]:
    """The likeliest cells of one person, by the last attack on the last release, before and after it."""
    person = int(Draws.of(asked.seed).order("attacked", world.size)[0])
    released = release(world, asked.epsilons[-1], seed=asked.seed, dependent=asked.dependent)
    belief = Attacker.of(world, released, asked.kinds[-1], asked.knows, asked.seed).look_at(person)
    home, cells = int(world.cells()[person]), list[Cell]()
    likeliest = np.argsort(-belief.posterior, kind="stable")[:SHOWN].tolist()
    for cell in dict.fromkeys([*likeliest, home]):
        city, inside = divmod(cell, GRID * GRID)
        before, after = float(belief.prior[cell]), float(belief.posterior[cell])
        cells.append(Cell(city, inside % GRID, inside // GRID, before, after, cell == home))
    return cells
