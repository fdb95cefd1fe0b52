"""Chains with a longer memory: the next value depends on the last up to m values, as far as they are listed.

A context is a tuple of value indices, the oldest first. The law of the next value is that of the longest listed context
that the past ends with; the empty context is always listed, so there is one. This is a first-order chain over states,
which are contexts: `contexts.md` proves which ones are needed, that they are enough, and what is exact.

Only listed contexts, their beginnings and single values become states, never all |X|^m pasts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from beliefs.alphabet import SIZE_MAX
from beliefs.chain import Chain, Indices, Row
from beliefs.checks import Invalid, require
from beliefs.simplex import Vector

Context = tuple[int, ...]

ORDER_MAX = 16
"""All pasts of 16 values of an alphabet of two are 65,536, which is every state there may be."""

TRANSITIONS_MAX = 1 << 24
"""A short file can stand for a large chain, because a law is used wherever its context is the longest: 256 MiB."""


class _Longer(NamedTuple):
    """The states that are one value longer than a state: the values, ascending, and the numbers of those states."""

    values: Indices
    states: Indices


def chain_of(start: Vector, laws: Mapping[Context, Row]) -> Chain:
    """The chain over states, from checked laws of the first value and of the value that follows each context."""
    require(() in laws, "the empty context has a law")
    states = states_of(laws, start.size)
    if len(states) > SIZE_MAX:
        raise Invalid(
            "contexts",
            f"make {len(states)} states (each listed context, each beginning of one, each single value); "
            f"at most {SIZE_MAX} are possible: list fewer or shorter contexts",
        )
    used = [laws[longest_suffix(state, laws)] for state in states]
    transitions = sum(values.size for values, _ in used)
    if transitions > TRANSITIONS_MAX:
        raise Invalid(
            "contexts",
            f"make {transitions} transitions between {len(states)} states; at most {TRANSITIONS_MAX} are possible: "
            "give the contexts that are used most, the empty one first of all, sparse laws",
        )
    longer = _longer(states)
    rows = [_row(state, law, longer) for state, law in zip(states, used, strict=True)]
    symbol_of = np.array([state[-1] for state in states], dtype=np.int64)
    start_of_states = np.zeros(len(states))
    start_of_states[: start.size] = start
    return Chain.from_rows(start_of_states, rows, symbol_of, len(states[-1]))


def states_of(listed: Iterable[Context], symbols: int) -> list[Context]:
    """Single values first, in their order; then beginnings of listed contexts, by length and then by values."""
    beginnings = {context[:length] for context in listed for length in range(2, len(context) + 1)}
    return [*((value,) for value in range(symbols)), *sorted(beginnings, key=lambda context: (len(context), context))]


def longest_suffix(past: Context, among: Collection[Context]) -> Context:
    """The longest of these contexts that the past ends with; the empty one must be among them."""
    return next(past[begin:] for begin in range(len(past) + 1) if past[begin:] in among)


def _longer(states: Sequence[Context]) -> dict[Context, _Longer]:
    pairs: dict[Context, list[tuple[int, int]]] = {}
    for number, state in enumerate(states):
        if len(state) > 1:
            pairs.setdefault(state[:-1], []).append((state[-1], number))
    arrays = {state: np.array(found, dtype=np.int64).T for state, found in pairs.items()}
    return {state: _Longer(values, numbers) for state, (values, numbers) in arrays.items()}


def _row(state: Context, law: Row, longer: Mapping[Context, _Longer]) -> Row:
    """Where each next value leads: the longest state that the state and the value end with.

    It is the value alone, unless a suffix of the state has a longer state with that value; the longest suffix wins.
    """
    values, probabilities = law
    following = values.copy()
    for begin in range(len(state) - 1, -1, -1):
        more = longer.get(state[begin:])
        if more is not None:
            places = np.searchsorted(values, more.values)
            places[places == values.size] = 0
            known = values[places] == more.values
            following[places[known]] = more.states[known]
    ascending = np.argsort(following)
    return following[ascending], probabilities[ascending]
