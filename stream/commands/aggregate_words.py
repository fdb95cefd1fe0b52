"""What a pipeline of aggregates promises, and what it does not, in plain words; every figure is from the facts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from stream.commands.amounts import in_nats
from stream.commands.layout import section, warned
from stream.commands.promising import NOT_PROMISED
from stream.metrics.about import Said
from stream.settings.amounts import write_moment
from stream.settings.kinds import write_duration

AGGREGATES: Final = "What is released of a window"
COUNTED: Final = "Which events count"
ONE_WINDOW: Final = "What one window tells about one user"
MANY_WINDOWS: Final = "What many windows tell about one user"

TAKEN: Final = {
    "first": "first value in the window",
    "last": "last value in the window",
    "largest": "largest value in the window",
    "smallest": "smallest value in the window",
    "sum": "values in the window, added up",
}
_METHODS: Final = {
    "exact": "exactly, for the worst of them",
    "sound": "a bound that holds for whatever is released with such a loss",
    "group": "the bound of a group, whatever its law",
}
HURRIED: Final = (
    "that one user's event never decides whether another's still counts: what comes more than lateness behind the "
    "latest event of its partition is late, whoever sent that one; a raw topic whose brokers stamp its records "
    "(message.timestamp.type=LogAppendTime) lets nobody hurry it on"
)
_NEVER: Final = (
    "that the true numbers of many users stay secret: an aggregate tells about everybody together, and is meant to",
    "how many events there were, and when: lag and throughput can be seen",
    "what other topics, other pipelines or other systems say about the same people",
    "whoever holds the key ring, the raw topic, or this machine's memory: they can take the noise away",
    "that an event counts which comes late, lies too far ahead, or holds what is no value: it is a dead letter",
    (
        "anything about a user whose events stand in several partitions of the raw topic: each partition would count "
        "him, and what is told of him would add up; whoever writes there must send all events of a user to one"
    ),
    HURRIED,
)


def aggregate_words(facts: Mapping[str, Any]) -> tuple[Said, ...]:
    return (
        Said(AGGREGATES, tuple(_released(facts))),
        Said(COUNTED, tuple(counted_lines(facts))),
        Said(ONE_WINDOW, tuple(_one_window(facts))),
        Said(MANY_WINDOWS, tuple(_many_windows(facts))),
        Said(NOT_PROMISED, tuple(_not_promised(facts))),
    )


def write_aggregates(facts: Mapping[str, Any]) -> str:
    blocks = [f"Pipeline {facts['pipeline']}, policy {facts['policy']}"]
    blocks += [section(said.title, said.lines) for said in aggregate_words(facts)]
    return "\n\n".join([*blocks, *([warned(facts["warnings"])] if facts["warnings"] else [])])


def _released(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"one record for {each_window(facts)}, to {facts['released_topic']}; nothing about an event"
    for each in facts["aggregates"]:
        yield f"{each['name']}: {_what(each)}; {_noise(each)}"


def each_window(facts: Mapping[str, Any]) -> str:
    """How long windows are, since when, and how often there is one."""
    day = facts["windows_a_day"]
    often = f"{day:,.4g} a day" if day >= 1 else f"one in {1 / day:,.4g} days"
    length, start = write_duration(facts["window_ms"]), write_moment(facts["from_ms"])
    return f"each window of {length} from {start} on, {often}, in order, also where nothing happened"


def _what(each: Mapping[str, Any]) -> str:
    kind, path = each["kind"], each["path"]
    if kind == "count":
        return "how many users had an event"
    if kind in ("histogram", "top"):
        shown = "" if each["shown"] is None else f", of which the {each['shown']:,} most frequent are shown"
        return f"how many users have each of {each['cells']:,} values as the {TAKEN[each['take']]} of {path}{shown}"
    clipped = f"clipped to {each['low']:g} to {each['high']:g} in steps of {each['grid']:g}"
    several = "" if each["at_most"] is None else f", of {each['at_most']} events at most"
    return f"the {kind} over all users of each one's {TAKEN[each['take']]} of {path}{several}, {clipped}"


def _noise(each: Mapping[str, Any]) -> str:
    """Of a mean what is known of it over some thousand users says more than the noise of its parts."""
    loss = f"{in_nats(each['epsilon'])} of one user's contribution"
    if each["kind"] == "mean":
        known = [f"{within:.3g} over {int(users):,}" for users, within in each["mean_within"].items() if within]
        told = ", ".join(known) or "nothing, over 10,000"
        return f"{loss}; with 95 % the mean is right to {told} users, clipped values taken for the truth"
    (noise,) = each["noise"]
    moves = f"which moves it by {each['moves'][0]:g} at most"
    scale, right = f"noise of scale {noise['scale']:.6g}", f"with 95 % right to {noise['interval']:.6g}"
    if each["cells"]:
        return f"{loss}, which takes one from a cell and adds one to another; each cell has {scale}, so it is {right}"
    return f"{loss}, {moves}; {scale}, so {right}"


def counted_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Which events belong to a window, and when it is closed."""
    lateness, by_clock = facts["lateness_ms"], facts["lateness_ms"] + facts["grace_ms"]
    yield (
        f"a partition closes a window once its latest event is {write_duration(lateness)} past its end, by the event's "
        f"time or its record's timestamp, whichever is earlier; or, where none comes, {write_duration(by_clock)} after "
        "its end by the clock; the window is released when every partition has closed it"
    )
    yield (
        f"events of closed windows, events more than {write_duration(facts['ahead_ms'])} ahead of their records' "
        f"timestamps and events before {write_moment(facts['from_ms'])} are dead letters: late, time_ahead, "
        "before_start"
    )
    yield (
        "an event that is read or sent twice changes nothing; one of the same user and time with another value counts "
        "for the largest and the smallest alone"
    )


def _one_window(facts: Mapping[str, Any]) -> Iterator[str]:
    loss, leak = facts["window_loss"], facts["window_leak"]
    yield (
        f"all that is released of a window changes by at most {math.exp(loss):.4g} times in its chances "
        f"({in_nats(loss)}) when one user's contribution changes in any way, also to none at all"
    )
    yield from _users(facts)
    who = (
        "whoever knows any other users' contributions"
        if facts["adversary"] == "any"
        else "who knows nobody's contribution"
    )
    yield f"so it tells at most {in_nats(leak)} about any one user, against {who} ({_METHODS[facts['method']]})"


def _users(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["users"] == "independent":
        yield (
            "users are taken for independent: nobody's contribution follows from others'. Where households or "
            "colleagues move together, it tells as many times as much as there are such people"
        )
    elif facts["users"] == "group":
        yield (
            f"users may depend on one another in groups of at most {facts['group']:,}, in any way: that costs "
            f"{facts['group']:,} times the noise of independent users for the same promise"
        )
    else:
        yield f"users depend on one another by the law in {facts['users_law']}, and in no other way"
    if facts["group_baseline"] is not None:
        base = facts["group_baseline"]
        yield (
            f"without the law, as groups of {base['size']:,}, the same noise would tell up to {in_nats(base['leak'])}, "
            f"and the same promise would take {base['noise']:.3g} times the noise"
        )


def _many_windows(facts: Mapping[str, Any]) -> Iterator[str]:
    horizon = f"any {facts['horizon']:,} windows in a row ({write_duration(facts['horizon_ms'])})"
    what = {
        "everything": "about everything that one user contributes to them",
        "one_window": "about what one user contributes to any one of them",
    }[facts["protects"]]
    target, told = facts["target"], facts["horizon_told"]
    bound = "" if math.isinf(target) else f", and never more than {in_nats(target)}"
    yield f"{horizon}, all of them released, would tell {in_nats(told)} {what}{bound}"
    yield {
        "any": "a user's windows may depend on one another in any way, so what they tell is added up",
        "fresh": "a user's contributions to different windows are taken for independent",
        "law": f"a user's windows depend on one another by the chain in {facts['windows_law']}, and in no other way",
    }[facts["windows"]]
    if facts["windows_baseline"] is not None:
        yield f"without the chain it would be what they tell added up, {in_nats(facts['windows_baseline']['told'])}"
    yield from _withheld(facts)


def _withheld(facts: Mapping[str, Any]) -> Iterator[str]:
    if math.isinf(facts["target"]):
        yield "there is no target, so no window is withheld for it, and what is told grows without end"
    elif facts["fit"] == facts["horizon"]:
        yield "the target pays for every window: none is withheld for it"
    else:
        more = facts["more_noise"]
        then = "" if more is None else f" the next one has {more:.3g} times the noise;"
        yield (
            f"the target pays for {_windows(facts['fit'])} in a row;{then} then windows are withheld (budget) until "
            f"earlier ones are {facts['horizon']:,} windows ago"
        )
    yield (
        "a window of which a partition's part is missing is withheld, too (partial_missing); a withheld window has its "
        "record, and tells nothing: what is withheld, and when, depends on nobody's data"
    )


def _windows(count: int) -> str:
    return "one window" if count == 1 else f"{count:,} windows"


def _not_promised(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts["users"] != "group":
        yield "anything more about users who depend on one another otherwise than is declared"
    if facts["windows"] != "any":
        yield "anything more where windows depend on one another otherwise than is declared"
    yield (
        f"a bound over more than {_windows(facts['horizon'])}: what is told about a user goes on, "
        f"{write_duration(facts['horizon_ms'])} after {write_duration(facts['horizon_ms'])}"
    )
    yield from _NEVER
