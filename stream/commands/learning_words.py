"""`sottovoce explain` of a pipeline that learns its model: what is promised before and after, and when that may be."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from beliefs.learning.online import FIRST_CHECKPOINT, Setup, learn, response_of
from beliefs.rounding import UNITS_PER_NAT
from stream.commands.promising import MANY_EVENTS, NOT_PROMISED, SPENT, not_promised_lines
from stream.learning.carried import ALARM
from stream.learning.choice import NEARLY_ALL, choose
from stream.learning.epochs import LOOK_EVERY
from stream.metrics.about import Said
from stream.opening import Opened
from stream.promise import Learning
from stream.settings.kinds import write_duration
from stream.settings.learning import LearnSettings

STAYS: Final = (0.6, 0.7, 0.8, 0.9)
"""Users who keep their value with these probabilities are what the switch is worked out for."""
_BLIND: Final = "While it learns"
_INFORMED: Final = "Once enough is known"
_CHANGED: Final = "If users change"
_ASSUMED: Final = (
    "that users follow one chain and do not depend on each other: that is assumed of what is learnt, and never of what "
    "is promised while nothing is"
)
_PATIENCE: Final = f", and {NEARLY_ALL:.0%} of what the learnt model would keep if it were certain"
_WIDTH: Final = 118
_MOST_LOOKS: Final = 15  # 16 million events of one partition


def learning_facts(opened: Opened, learning: Learning) -> dict[str, Any]:
    """What is promised, and when it may switch: that takes seconds to work out."""
    facts = learning_promised(opened, learning)
    facts["learning"]["switch"] = [switch_of(learning.setup, stay) for stay in STAYS]
    return facts


def learning_promised(opened: Opened, learning: Learning) -> dict[str, Any]:
    setup, learn_settings = learning.setup, opened.settings.model.learn
    return {
        "model": opened.promise.beliefs_name,
        "learning": {
            "doubt": setup.doubt,
            "most_withheld": setup.withheld,
            "kept_blind": response_of(setup).keep,
            "first_look": FIRST_CHECKPOINT,
            "look_every": LOOK_EVERY,
            "alarm": ALARM,
            "patience": _PATIENCE if setup.withheld < 0.5 else "",
        },
        "worst_under_any_model": 2 * setup.epsilon_units / UNITS_PER_NAT,
        "worst_per_event": setup.epsilon_units / UNITS_PER_NAT,
        "declared": [] if learn_settings is None else declared(learn_settings),
    }


def declared(learn_settings: LearnSettings) -> list[Any]:
    values = learn_settings.values
    return [values.value_at(index) for index in range(min(values.size, 8))]


def switch_of(setup: Setup, stay: float) -> dict[str, Any]:
    """After how many events of a partition it would switch, if all were released and followed upon each other as they
    do on average; and what it would keep then. None: not within 16 million.
    """
    n, response = setup.symbols, response_of(setup)
    chain = np.full((n, n), (1.0 - stay) / (n - 1))
    np.fill_diagonal(chain, stay)
    channel = np.full((n, n), response.other)
    np.fill_diagonal(channel, response.keep)
    joint = np.einsum("ya,ab,bz->yz", channel, chain / n, channel, optimize=False)
    for look in range(1, _MOST_LOOKS + 1):
        events = FIRST_CHECKPOINT << (look - 1)
        learnt = learn(setup, np.rint(events * joint).astype(np.int64), look)
        if learnt.withheld_units <= setup.withheld * setup.epsilon_units + 1:
            choice = choose(setup, learnt)
            if choice.switch:
                withheld = learnt.withheld_units / setup.epsilon_units
                return {"stay": stay, "events": events, "kept": choice.agreement_informed, "withheld": withheld}
    return {"stay": stay, "events": None, "kept": None, "withheld": None}


def learning_words(facts: Mapping[str, Any]) -> tuple[Said, ...]:
    """What is promised, for the status page: the same sentences that `explain` prints."""
    return (
        Said(_BLIND, (_blind(facts),)),
        Said(_INFORMED, (_informed(facts),)),
        Said(MANY_EVENTS, (_budget(facts),)),
        Said(_CHANGED, (_drift(facts["learning"]),)),
        Said(NOT_PROMISED, (*not_promised_lines(facts), _ASSUMED)),
    )


def write_learning(facts: Mapping[str, Any]) -> str:
    return "\n".join(_lines(facts))


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    for warning in facts["warnings"]:
        yield f"WARNING: {warning}"
    shown = ", ".join(map(str, facts["declared"])) + (", ..." if facts["values"] > len(facts["declared"]) else "")
    yield f"Pipeline {facts['pipeline']}, policy {facts['policy']}: no model yet; each partition learns its own."
    yield f"Protected: {facts['record']['protected']}, one of {facts['values']} values ({shown})."
    blind, informed, many, changed, not_promised = learning_words(facts)
    yield from (*_section(blind), *_section(informed))
    yield from _section(Said("When that may be", (_when(facts["learning"]),)))
    yield from _table(facts["learning"]["switch"])
    for said in (changed, many, not_promised):
        yield from _section(said)


def _section(said: Said) -> Iterator[str]:
    yield from ("", said.title)
    for line in said.lines:
        yield from textwrap.wrap(line, _WIDTH, initial_indent="  - ", subsequent_indent="    ")


def _blind(facts: Mapping[str, Any]) -> str:
    return (
        f"each value is kept with probability {facts['learning']['kept_blind']:.3f}, and otherwise replaced by one of "
        f"the others, all alike. One release makes no value more than e^{facts['epsilon']:g} = {facts['factor']:.3g} "
        "times as likely, or as unlikely, for anybody, whatever he believes or knows (local privacy), and all of that "
        "is charged. The model is learnt from such releases alone, so it tells about nobody what they have not told"
    )


def _informed(facts: Mapping[str, Any]) -> str:
    now, epsilon = facts["learning"], facts["epsilon"]
    return (
        f"it goes over to {facts['mechanism']}, from an offset on that is recorded. One release then tells a reader of "
        f"everything released, who even knows how users really behave, at most {epsilon:g} nats: for what the learnt "
        f"model may be off by, {now['most_withheld']:.0%} of epsilon is withheld at most. That it is off by more has a "
        f"probability of {now['doubt']:g} at most in the whole life of a partition, if users follow one chain; even "
        f"then, and against any other reader, one release tells at most {2 * epsilon:g} nats. Who returns after a "
        "change of epochs is charged what anybody might learn, until his past is forgotten"
    )


def _when(now: Mapping[str, Any]) -> str:
    first = now["first_look"]
    return (
        f"it is decided before the offsets {first:,}, {2 * first:,}, {4 * first:,} and so on of an epoch, as soon as "
        f"more values are expected to be kept than without a model{now['patience']}. Partitions do not share what they "
        "learn: with twice as many partitions it takes twice as many events. For users who keep their value with this "
        "probability and otherwise change to any other alike, in a partition all of whose events are released:"
    )


def _table(switch: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in switch:
        if each["events"] is None:
            yield f"    {each['stay']:.1f}  not within 16 million events"
        else:
            yield (
                f"    {each['stay']:.1f}  after about {each['events']:,} events; {each['kept']:.3f} of the values are "
                f"then kept, with {each['withheld']:.1%} of epsilon withheld"
            )


def _drift(now: Mapping[str, Any]) -> str:
    return (
        "releases are tested against the learnt model all the time, within its error. At odds of "
        f"{now['alarm']:,.0f} to 1 against it the partition learns anew, from the next of every "
        f"{now['look_every']:,}th offset of the epoch on, and is locally private until it knows enough again. Under a "
        f"model that is right, within its error, that comes in one of {now['alarm']:,.0f} epochs at most"
    )


def _budget(facts: Mapping[str, Any]) -> str:
    if facts["budget"] == math.inf:
        return "there is no budget: what is told about a user grows with every event"
    if facts["window_events"]:
        window = f"in any {facts['window_events']} of his events in a row"
    elif facts["window_ms"] is None:
        window = "for ever"
    else:
        window = f"in each budget window of {write_duration(facts['window_ms'])}"
    return (
        f"all releases about one user {window} tell at most {facts['budget']:g} nats together; that pays for "
        f"{facts['full_releases_per_window']} releases while it learns, for as many or more with a model. When it is "
        f"spent: {SPENT[facts['when_spent']]}"
    )
