"""The sum of a Markov chain whose values nobody knows: what it tells about each of them. Proof: sums.md."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from beliefs.checks import Invalid
from beliefs.crowd.divergence import apart, least_epsilon
from beliefs.crowd.sums import NOTHING, Sum, added, certain, scaled, weighted
from beliefs.laws.markov import MarkovLaw
from beliefs.simplex import normalised, plain_sum

CHANCES_MAX: Final = 1 << 26
"""Of every sum beside every state after every step."""


def chain_delta(chain: MarkovLaw, epsilon: float) -> float:
    return max((apart(one, two, epsilon) for one, two in _cases(chain)), default=0.0)


def chain_epsilon(chain: MarkovLaw, delta: float) -> float:
    best = 0.0
    for one, two in _cases(chain):
        if apart(one, two, best) > delta:
            best = least_epsilon(delta, _told(one, two))
    return best


def _told(one: Sum, two: Sum) -> Callable[[float], float]:
    return lambda at: apart(one, two, at)


def _cases(chain: MarkovLaw) -> Iterator[tuple[Sum, Sum]]:
    """The laws of the sum given two values of one attribute, for every attribute and two values that it may have."""
    after = _after(chain)
    for place, before in enumerate(_before(chain)):
        given = [
            added(scaled(upto, 1.0 / plain_sum(upto.mass)), later)
            for upto, later in zip(before, after[place], strict=True)
            if upto.mass.any()
        ]
        yield from itertools.permutations(given, 2)


def _before(chain: MarkovLaw) -> Iterator[Sequence[Sum]]:
    """For each place and each state there: the chances of that state and each sum up to it."""
    steps, rows = _steps(chain), chain.rows
    here = [scaled(certain(step), chance) for step, chance in zip(steps, normalised(chain.start).tolist(), strict=True)]
    yield here
    for _ in range(1, chain.length):
        here = [_moved(weighted(here, rows[:, state]), step) for state, step in enumerate(steps)]
        yield here


def _after(chain: MarkovLaw) -> Sequence[Sequence[Sum]]:
    """For each place and each state there: the law of the sum of all that comes later."""
    steps, rows = _steps(chain), chain.rows
    found = [[NOTHING for _ in steps]]
    for _ in range(1, chain.length):
        ahead = [_moved(law, step) for law, step in zip(found[-1], steps, strict=True)]
        found.append([weighted(ahead, row) for row in rows])
    return found[::-1]


def _steps(chain: MarkovLaw) -> list[int]:
    steps = [int(value) for value in chain.domain]
    if max(1, max(steps) - min(steps)) * chain.length**2 * len(steps) > CHANCES_MAX:
        raise Invalid("domain", f"makes sums of {chain.length} values too wide to be worked out; take wider steps")
    return steps


def _moved(one: Sum, by: int) -> Sum:
    return Sum(one.low + by, one.mass, one.error, one.lost, one.blur)
