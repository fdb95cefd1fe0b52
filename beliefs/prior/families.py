"""The worst of several laws that an adversary may believe, and of independent blocks. Proof: worst.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.laws.blocks import BlocksLaw, Law
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.gaussian import Sums, worst_gaussian
from beliefs.prior.worst import EXACT, SOUND, worst_of_table
from beliefs.prior.worst_chain import worst_of_chain
from beliefs.simplex import Vector


class WorstOfLaws(NamedTuple):
    """The largest leak in nats, rounded up, and the number of the law under which it happens."""

    epsilon: float
    law: int
    method: str


def worst_of_laws(laws: Sequence[Law], scale: float, weights: Vector | None = None) -> WorstOfLaws:
    """Whoever believes one of these laws learns no more from the sum than this."""
    if not laws:
        raise Invalid("laws", "is empty; an adversary believes something")
    found = [worst_of_law(law, scale, weights) for law in laws]
    highest = max(epsilon for epsilon, _ in found)
    place = [epsilon for epsilon, _ in found].index(highest)
    return WorstOfLaws(highest, place, EXACT if all(method == EXACT for _, method in found) else SOUND)


def worst_of_law(law: Law, scale: float, weights: Vector | None = None) -> tuple[float, str]:
    if isinstance(law, BlocksLaw):
        chosen = np.ones(law.size) if weights is None else _fitting(weights, law.size)
        parts = [chosen[start : start + each.size] for start, each in zip(law.starts(), law.blocks, strict=True)]
        found = [worst_of_law(each, scale, part) for each, part in zip(law.blocks, parts, strict=True)]
        return max(epsilon for epsilon, _ in found), EXACT if all(each == EXACT for _, each in found) else SOUND
    if isinstance(law, TableLaw):
        worst = worst_of_table(law, Query.of(law, weights), scale)
        return worst.epsilon, worst.method
    if isinstance(law, GaussianLaw):
        chosen = np.ones(law.size) if weights is None else _fitting(weights, law.size)
        told = worst_gaussian(law, Sums(chosen[None], np.array([scale])))
        return told.epsilon, told.method
    return _worst_of_markov(law, scale, weights)


def _worst_of_markov(law: MarkovLaw, scale: float, weights: Vector | None) -> tuple[float, str]:
    if weights is None or bool((_fitting(weights, law.size) == weights[0]).all() and weights[0] != 0.0):
        # The same weight for all is the same sum with noise that is so much smaller; its sign changes nothing.
        same = scale if weights is None else math.nextafter(scale / abs(float(weights[0])), 0.0)
        found = worst_of_chain(law, same)
        return found.epsilon, found.method
    return worst_of_law(law.table(), scale, weights)


def _fitting(weights: Vector, size: int) -> Vector:
    if weights.size != size:
        raise Invalid("weights", f"has {weights.size} entries, but there are {size} attributes")
    return weights
