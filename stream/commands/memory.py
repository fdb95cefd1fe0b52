"""What the model remembers and when it moves on, as figures and in plain words, for `validate` and `explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beliefs.model_file import Model
from stream.opening import Opened
from stream.promise import Promise
from stream.settings.kinds import write_duration
from stream.settings.models import ModelSettings


def memory_of(model: Model, clock: ModelSettings, promise: Promise) -> dict[str, Any]:
    """The order of the model, its contexts and states, and its clock."""
    return {
        "order": model.order,
        "contexts": model.contexts,
        "states": model.chain.size,
        "phases": model.chain.phases,
        "step_ms": clock.step,
        "most_steps": clock.most if clock.step is not None else None,
        "listed": promise.policy.listed or None,
    }


def whom_served(opened: Opened) -> list[dict[str, Any]]:
    """Whom each model serves: the names that the field may have, and whether all others belong to it, too."""
    return [
        {"serves": serving.words, "names": list(serving.names), "others": serving.others} for serving in opened.servings
    ]


def in_short(facts: Mapping[str, Any]) -> str:
    """A clause behind the number of values; nothing for a model of order 1 that goes event by event."""
    words = "" if facts["order"] == 1 else f", order {facts['order']}, {facts['contexts']} contexts"
    words += "" if facts["phases"] == 1 else f", {facts['phases']} phases"
    return words if facts["step_ms"] is None else f"{words}, a step each {write_duration(facts['step_ms'])}"


def in_words(facts: Mapping[str, Any]) -> Iterator[str]:
    """What the model takes into account, one sentence a line."""
    if facts["order"] == 1:
        yield "the next value depends on the last one, and on nothing before it (order 1)"
    else:
        yield (
            f"the next value depends on the last {facts['order']} values (order {facts['order']}), as far as they are "
            f"one of the {facts['contexts']} contexts that the model lists; where they are not, on the longest context "
            f"that they end with. A belief has {facts['states']} states"
        )
    if facts["listed"] is not None:
        yield (
            f"at most {facts['listed']} entries of a belief are kept by themselves, and one number for all others; "
            "what that may move the belief by is added to its drift, so no release tells more, and some may tell less"
        )
    if facts["phases"] > 1:
        each = "the step" if facts["step_ms"] is not None else "the user's event"
        yield (
            f"how one value follows another depends on the time: {each} of number i, counted from 0, is taken with the "
            f"transitions of phase i modulo {facts['phases']}"
            + ("" if facts["step_ms"] is None else "; steps are counted from midnight of 1 January 1970, UTC")
        )
    if facts["step_ms"] is None:
        yield "each event is one step of the model, however much time lies between two events"
        return
    step = write_duration(facts["step_ms"])
    yield (
        f"the model takes one step for each {step} of event time, so silence moves the belief on: events within the "
        f"same {step}, and late ones, are taken for another look at the same value; after a silence of more than "
        f"{facts['most_steps']} steps the belief is as after {facts['most_steps']}"
    )
    yield "that somebody's events come now and not then is taken to say nothing about the values"
