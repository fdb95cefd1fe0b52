"""Numbers of exact sums that a crowd covers: what they tell about one of its members."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from beliefs.checks import Invalid
from beliefs.crowd import bounds, published
from beliefs.crowd.divergence import Events
from beliefs.crowd.markov import chain_delta, chain_epsilon
from beliefs.crowd.members import Block, Group, Neighbour, kinds_of, kinds_of_blocks
from beliefs.crowd.normal import normal_delta, normal_epsilon
from beliefs.crowd.ranges import range_delta, range_epsilon
from beliefs.crowd.required import required_users
from beliefs.crowd.sums import SUM
from beliefs.crowd.windows import windows_delta
from beliefs.crowd.worst import Kind, largest_delta, smallest_epsilon
from beliefs.laws.markov import MarkovLaw
from beliefs.simplex import Vector, probabilities
from stream.compute.inputs import count, law, nested
from stream.compute.sequence import Result

Choice = TypeVar("Choice")

SIDES: Mapping[str, int] = {"halflines": 1, "intervals": 2}
EVENTS: Mapping[str, Events] = {"all": "all", "intervals": "intervals"}
NEIGHBOURS: Mapping[str, Neighbour] = {"change": "change", "remove": "remove"}


def exact(
    groups: Sequence[Mapping[str, object]],
    epsilon: float | None = None,
    delta: float | None = None,
    known: tuple[int, ...] = (),
    attacked: int | None = None,
    events: str = "all",
    neighbour: str = "change",
) -> Result:
    """The sum of independent members."""
    read = [Group(law(*_member(each, "law", "groups")), _count(each, "groups")) for each in _some(groups, "groups")]
    beside, asked = _one_of(NEIGHBOURS, neighbour, "neighbour"), _one_of(EVENTS, events, "events")
    return _workable("groups", lambda: _of_kinds(kinds_of(read, known, attacked, beside), epsilon, delta, asked))


def blocks(
    blocks: Sequence[Mapping[str, object]],
    epsilon: float | None = None,
    delta: float | None = None,
    known: tuple[int, ...] = (),
) -> Result:
    """The sum over independent households, whose members depend on each other."""
    read = [
        Block(_joint(*_member(each, "joint", "blocks")), _count(each, "blocks")) for each in _some(blocks, "blocks")
    ]
    return _workable("blocks", lambda: _of_kinds(kinds_of_blocks(read, known), epsilon, delta, "all"))


def markov(
    transition: Sequence[Vector],
    start: Vector,
    domain: Vector,
    length: int,
    epsilon: float | None = None,
    delta: float | None = None,
) -> Result:
    """The sum of a chain."""
    chain = MarkovLaw(np.array(transition), start, domain, length)
    return _workable(
        "domain",
        lambda: _either(epsilon, delta, lambda at: chain_delta(chain, at), lambda at: chain_epsilon(chain, at)),
    )


def smallest_and_largest(law: Vector, users: int, epsilon: float | None = None, delta: float | None = None) -> Result:
    """The range of a crowd."""
    return _either(epsilon, delta, lambda at: range_delta(law, users, at), lambda at: range_epsilon(law, users, at))


def normal(shift: float, deviation: float, epsilon: float | None = None, delta: float | None = None) -> Result:
    """Two normal laws of one deviation."""
    return _either(
        epsilon,
        delta,
        lambda at: normal_delta(shift, deviation, at),
        lambda at: normal_epsilon(shift, deviation, at),
    )


def selection(users: int, probability: float, epsilon: float | None = None, delta: float | None = None) -> Result:
    """How many of a crowd were chosen."""
    return _either(
        epsilon,
        delta,
        lambda at: bounds.selection_delta(users, probability, at),
        lambda at: bounds.selection_epsilon(users, probability, at),
    )


def required(law: Vector, epsilon: float, delta: float, known_fraction: float = 0.0) -> Result:
    return _workable("law", lambda: {"users": required_users(law, epsilon, delta, known_fraction)})


def windows(law: Vector, users: int, windows: int, epsilon: float) -> Result:
    return _workable("users", lambda: {"delta": windows_delta(law, users, windows, epsilon)})


def bound(
    variance: float,
    shift: float,
    events: str,
    third: float | None = None,
    range: float | None = None,  # noqa: A002 - the input's name
    epsilon: float | None = None,
    tail: float | None = None,
) -> Result:
    """The repaired bound from moments."""
    sides = _one_of(SIDES, events, "events")
    if (third is None) == (range is None):
        raise Invalid("third", "belongs to a choice: give exactly one of third, or range")
    if (epsilon is None) == (tail is None):
        raise Invalid("epsilon", "belongs to a choice: give exactly one of epsilon, or tail")
    deviation = math.sqrt(variance)
    ratio = third / variance / deviation if third is not None else (range or 0.0) / deviation
    return bounds.moments_bound(variance, ratio, shift, sides, epsilon, tail)._asdict()


def theorem1_epsilon(users: int, probability: float, minimum: int, delta: float) -> Result:
    return _printed(epsilon=published.theorem1_epsilon(users, probability, minimum, delta))


def theorem1_delta(users: int, probability: float, minimum: int, epsilon: float) -> Result:
    return _printed(delta=published.theorem1_delta(users, probability, minimum, epsilon))


def lemma2(delta: float, shift: float, minimum: float, epsilon1: float) -> Result:
    tail, constant = published.lemma2(delta, shift, minimum, epsilon1)
    return _printed(tail=tail, constant=constant)


def theorem4(**inputs: float) -> Result:
    epsilon, delta = published.theorem4(**inputs)
    return _printed(epsilon=epsilon, delta=delta)


def theorem5(**inputs: float) -> Result:
    return _printed(delta=published.theorem5(**inputs))


def _printed(**results: float) -> Result:
    return {**results, "guarantee": False}


def _workable(field: str, told: Callable[[], Result]) -> Result:
    """A sum that cannot be worked out is the fault of the input that makes it so wide."""
    try:
        return told()
    except Invalid as problem:
        if problem.field != SUM:
            raise
        raise Invalid(field, f"makes a sum that {problem.reason}") from None


def _of_kinds(kinds: Sequence[Kind], epsilon: float | None, delta: float | None, events: Events) -> Result:
    return _either(
        epsilon,
        delta,
        lambda at: largest_delta(kinds, at, events),
        lambda at: smallest_epsilon(kinds, at, events),
    )


def _either(
    epsilon: float | None,
    delta: float | None,
    delta_at: Callable[[float], float],
    epsilon_at: Callable[[float], float],
) -> Result:
    """What was not given."""
    if epsilon is not None:
        return {"delta": delta_at(epsilon)}
    assert delta is not None
    return {"epsilon": epsilon_at(delta)}


def _some(members: Sequence[Mapping[str, object]], field: str) -> Sequence[Mapping[str, object]]:
    if not members:
        raise Invalid(field, "is empty; a crowd needs at least one member")
    return members


def _member(each: Mapping[str, object], name: str, field: str) -> tuple[object, str]:
    strange = sorted(each.keys() - {name, "count"})
    if name not in each or strange:
        raise Invalid(field, f"must hold objects with {name}, and count if it is not 1" + _met(strange))
    return each[name], field


def _met(strange: Sequence[str]) -> str:
    return f"; {strange[0]} is neither" if strange else ""


def _count(each: Mapping[str, object], field: str) -> int:
    return count(each["count"], field) if "count" in each else 1


def _joint(value: object, field: str) -> Vector:
    joint = nested(value, field)
    probabilities(joint.ravel().tolist(), field)
    return joint


def _one_of(choices: Mapping[str, Choice], name: str, field: str) -> Choice:
    if name not in choices:
        raise Invalid(field, f"is not known; there are {', '.join(choices)}")
    return choices[name]
