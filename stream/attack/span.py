"""The values of one window under the adversary's law: forth over its positions, and back, with evidence about each.

Proofs in `windows.md`. Rows of the tables are positions. What is known beforehand rules out all other values.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.attack.mind import copy, move
from stream.audit.amounts import Floats, Integers
from stream.audit.law import Law, differs
from stream.audit.window_book import LONGEST


class Bench(NamedTuple):
    """Scratch space for one window. Over states: forth without any release, with those before the window, with what
    this one says if its channels saw the user's own values; back by what is known, and by what is said; the law of the
    last state. Over values: the chances of each position with what was said, and no evidence. By position: the steps
    before it, as its first number and the one after the last; and the value that is known, or -1.
    """

    unaided: Floats
    before: Floats
    told: Floats
    back: Floats
    told_back: Floats
    row: Floats
    spare: Floats
    last: Floats
    after: Floats
    nothing: Floats
    first: Integers
    stop: Integers
    known: Integers


def new_bench(states: int, symbols: int) -> Bench:
    unaided, before, told, back, told_back = (np.zeros((LONGEST, states)) for _ in range(5))
    row, spare, last = (np.zeros(states) for _ in range(3))
    after, nothing = np.zeros((LONGEST, symbols)), np.ones((LONGEST, symbols))
    first, stop, known = (np.zeros(LONGEST, dtype=np.int64) for _ in range(3))
    return Bench(unaided, before, told, back, told_back, row, spare, last, after, nothing, first, stop, known)


@kernel
def go_forth(law: Law, bench: Bench, evidence: Floats, count: int, ahead: Floats, forth: Floats) -> float:
    """From what is expected of the first position to the law of each one with the evidence up to it. Answers the
    logarithm of how likely the law makes all of it; without bound below where it has no room for that: then it gives
    way to what is known, and to what is said of a value that is not.
    """
    chance = 0.0
    copy(ahead, forth[0])
    for at in range(count):
        if at > 0:
            copy(forth[at - 1], forth[at])
            move(law, forth[at], bench.spare, bench.first[at], bench.stop[at])
        total = weigh(law, evidence[at], bench.known[at], forth[at])
        chance += math.log(total) if total > 0.0 else -math.inf
        if total <= 0.0:
            for s in range(forth.shape[1]):
                x = law.ends[s]
                forth[at, s] = evidence[at, x] if bench.known[at] < 0 else 1.0 if x == bench.known[at] else 0.0
                total += forth[at, s]
        for s in range(forth.shape[1]):
            forth[at, s] /= total
    return chance


@kernel
def weigh(law: Law, evidence: Floats, known: int, belief: Floats) -> float:
    """Take the evidence about one value in; answers the sum."""
    total = 0.0
    for s in range(belief.shape[0]):
        x = law.ends[s]
        belief[s] = belief[s] * evidence[x] if known < 0 or x == known else 0.0
        total += belief[s]
    return total


@kernel
def go_back(law: Law, bench: Bench, evidence: Floats, count: int, back: Floats) -> None:
    """What the positions behind each one say about its state, up to a factor."""
    for s in range(back.shape[1]):
        back[count - 1, s] = 1.0
    for at in range(count - 1, 0, -1):
        copy(back[at], back[at - 1])
        weigh(law, evidence[at], bench.known[at], back[at - 1])
        _move_back(law, back[at - 1], bench.spare, bench.first[at], bench.stop[at])


@kernel
def _move_back(law: Law, mass: Floats, spare: Floats, first: int, stop: int) -> None:
    moving, step = True, stop - 1
    while step >= first:
        if moving:
            _one_step_back(law, mass, spare, step)
            moving = law.phases > 1 or differs(spare, mass)
            copy(spare, mass)
        step -= 1


@kernel
def _one_step_back(law: Law, mass: Floats, moved: Floats, step: int) -> None:
    """What masses of the next state say about this one, the largest being 1."""
    phase = step % law.phases * mass.shape[0]
    heard = 0.0
    if law.tail.shape[0] > 0:
        for y in range(mass.shape[0]):
            heard += mass[y] * law.tail[y]
    for x in range(mass.shape[0]):
        moved[x] = heard * law.left[x] if law.tail.shape[0] > 0 else 0.0
    for y in range(mass.shape[0]):
        for place in range(law.first[phase + y], law.first[phase + y + 1]):
            moved[law.before[place]] += mass[y] * law.chance[place]
    most = 0.0
    for x in range(mass.shape[0]):
        most = max(most, moved[x])
    for x in range(mass.shape[0]):
        moved[x] = moved[x] / most if most > 0.0 else 0.0


@kernel
def meet(forth: Floats, back: Floats, met: Floats) -> None:
    """Both together; where they leave nothing, what came forth."""
    total = 0.0
    for s in range(met.shape[0]):
        met[s] = forth[s] * back[s]
        total += met[s]
    for s in range(met.shape[0]):
        met[s] = met[s] / total if total > 0.0 else forth[s]
