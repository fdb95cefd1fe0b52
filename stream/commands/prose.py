"""The explanation of a pipeline in plain words; every figure in it comes from `explain.py`."""

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stream.commands.memory import in_words
from stream.commands.readers import reader_lines
from stream.commands.upwards import upward_lines
from stream.settings.kinds import write_duration

_WIDTH: Final = 100

_SPENT: Final = {
    "forecast": "the likeliest value is released instead, which tells nothing new",
    "forecast_draw": "a draw from what everybody expects is released instead, which tells nothing new",
    "suppress": "nothing is released until the next window; that an event was left out can be seen",
    "stop": "nothing is ever released for this user again; that can be seen",
}

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

_RECOMPUTED: Final = (
    "what was really told is counted release by release and can be recomputed from the released topic alone"
)

_NOT_PROMISED: Final = (
    "that an event happened, and when: every event has its released record, or a visible gap, at its own time",
    "how many events a user has, and how large they are",
    "fields and headers that you declared public, and what they say about the protected one",
    "what other topics or other systems say about the same people",
    "users who depend on one another: a budget is one user's, two people who always move together have two",
    "whoever holds the key ring, the raw topic, or this machine's memory: they see the real values",
)


def write_explanation(facts: Mapping[str, Any]) -> str:
    """The whole text."""
    blocks = [_head(facts), _passes(facts)]
    if "segments" in facts:
        blocks.append(_segments(facts))
        for each in facts["segments"]:
            its = {**facts, **each}
            title = f"Users whose first {facts['segments_by']} is {each['serves']}: model {each['model']}"
            blocks += [f"{title}\n{'=' * len(title)}", *_of_model(its), _expected(its)]
        blocks.append(_not_promised(facts))
    else:
        blocks += [*_of_model(facts), _not_promised(facts), _expected(facts)]
    return "\n\n".join([*blocks, *([_warnings(facts)] if facts["warnings"] else [])])


def _of_model(facts: Mapping[str, Any]) -> list[str]:
    return [_section("What the model remembers", in_words(facts)), _promise(facts), _budget(facts)]


def _segments(facts: Mapping[str, Any]) -> str:
    """Which model serves whom."""

    def lines() -> Iterator[str]:
        by = facts["segments_by"]
        for each in facts["segments"]:
            yield (
                f"users whose first {by} is {each['serves']}: model {each['model']}; one release tells at most "
                f"{_nats(each['worst_per_event'])}, any 24 hours {_nats(each['worst_per_day'])}"
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

    return _section("Which model serves whom", lines())


def _head(facts: Mapping[str, Any]) -> str:
    return f"Pipeline {facts['pipeline']}, policy {facts['policy']}, model {facts['model']} ({facts['values']} values)"


def _section(title: str, lines: Iterator[str]) -> str:
    return "\n".join([title, *(_wrapped(line) for line in lines)])


def _wrapped(line: str) -> str:
    return textwrap.fill(line, _WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def _passes(facts: Mapping[str, Any]) -> str:
    def lines() -> Iterator[str]:
        record = facts["record"]
        yield f"perturbed: {record['protected']}"
        if facts["mechanism"] in _HOW:
            yield f"released in its place by {facts['mechanism']}: {_HOW[facts['mechanism']]}"
        yield f"as they are: {', '.join(record['public'])}" if record["public"] else "as they are: no other field"
        if record["headers"]:
            yield f"headers as they are: {', '.join(record['headers'])}"
        pseudonym = (
            "a keyed pseudonym, always the same for a user, so a user's records can still be told to belong together"
        )
        yield f"key: {'the user id' if record['key'] == 'keep' else pseudonym}"
        yield "the time of the event; everything else is dropped"

    return _section("What leaves", lines())


def _promise(facts: Mapping[str, Any]) -> str:
    def lines() -> Iterator[str]:
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
            yield from _window_lines(window, facts["single"])
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
        yield _RECOMPUTED

    title = "What is promised for one event" if facts["release_window"] is None else "What is promised for one window"
    return _section(title, lines())


def _window_lines(window: Mapping[str, Any], single: Mapping[str, Any]) -> Iterator[str]:
    """How windows end, and what waiting buys."""
    ends = [f"after {window['events']} values"]
    if window["stretch_ms"] is not None:
        ends.append(f"where the event time enters the next {write_duration(window['stretch_ms'])}")
    if window["deadline_ms"] is not None:
        ends.append(f"when its user has been silent for {write_duration(window['deadline_ms'])}")
    yield f"a user's window ends {' or '.join(ends)}; the promise holds for the window and for each of its beginnings"
    if window["order"] == "natural":
        yield "each value is released at once (order: natural); with order: bisect more would be kept, for a delay"
        return
    yield (
        f"its values wait, sealed, until it ends (order: {window['order']}): with {single['values_per_release']:.3g} "
        f"values a window a value waits {single['wait_ms'] / 1000:.3g} s on average at the rate that is assumed below; "
        "order: natural would release each at once and keep less"
    )
    if window["order"] == "dual":
        yield (
            f"a new user's first window keeps {_percent(window['kept'])} of its values, and no mechanism under the "
            f"same bound keeps more than {_percent(window['kept_at_most'])}: it is at most "
            f"{_percent(window['gap_at_most'])} below the best (certified)"
        )
    yield "a late event joins the window that its user has reached; at shutdown windows stay open and go on later"


def _no_epsilon(facts: Mapping[str, Any]) -> str:
    epsilon, worst = facts["epsilon"], _nats(facts["worst_per_event"])
    if facts["worst_under_any_model"] is not None:
        return (
            f"{facts['mechanism']} does not keep epsilon = {epsilon:g}: it is here for comparison, and a release tells "
            f"up to {worst}, under this model and any other"
        )
    return (
        f"{facts['mechanism']} promises no bound of epsilon = {epsilon:g}: a release tells more whenever a "
        f"belief is below {facts['belief_floor']:.3g}. At worst, under this model, it tells {worst}"
    )


def _budget(facts: Mapping[str, Any]) -> str:
    def lines() -> Iterator[str]:
        if math.isinf(facts["budget"]):
            yield "there is no budget: the promises of all events of a user add up without end"
            return
        window = "for ever"
        if facts["window_ms"] is not None:
            window = f"in each budget window of {write_duration(facts['window_ms'])}"
        if facts["window_events"] is not None:
            window = f"in any {facts['window_events']} of his events in a row"
        yield f"all releases about one user {window} tell at most {_nats(facts['budget'])} together"
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
        yield f"when it is spent: {_SPENT[facts['when_spent']]}"
        most = _nats(facts["worst_per_day"])
        yield f"in any 24 hours of {facts['events_per_day']} events (--events-per-day): at most {most} about one user"

    return _section("What is promised for many events", lines())


def _not_promised(facts: Mapping[str, Any]) -> str:
    def lines() -> Iterator[str]:
        if facts["record"]["key"] == "keep":
            yield "who a user is: the released records bear the users' ids"
        yield from _NOT_PROMISED
        if facts["window_ms"] is not None or facts["window_events"] is not None:
            yield "that later windows tell nothing about earlier events: each budget bounds what its own releases add"
        if facts["worst_under_any_model"] is None:
            yield "any bound at all against somebody whose model differs from yours"

    return _section("What is not promised", lines())


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
        if single["distance"] is not None:
            yield f"distance: a released value lies {single['distance']:.4g} from the real one on average"
        yield (
            f"for comparison, randomised response without a model agrees in "
            f"{_percent(references['randomised_response'])}, "
            f"or in {_percent(references['randomised_response_twice'])} at twice epsilon"
        )
        yield (
            f"leakage of one {what}: {_nats(single['upper_per_event'])} upwards and "
            f"{_nats(single['lower_per_event'])} downwards on average, {_nats(single['largest'])} at most "
            "among those computed"
        )
        yield (
            f"a user's first day of {facts['events_per_day']} events, evenly spaced{_part(facts)}: "
            f"{_percent(day['released'])} are released, "
            f"{_percent(day['forecast'])} forecast, {_percent(day['suppressed'])} suppressed; "
            f"agreement {_percent(day['agreement'])}; "
            f"leakage {_nats(day['upper_per_user'])} upwards, {_nats(day['lower_per_user'])} downwards"
        )
        yield (
            f"computed by releasing {single['events']} and {day['events']} events of {single['users']} and "
            f"{day['users']} users whose values follow the model's own chain, with fixed public coins; "
            "real data agrees as far as the model does"
        )

    return _section("What to expect", lines())


def _part(facts: Mapping[str, Any]) -> str:
    events = facts["day"]["events"] // facts["day"]["users"]
    return "" if events >= facts["events_per_day"] else f", of which the first {events} were computed"


def _warnings(facts: Mapping[str, Any]) -> str:
    border = "!" * _WIDTH
    return "\n".join([border, *(_wrapped(f"WARNING: {warning}") for warning in facts["warnings"]), border])


def _nats(amount: float) -> str:
    return "an amount without bound" if math.isinf(amount) else f"{amount:.4g} nats"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
