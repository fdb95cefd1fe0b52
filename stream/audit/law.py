"""The public model as the auditor reads it: by columns, because a prediction gathers, for each value, from those before
it.

A belief is one over the model's states. Each state ends with a value, and what a mechanism is given are the sums over
the states of each value. In a model of order 1 the states are the values.

The order of additions is part of the promise. A prediction of value y is the sum over x, ascending, of belief(x) C(x,
y); then all are divided by their sum, added up ascending. Gathering column by column adds the same numbers in the same
order as scattering row by row. A value's sum is taken over its states, ascending; then all are divided by their sum
once more, unless each value is one state.

In a model with a tail, a prediction's sum for y has one more term, the last: tail(y) times the sum over x, ascending,
of belief(x) left(x).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.chain import Chain
from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers


class Law(NamedTuple):
    """`before[first[s]:first[s + 1]]` are the states that s may follow, ascending, and `chance` their probabilities.

    `members[begin[y]:begin[y + 1]]` are the states that end with value y, and `ends` is the value of each state. Of a
    relative error in a belief the share `contraction` (in 2^-32) survives `span` predictions. `left` is what the states
    leave to the `tail`, the law that they share; both are empty in a model without one. A model in `phases` has places
    for each state in each phase: those of the first phase, then those of the second, and so on.
    """

    start: Floats
    first: Integers
    before: Integers
    chance: Floats
    begin: Integers
    members: Integers
    ends: Integers
    contraction: int
    span: int
    tail: Floats
    left: Floats
    phases: int = 1


def law_of(chain: Chain) -> Law:
    places = np.repeat(np.arange(chain.size * chain.phases), np.diff(chain.indptr))
    rows, phase = places % chain.size, places // chain.size
    entered = phase * chain.size + chain.indices
    by_column = np.argsort(entered, kind="stable")
    ends = chain.symbol_of.astype(np.int64)
    leads_to = phase * chain.symbols + ends[chain.indices]
    by_value = np.argsort(leads_to, kind="stable")
    columns = np.split(chain.data[by_value], starts_of(leads_to, chain.symbols * chain.phases)[1:-1])
    return Law(
        start=chain.start.copy(),
        first=starts_of(entered, chain.size * chain.phases),
        before=rows[by_column],
        chance=chain.data[by_column].astype(np.float64),
        begin=starts_of(ends, chain.symbols),
        members=np.argsort(ends, kind="stable"),
        ends=ends,
        contraction=contraction_beside(chain) if chain.has_tail else contraction_of(columns, chain.size, chain.span),
        span=chain.span,
        tail=chain.tail.copy(),
        left=chain.left.copy(),
        phases=chain.phases,
    )


def starts_of(numbers: Integers, count: int) -> Integers:
    """Where each number's entries begin once they are sorted; one place more than numbers."""
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))]).astype(np.int64)


def contraction_of(columns: Sequence[Floats], states: int, span: int) -> int:
    """How much of a relative error in a belief survives a span of predictions, in 2^-32, rounded up: (R - 1)/(R + 1)
    for R = r^span, r the largest ratio between two states' chances of one value; all of it survives where a value is
    impossible after some states and possible after others."""
    survives = 0
    for column in columns:
        if column.shape[0] == 0:
            continue
        if column.shape[0] < states:
            return 2**32
        above, over = float(column.max()).as_integer_ratio()
        below, under = float(column.min()).as_integer_ratio()
        large, small = (above * under) ** span, (below * over) ** span
        survives = max(survives, -(-(large - small) * 2**32 // (large + small)))
    return survives


def contraction_beside(chain: Chain) -> int:
    """The same for a model with a tail: r is the largest of all left(x) and C(x, y) / tail(y) + left(x), divided by the
    smallest left(x) and raised by 2^-48; C is what the rows name."""
    smallest, largest = float(chain.left.min()), float(chain.left.max())
    if smallest == 0.0:
        return 2**32
    for x, left in enumerate(chain.left.tolist()):
        states, chances = chain.named(x)
        if states.shape[0]:
            largest = max(largest, float((chances / chain.tail[states]).max()) + left)
    raised = largest / smallest * (1.0 + 2.0**-48)
    if math.isinf(raised):
        return 2**32
    above, below = raised.as_integer_ratio()
    return -(-(above - below) * 2**32 // (above + below))


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
def carry(law: Law, mass: Floats, moved: Floats, step: int = 0) -> None:
    """Masses on by the step of this number, as they come."""
    phase = step % law.phases * mass.shape[0]
    for y in range(mass.shape[0]):
        total = 0.0
        for place in range(law.first[phase + y], law.first[phase + y + 1]):
            total += mass[law.before[place]] * law.chance[place]
        moved[y] = total
    if law.tail.shape[0] > 0:
        shared = 0.0
        for x in range(mass.shape[0]):
            shared += mass[x] * law.left[x]
        for y in range(mass.shape[0]):
            moved[y] += shared * law.tail[y]


@kernel
def foresee(law: Law, belief: Floats, ahead: Floats, step: int = 0) -> None:
    """What is expected after the step of this number."""
    carry(law, belief, ahead, step)
    share_out(ahead)


@kernel
def take_over(ahead: Floats, belief: Floats) -> bool:
    """What was foreseen is believed, masses of at least 2^-512; False if a positive one was less."""
    fine = True
    for s in range(ahead.shape[0]):
        small = 0.0 < ahead[s] < 2.0**-512
        belief[s] = 2.0**-512 if small else ahead[s]
        fine = fine and not small
    return fine


@kernel
def differs(ahead: Floats, belief: Floats) -> bool:
    found = 0
    for s in range(ahead.shape[0]):
        found += ahead[s] != belief[s]
    return found > 0


@kernel
def by_value(law: Law, ahead: Floats, values: Floats) -> None:
    """The sums over the states of each value."""
    for y in range(values.shape[0]):
        mass = 0.0
        for place in range(law.begin[y], law.begin[y + 1]):
            mass += ahead[law.members[place]]
        values[y] = mass
    if values.shape[0] < ahead.shape[0]:
        share_out(values)


@kernel
def learn(law: Law, ahead: Floats, column: Integers, belief: Floats) -> bool:
    """What is believed after a release whose probability is `column[x]` when the value is x.

    False if the law has no room for it: then the column alone is believed.
    """
    possible = False
    for s in range(ahead.shape[0]):
        belief[s] = ahead[s] * float(column[law.ends[s]])
        possible = possible or belief[s] > 0.0
    if not possible:
        for s in range(ahead.shape[0]):
            belief[s] = float(column[law.ends[s]])
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
