"""What an adversary who knows the model and sees every release believes about a user: the definition.

These functions work with any kind of number. With fractions they are exact, and the tests compare them with the sum
over all hidden paths; with floats they are what the compiled belief of the stream is compared with. `belief.md` proves
them.

Both cost one pass over what is not zero: `predict` over the transitions, `condition` over the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from beliefs.chain import Chain
from beliefs.checks import Invalid, require

Number = TypeVar("Number", float, Fraction)


def predict(belief: Sequence[Number], chain_rows: Sequence[Sequence[tuple[int, Number]]]) -> list[Number]:
    """The law of the next value: the sum over x of belief(x) C(x, .)."""
    require(len(belief) == len(chain_rows), "a belief has one entry for every row of its chain")
    following = [0 * mass for mass in belief]
    for mass, row in zip(belief, chain_rows, strict=True):
        if mass:
            for state, probability in row:
                following[state] += mass * probability
    return following


def condition(belief: Sequence[Number], likelihood: Sequence[Number]) -> list[Number]:
    """The belief after a release that has probability `likelihood[x]` when the value is x: Bayes' rule."""
    require(len(belief) == len(likelihood), "a belief has one entry for every entry of a likelihood")
    joint = [mass * factor for mass, factor in zip(belief, likelihood, strict=True)]
    total = sum(joint[1:], joint[0])
    if not total > 0:
        raise Invalid("likelihood", "is zero wherever the belief is not: such a release cannot have happened")
    return [mass / total for mass in joint]


def marginal(belief: Sequence[Number], symbol_of: Sequence[int]) -> list[Number]:
    """The law of the value, from a belief over states that each end with a value: a sum over its states."""
    require(len(belief) == len(symbol_of), "every state ends with a value")
    law = [0 * belief[0] for _ in range(max(symbol_of) + 1)]
    for symbol, mass in zip(symbol_of, belief, strict=True):
        law[symbol] += mass
    return law


def lifted(likelihood: Sequence[Number], symbol_of: Sequence[int]) -> list[Number]:
    """The likelihood of each state: that of the value it ends with, for a release looks at nothing else."""
    return [likelihood[symbol] for symbol in symbol_of]


def rows_of(chain: Chain, step: int = 0) -> list[list[tuple[int, float]]]:
    """A chain's rows as pairs (next state, probability), the form that `predict` takes, for the step of this number."""
    pairs = ((x, chain.row(x, step)) for x in range(chain.size))
    return [list(zip(states.tolist(), values.tolist(), strict=True)) for _, (states, values) in pairs]
