"""What is promised, and what is not, in plain words: for `explain`, and for the status page, which says nothing else.

Every figure comes from `explain.py`. What is only expected, because it was computed on made events, is not said here.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from beliefs.correlation import joint_file
from beliefs.correlation.account import SUMMED
from stream.commands.amounts import in_nats
from stream.commands.field_words import FIELDS_TITLE, field_lines
from stream.commands.readers import reader_lines
from stream.commands.upwards import upward_lines
from stream.metrics.about import Said
from stream.settings.kinds import write_duration

SPENT: Final = {
    "forecast": "the likeliest value is released instead, which tells nothing new",
    "forecast_draw": "a draw from what everybody expects is released instead, which tells nothing new",
    "suppress": "nothing is released until the next window; that an event was left out can be seen",
    "stop": "nothing is ever released for this user again; that can be seen",
}

MANY_EVENTS: Final = "What is promised for many events"
NOT_PROMISED: Final = "What is not promised"

_RECOMPUTED: Final = (
    "what was really told is counted release by release and can be recomputed from the released topic alone"
)

_TABLE: Final = {
    joint_file.EXACT: "that the joint table is right: what fields give away of one another is computed from it",
    joint_file.STATED: "that the joint table is right within the radii that it states: what fields give away of one "
    "another is the most under any table within them",
    joint_file.COUNTED: "that the people who were counted for the joint table are like all others, and independent of "
    "one another: what fields give away of one another is the most under any table that the counts leave possible",
}

_NEVER_PROMISED: Final = (
    "that an event happened, and when: every event has its released record, or a visible gap, at its own time",
    "how many events a user has, and how large they are",
    "fields and headers that you declared public, and what they say about the protected one",
    "what other topics or other systems say about the same people",
    "users who depend on one another: a budget is one user's, two people who always move together have two",
    "whoever holds the key ring, the raw topic, or this machine's memory: they see the real values",
)


def promise_words(facts: Mapping[str, Any]) -> tuple[Said, ...]:
    """All of it. Models under which the same is promised are named together."""
    return (*_followed_words(facts), *_field_words(facts), Said(NOT_PROMISED, tuple(not_promised_lines(facts))))


def _field_words(facts: Mapping[str, Any]) -> tuple[Said, ...]:
    fields = facts["fields"]
    return () if fields is None else (Said(FIELDS_TITLE, tuple(field_lines(fields))),)


def _followed_words(facts: Mapping[str, Any]) -> Iterator[Said]:
    """Of the field whose values follow one another."""
    if facts["record"]["protected"] is None:
        return
    of_models: dict[Said, list[str]] = {}
    for each in facts.get("segments", [{}]):
        its = {**facts, **each}
        one, many = Said(one_title(its), tuple(promise_lines(its))), Said(MANY_EVENTS, tuple(budget_lines(its)))
        for said in (one, many):
            of_models.setdefault(said, []).append(its.get("serves", ""))
    for said, whom in of_models.items():
        everybody = "segments" not in facts or len(whom) == len(facts["segments"])
        to = "" if everybody else f", to users whose first {facts['segments_by']} is {', or '.join(whom)}"
        yield Said(said.title + to, said.lines)


def one_title(facts: Mapping[str, Any]) -> str:
    return "What is promised for one event" if facts["release_window"] is None else "What is promised for one window"


def promise_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Of one event, or of one window of values."""
    epsilon, factor = facts["epsilon"], facts["factor"]
    if not facts["holds_epsilon"]:
        yield _no_epsilon(facts)
        yield "what is really told is counted release by release, and charged to the budget in full"
        return
    if facts["upper"] is not None:
        yield from upward_lines(facts)
        yield _RECOMPUTED
        return
    window = facts["release_window"]
    what = "one release makes no value" if window is None else "one window makes no sequence of its values"
    yield (
        "against somebody who reads all that is released, knows this model and knows how a user's events hang "
        f"together: {what} more than {factor:.3g} times as likely, or as unlikely, as it was "
        f"before (epsilon = {epsilon:g} nats, on either side)"
    )
    if window is not None:
        yield from _window_lines(window)
    if facts["radius"] or facts["chain_error"]:
        yield from reader_lines(facts)
    elif facts["worst_under_any_model"] == epsilon:
        yield (
            "the same against somebody whose model is a better one than yours, whatever they know: any two values "
            f"release the same with chances that differ by no more than {factor:.3g} times (local privacy)"
        )
    else:
        yield (
            f"against somebody whose model is a better one than yours: at most {factor**2:.3g} times "
            f"(2 epsilon), whatever they know"
        )
    if facts["fields"] is not None:
        yield (
            "that is what the releases of this field tell; the reports of the other fields tell of it, too, at most "
            "the sum of their levels"
        )
    yield _RECOMPUTED


def _window_lines(window: Mapping[str, Any]) -> Iterator[str]:
    ends = [f"after {window['events']} values"]
    if window["stretch_ms"] is not None:
        ends.append(f"where the event time enters the next {write_duration(window['stretch_ms'])}")
    if window["deadline_ms"] is not None:
        ends.append(f"when its user has been silent for {write_duration(window['deadline_ms'])}")
    yield f"a user's window ends {' or '.join(ends)}; the promise holds for the window and for each of its beginnings"
    yield "a late event joins the window that its user has reached; at shutdown windows stay open and go on later"


def _no_epsilon(facts: Mapping[str, Any]) -> str:
    epsilon, worst = facts["epsilon"], in_nats(facts["worst_per_event"])
    if facts["worst_under_any_model"] is not None:
        return (
            f"{facts['mechanism']} does not keep epsilon = {epsilon:g}: it is here for comparison, and a release tells "
            f"up to {worst}, under this model and any other"
        )
    return (
        f"{facts['mechanism']} promises no bound of epsilon = {epsilon:g}: a release tells more whenever a "
        f"belief is below {facts['belief_floor']:.3g}. At worst, under this model, it tells {worst}"
    )


def budget_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Of many events, however many there are."""
    if math.isinf(facts["budget"]):
        yield "there is no budget: the promises of all events of a user add up without end"
        return
    window = "for ever"
    if facts["window_ms"] is not None:
        window = f"in each budget window of {write_duration(facts['window_ms'])}"
    if facts["window_events"] is not None:
        window = f"in any {facts['window_events']} of his events in a row"
    yield f"all releases about one user {window} tell at most {in_nats(facts['budget'])} together"
    if facts["holds_epsilon"]:
        count = facts["full_releases_per_window"]
        what = "releases" if facts["release_window"] is None else "windows of values"
        yield f"that pays for at least {count} {what}; those that tell less leave room for more"
    if facts["window_ms"] is not None:
        yield "budget windows follow one another, so a stretch of time of such a length may meet two of them"
    if facts["window_events"] is not None:
        yield (
            "it bounds what the outputs of these events add; leakage about these events from outputs outside is "
            "not bounded by it"
        )
    yield f"when it is spent: {SPENT[facts['when_spent']]}"


def not_promised_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["record"]["key"] == "keep":
        yield "who a user is: the released records bear the users' ids"
    yield from _NEVER_PROMISED
    if facts["fields"] is not None and any(each["rule"] != SUMMED for each in facts["fields"]["each"]):
        yield _TABLE[facts["fields"]["joint"]["known"]]
    if facts["window_ms"] is not None or facts["window_events"] is not None:
        yield "that later windows tell nothing about earlier events: each budget bounds what its own releases add"
    if facts["record"]["protected"] is not None and facts["worst_under_any_model"] is None:
        yield "any bound at all against somebody whose model differs from yours"
