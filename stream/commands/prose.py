"""The explanation of a pipeline in plain words; every figure in it comes from `explain.py`."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stream.commands.amounts import in_nats
from stream.commands.field_words import EVENTS_TITLE, FIELDS_TITLE, event_lines, field_lines
from stream.commands.layout import section, warned
from stream.commands.memory import in_words
from stream.commands.promising import (
    MANY_EVENTS,
    NOT_PROMISED,
    budget_lines,
    not_promised_lines,
    one_title,
    promise_lines,
)

_HOW: Final = {
    "optimal": "the value itself as often as the bound allows, otherwise a draw of what everybody expects; unlikely "
    "values are released rarely or never",
    "marginal_preserving": "the value itself or one near it on a circle of all values, so that values keep their "
    "frequencies",
    "published_crr": "the value itself, or a draw of what everybody expects, as its paper prints it",
    "top_k_grr": "one of the likeliest values: the value itself most often, each other one equally often; what is not "
    "among them becomes any of them",
    "randomised_response": "the value itself most often, each other one equally often, whatever is expected",
    "randomised_response_double": "the value itself most often, each other one equally often, at twice epsilon",
    "temporal_ldp": "one of the values that the model still holds possible: the value itself most often, each other "
    "one equally often",
    "two_budget": "as optimal, but a release may tell more upwards than downwards: what earlier releases left of the "
    "budget is there for rare values",
}


def write_explanation(facts: Mapping[str, Any]) -> str:
    """The whole text."""
    blocks = [_head(facts), _passes(facts)]
    if facts["fields"] is not None:
        blocks += [
            section(FIELDS_TITLE, field_lines(facts["fields"])),
            section(EVENTS_TITLE, event_lines(facts["fields"])),
        ]
    if facts["record"]["protected"] is None:
        blocks.append(_not_promised(facts))
    elif "segments" in facts:
        blocks.append(_segments(facts))
        for each in facts["segments"]:
            its = {**facts, **each}
            title = f"Users whose first {facts['segments_by']} is {each['serves']}: model {each['model']}"
            blocks += [f"{title}\n{'=' * len(title)}", *_of_model(its), _expected(its)]
        blocks.append(_not_promised(facts))
    else:
        blocks += [*_of_model(facts), _not_promised(facts), _expected(facts)]
    return "\n\n".join([*blocks, *([warned(facts["warnings"])] if facts["warnings"] else [])])


def _of_model(facts: Mapping[str, Any]) -> list[str]:
    return [
        section("What the model remembers", in_words(facts)),
        section(one_title(facts), promise_lines(facts)),
        section(MANY_EVENTS, _many_events(facts)),
    ]


def _segments(facts: Mapping[str, Any]) -> str:
    """Which model serves whom."""

    def lines() -> Iterator[str]:
        by = facts["segments_by"]
        for each in facts["segments"]:
            yield (
                f"users whose first {by} is {each['serves']}: model {each['model']}; one release tells at most "
                f"{in_nats(each['worst_per_event'])}, any 24 hours {in_nats(each['worst_per_day'])}"
            )
        yield (
            f"a user's first event decides; a later one of another model's {by} is never released, but becomes a dead "
            "letter with the reason segment_changed, and the user goes on as before"
        )
        if any(each["others"] for each in facts["segments"]):
            none = f"an event whose {by} is missing, or is neither a text, a number nor true or false,"
        else:
            none = f"an event without one of these in {by}"
        yield f"{none} becomes a dead letter with the reason unknown_segment"
        yield f"{by} is public, so whoever reads the releases knows which model serves whom"

    return section("Which model serves whom", lines())


def _head(facts: Mapping[str, Any]) -> str:
    pipeline = f"Pipeline {facts['pipeline']}, policy {facts['policy']}"
    if facts["record"]["protected"] is None:
        return pipeline
    return f"{pipeline}, model {facts['model']} ({facts['values']} values)"


def _passes(facts: Mapping[str, Any]) -> str:
    def lines() -> Iterator[str]:
        record = facts["record"]
        protected = record["protected"]
        named = [] if protected is None else [protected]
        named += [] if facts["fields"] is None else [each["path"] for each in facts["fields"]["each"]]
        yield f"perturbed: {', '.join(named)}"
        if protected is not None and facts["mechanism"] in _HOW:
            yield f"released in its place by {facts['mechanism']}: {_HOW[facts['mechanism']]}"
        yield f"as they are: {', '.join(record['public'])}" if record["public"] else "as they are: no other field"
        if record["headers"]:
            yield f"headers as they are: {', '.join(record['headers'])}"
        pseudonym = (
            "a keyed pseudonym, always the same for a user, so a user's records can still be told to belong together"
        )
        yield f"key: {'the user id' if record['key'] == 'keep' else pseudonym}"
        yield "the time of the event; everything else is dropped"

    return section("What leaves", lines())


def _many_events(facts: Mapping[str, Any]) -> Iterator[str]:
    yield from budget_lines(facts)
    if not math.isinf(facts["budget"]):
        most = in_nats(facts["worst_per_day"])
        yield f"in any 24 hours of {facts['events_per_day']} events (--events-per-day): at most {most} about one user"


def _not_promised(facts: Mapping[str, Any]) -> str:
    return section(NOT_PROMISED, not_promised_lines(facts))


def _waiting(window: Mapping[str, Any], single: Mapping[str, Any]) -> Iterator[str]:
    """What waiting for a window's end buys."""
    if window["order"] == "natural":
        yield "each value is released at once (order: natural); with order: bisect more would be kept, for a delay"
        return
    yield (
        f"values wait, sealed, until their window ends (order: {window['order']}): with "
        f"{single['values_per_release']:.3g} values a window a value waits {single['wait_ms'] / 1000:.3g} s on average "
        "at the rate that is assumed below; order: natural would release each at once and keep less"
    )
    if "kept" in window:
        yield (
            f"a new user's first window keeps {_percent(window['kept'])} of its values, and no mechanism under the "
            f"same bound keeps more than {_percent(window['kept_at_most'])}: it is at most "
            f"{_percent(window['gap_at_most'])} below the best (certified)"
        )


def _expected(facts: Mapping[str, Any]) -> str:
    single, day, references = facts["single"], facts["day"], facts["references"]
    what = "release" if facts["release_window"] is None else "window"

    def lines() -> Iterator[str]:
        yield (
            f"agreement: a released value is the real one in {_percent(single['agreement'])} of the events "
            f"(+- {_percent(2 * single['agreement_error'])}) while the budget lasts"
        )
        if (first := facts["near"]) is not None:
            yield (
                f"a new user's first value is released {first['first']:.4g} from the real one on average, at most "
                f"{_percent(first['gap_at_most'])} above the least that any mechanism with this bound could (certified)"
            )
        if facts["release_window"] is not None:
            yield from _waiting(facts["release_window"], single)
        if single["distance"] is not None:
            yield f"distance: a released value lies {single['distance']:.4g} from the real one on average"
        yield (
            f"for comparison, randomised response without a model agrees in "
            f"{_percent(references['randomised_response'])}, "
            f"or in {_percent(references['randomised_response_twice'])} at twice epsilon"
        )
        yield (
            f"leakage of one {what}: {in_nats(single['upper_per_event'])} upwards and "
            f"{in_nats(single['lower_per_event'])} downwards on average, {in_nats(single['largest'])} at most "
            "among those computed"
        )
        yield (
            f"a user's first day of {facts['events_per_day']} events, evenly spaced{_part(facts)}: "
            f"{_percent(day['released'])} are released, "
            f"{_percent(day['forecast'])} forecast, {_percent(day['suppressed'])} suppressed; "
            f"agreement {_percent(day['agreement'])}; "
            f"leakage {in_nats(day['upper_per_user'])} upwards, {in_nats(day['lower_per_user'])} downwards"
        )
        yield (
            f"computed by releasing {single['events']} and {day['events']} events of {single['users']} and "
            f"{day['users']} users whose values follow the model's own chain, with fixed public coins; "
            "real data agrees as far as the model does"
        )

    return section("What to expect", lines())


def _part(facts: Mapping[str, Any]) -> str:
    events = facts["day"]["events"] // facts["day"]["users"]
    return "" if events >= facts["events_per_day"] else f", of which the first {events} were computed"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
