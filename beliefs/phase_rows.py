"""The phases of a model file: JSON in, one checked chain out, and back.

    of order 1:       "phases": [{"form": "dense", "rows": [...]}, {"form": "sparse", "rows": [...]}, ...]
    of a higher one:  "phases": [[{"context": [], "p": [...]}, ...], [{"context": [], "p": [...]}, ...], ...]

Every phase lists the same contexts, so that their states are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from beliefs.chain import Chain, start_law
from beliefs.checks import Problems
from beliefs.context_rows import Laws, read_contexts, written_contexts
from beliefs.contexts import TRANSITIONS_MAX, Context, chain_of
from beliefs.simplex import Vector
from beliefs.transition_rows import read_transitions, written_transitions

PHASES_MAX = 10_080
"""A phase for each minute of a week."""


def read_phases(document: Mapping[str, object], size: int, order: int, problems: Problems) -> Chain | None:
    """The chain of a model in phases; None where anything, here or before, was found wrong."""
    phases = document["phases"]
    if not isinstance(phases, list) or not 2 <= len(phases) <= PHASES_MAX:
        problems.add(
            "phases", f"must be a list of 2 to {PHASES_MAX} phases; without phases a model is of version 1 or 2"
        )
        return None
    start = problems.run(lambda: start_law(document["start"], "start", size))
    if start is None:
        return None
    read = _transitions_of if order == 1 else _contexts_of
    kept = [_read_one(read, phase, number, start, order, problems) for number, phase in enumerate(phases)]
    if problems.found:
        return None
    for number, phase in enumerate(kept):
        if phase.contexts != kept[0].contexts:
            problems.add(
                f"phases[{number}]", "lists other contexts than phases[0]; list the same, with laws of their own"
            )
    chains = [phase.chain for phase in kept]
    transitions = sum(chain.data.size for chain in chains)
    if transitions > TRANSITIONS_MAX:
        problems.add("phases", f"make {transitions} transitions; at most {TRANSITIONS_MAX} are possible")
    return None if problems.found else Chain.in_phases(chains)


def written_phases(start: Vector, phases: Sequence[Chain] | Sequence[Laws]) -> list[object]:
    """The phases as JSON: chains of order 1, or the laws of contexts."""
    return [
        written_transitions(phase) if isinstance(phase, Chain) else written_contexts(phase, start.size)
        for phase in phases
    ]


class _Phase(NamedTuple):
    chain: Chain
    contexts: frozenset[Context]


_Reader = Callable[[object, Vector, int, Problems], _Phase | None]


def _read_one(read: _Reader, phase: object, number: int, start: Vector, order: int, problems: Problems) -> _Phase:
    """Problems of one phase, with its place in front; what is answered then is not used."""
    own = Problems()
    found = read(phase, start, order, own)
    for problem in own.found:
        problems.add(f"phases[{number}].{problem.field}", problem.reason)
    return found or _Phase(Chain.from_dense([1.0], [[1.0]]), frozenset())


def _transitions_of(phase: object, start: Vector, order: int, problems: Problems) -> _Phase | None:  # noqa: ARG001
    chain = read_transitions({"start": start.tolist(), "transitions": phase}, start.size, problems)
    return None if chain is None else _Phase(chain, frozenset())


def _contexts_of(phase: object, start: Vector, order: int, problems: Problems) -> _Phase | None:
    laws = read_contexts(phase, order, start.size, problems)
    chain = None if problems.found else problems.run(lambda: chain_of(start, laws))
    return None if chain is None else _Phase(chain, frozenset(laws))
