"""The public model as the auditor reads it: by columns, because a prediction gathers, for each value, from those before
it.

The order of additions is part of the promise. A prediction of value y is the sum over x, ascending, of belief(x) C(x,
y); then all are divided by their sum, added up ascending. Gathering column by column adds the same numbers in the same
order as scattering row by row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.chain import Chain
from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers


class Law(NamedTuple):
    """`before[first[y]:first[y + 1]]` are the values that y may follow, ascending, and `chance` their probabilities."""

    start: Floats
    first: Integers
    before: Integers
    chance: Floats
    contraction: int


def law_of(chain: Chain) -> Law:
    rows = np.repeat(np.arange(chain.size), np.diff(chain.indptr))
    by_column = np.argsort(chain.indices, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(chain.indices, minlength=chain.size))])
    chance = chain.data[by_column].astype(np.float64)
    return Law(chain.start.copy(), first.astype(np.int64), rows[by_column], chance, contraction_of(first, chance))


def contraction_of(first: Integers, chance: Floats) -> int:
    """How much of a relative error in a belief survives a prediction, in 2^-32, rounded up: (r - 1)/(r + 1) for the
    largest ratio r within a column; all of it survives where a column holds zeros beside other numbers."""
    size = first.shape[0] - 1
    survives = 0
    for y in range(size):
        column = chance[first[y] : first[y + 1]]
        if column.shape[0] == 0:
            continue
        if column.shape[0] < size:
            return 2**32
        above, over = float(column.max()).as_integer_ratio()
        below, under = float(column.min()).as_integer_ratio()
        large, small = above * under, below * over
        survives = max(survives, -(-(large - small) * 2**32 // (large + small)))
    return survives


@kernel
def share_out(weights: Floats) -> None:
    """Divide by the sum, added up ascending."""
    total = weights[0]
    for x in range(1, weights.shape[0]):
        total += weights[x]
    for x in range(weights.shape[0]):
        weights[x] = weights[x] / total


@kernel
def begin(law: Law, ahead: Floats) -> None:
    for x in range(ahead.shape[0]):
        ahead[x] = law.start[x]
    share_out(ahead)


@kernel
def foresee(law: Law, belief: Floats, ahead: Floats) -> None:
    for y in range(ahead.shape[0]):
        mass = 0.0
        for place in range(law.first[y], law.first[y + 1]):
            mass += belief[law.before[place]] * law.chance[place]
        ahead[y] = mass
    share_out(ahead)


@kernel
def learn(ahead: Floats, column: Integers, belief: Floats) -> bool:
    """What is believed after a release whose probability is `column[x]` when the value is x.

    False if the law has no room for it: then the column alone is believed.
    """
    possible = False
    for x in range(ahead.shape[0]):
        belief[x] = ahead[x] * float(column[x])
        possible = possible or belief[x] > 0.0
    if not possible:
        for x in range(ahead.shape[0]):
            belief[x] = float(column[x])
    share_out(belief)
    return possible


@kernel
def keep_short(belief: Floats) -> bool:
    """Round each mass to 26 binary digits, half away from zero, as it is kept; False if a positive one fell below
    2^-126, the least.
    """
    fine = True
    for x in range(belief.shape[0]):
        if belief[x] != 0.0:
            m, k = math.frexp(belief[x])
            short = math.ldexp(math.floor(m * 67108864.0 + 0.5), k - 26)
            if short < 2.0**-126:
                short = 2.0**-126
                fine = False
            belief[x] = short
    return fine


def code_of(kept: Floats) -> np.typing.NDArray[np.uint32]:
    """How the changelog writes masses that were kept short: 7 bits of exponent, the largest being 1, and 25 of
    mantissa.
    """
    m, k = np.frexp(kept)
    codes = (k.astype(np.int64) + 125) * 2**25 + (m * 2.0**26).astype(np.int64)
    return np.where(kept == 0.0, 0, codes).astype(np.uint32)
