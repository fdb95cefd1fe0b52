"""The one door for every number that is promised: a name and its inputs in, a result or an error out.

    {"what": NAME, "inputs": {...}}  ->  {"result": {...}}  or  {"error": {"field": INPUT, "reason": SENTENCE}}

A list of such objects gives a list of answers in the same order; an error in one leaves the others alone. Other keys of
an object are ignored. `catalogue.py` holds the names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from beliefs import json_text
from beliefs.checks import Invalid, kind_of, require
from stream.compute.catalogue import CATALOGUE
from stream.compute.computation import Choice, Computation
from stream.compute.inputs import text


def answer(document: object) -> object:
    """The answer to one object, or the answers to a list of them."""
    if isinstance(document, list):
        return [_answer_one(item) for item in document]
    return _answer_one(document)


def holds_error(answers: object) -> bool:
    """Whether any of the answers is an error."""
    listed = answers if isinstance(answers, list) else [answers]
    return any(isinstance(each, dict) and "error" in each for each in listed)


def _answer_one(item: object) -> dict[str, object]:
    try:
        return {"result": _in_json(_result(item))}
    except Invalid as problem:
        return {"error": {"field": problem.field, "reason": f"{problem.field} {problem.reason}."}}


def _result(item: object) -> Mapping[str, object]:
    if not isinstance(item, dict):
        raise Invalid("what", f"must stand in an object with what and inputs, found {kind_of(item)}")
    for key in ("what", "inputs"):
        if key in _repeated(item):
            raise Invalid(key, "is given more than once")
    computation = _computation(item.get("what"))
    given = item.get("inputs", {})
    if not isinstance(given, dict):
        raise Invalid("inputs", f"must be an object, found {kind_of(given)}")
    if isinstance(computation, Choice):
        chosen, rest = _of(computation, given)
        return chosen.function(**_read(chosen, rest, computation.by))
    return computation.function(**_read(computation, given))


def _computation(name: object) -> Computation | Choice:
    if not isinstance(name, str):
        raise Invalid("what", f"must be the name of a computation, found {kind_of(name)}")
    if name not in CATALOGUE:
        raise Invalid("what", f"is no name known here; the names are {', '.join(CATALOGUE)}")
    return CATALOGUE[name]


def _of(choice: Choice, given: Mapping[str, object]) -> tuple[Computation, json_text.JsonObject]:
    """The computation that was chosen, and the inputs without the choice."""
    if choice.by in _repeated(given):
        raise Invalid(choice.by, "is given more than once")
    if choice.by not in given:
        raise Invalid(choice.by, "is missing")
    name = text(given[choice.by], choice.by)
    if name not in choice.computations:
        raise Invalid(choice.by, f"is not known; there are {', '.join(choice.computations)}")
    rest = json_text.JsonObject({key: value for key, value in given.items() if key != choice.by})
    rest.repeated = tuple(_repeated(given))
    return choice.computations[name], rest


def _read(computation: Computation, given: Mapping[str, object], *before: str) -> dict[str, object]:
    names = [*before, *(each.name for each in computation.inputs)]
    for name in given:
        if name not in names:
            raise Invalid(name, f"is no input of this computation; its inputs are {', '.join(names)}")
    for name, value in given.items():
        if name in _repeated(given) or next(json_text.repeated_keys(value), None) is not None:
            raise Invalid(name, "is given more than once, or holds a key that is")
    needed = {each.name for each in computation.inputs if each.needed} | _chosen(computation, given)
    values = {}
    for each in computation.inputs:
        if each.name in given:
            values[each.name] = each.read(given[each.name], each.name)
        elif each.name in needed:
            raise Invalid(each.name, "is missing")
    return values


def _chosen(computation: Computation, given: Mapping[str, object]) -> set[str]:
    """The inputs of the one alternative that was chosen; the choice is an error of the first input of the first."""
    if not computation.exactly_one_of:
        return set()
    touched = [group for group in computation.exactly_one_of if any(name in given for name in group)]
    if len(touched) != 1:
        choices = ", or ".join(" and ".join(group) for group in computation.exactly_one_of)
        found = "none of them" if not touched else "more than one of them"
        raise Invalid(
            computation.exactly_one_of[0][0], f"belongs to a choice: give exactly one of {choices}; found {found}"
        )
    return set(touched[0])


def _repeated(value: object) -> tuple[str, ...]:
    return value.repeated if isinstance(value, json_text.JsonObject) else ()


def _in_json(value: object) -> object:
    """The value with infinity as the text "inf". NaN never leaves."""
    if isinstance(value, float):
        require(not math.isnan(value), "a result is a number")
        return ("inf" if value > 0 else "-inf") if math.isinf(value) else value
    if isinstance(value, Mapping):
        return {key: _in_json(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_in_json(inside) for inside in value]
    require(value is None or isinstance(value, bool | int | str), "a result is plain JSON")
    return value
