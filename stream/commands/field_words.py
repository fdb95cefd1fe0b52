"""What is promised of the fields that are protected each by itself, in figures and in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from beliefs.correlation.account import BOUNDED, EXACT
from beliefs.correlation.joint_file import EXACT as AS_IT_STANDS
from beliefs.correlation.joint_file import STATED
from beliefs.rounding import nats
from stream.commands.amounts import in_nats
from stream.fields.expected import Stretch, stretches
from stream.fields.forms import Form
from stream.fields.gate import CHOICE_NAMES, FULL
from stream.fields.joint import Joint
from stream.fields.promise import FieldsPromise
from stream.metrics.fields import PROTECTED
from stream.settings.kinds import write_duration

FIELDS_TITLE: Final = "What is promised for each field"
EVENTS_TITLE: Final = "What becomes of the fields, event by event of a user"

_THROUGH: Final = {
    EXACT: "what the other fields give away of it is computed exactly from the joint table, ",
    BOUNDED: "what the other fields give away of it is bounded by the joint table, ",
}
_AT: Final = "at the summed levels of their reports"
_SUMMED: Final = "every other field counts as if it told everything about this one: the levels of all reports are added"
_MADE: Final = {
    "full": "reported",
    "half": "reported at half of epsilon",
    "quarter": "reported at a quarter of epsilon",
    "eighth": "reported at an eighth of epsilon",
    "coarse": "reported by its group alone",
    "withheld": "withheld",
}


def field_facts(promise: FieldsPromise) -> dict[str, Any]:
    """Amounts in nats; what becomes of events is said of each user's events in a window, counted from 1."""
    rules = promise.totals.rules
    names = [form.name for form in promise.forms]
    return {
        "window_ms": promise.window or None,
        "protected_cap": None if promise.protected_cap is None else nats(promise.protected_cap),
        "joint": None if promise.joint is None else _joint_facts(promise.joint),
        "each": [_facts_of(form, rule) for form, rule in zip(promise.forms, rules, strict=True)],
        "events": [_stretch(names, each) for each in stretches(promise)],
    }


def _facts_of(form: Form, rule: str) -> dict[str, Any]:
    level = nats(form.reporters[FULL].level)
    return {
        "name": form.name,
        "path": str(form.path),
        "values": form.alphabet.size,
        "mechanism": form.mechanism,
        "level": level,
        "factor": math.exp(level),
        "cap": None if form.cap is None else nats(form.cap),
        "lasting": form.lasting,
        "at_most": form.at_most,
        "beyond": form.beyond,
        "rule": rule,
        "all_reports": None if form.longitudinal is None else nats(form.longitudinal),
    }


def _joint_facts(joint: Joint) -> dict[str, Any]:
    radii = {} if joint.radii is None else {name: each.tolist() for name, each in joint.radii.items()}
    return {"fields": list(joint.table.names), "known": joint.known, "failure": joint.failure, "radii": radii}


def _stretch(names: Sequence[str], each: Stretch) -> dict[str, Any]:
    told = [*names, PROTECTED][: len(each.totals)]
    return {
        "first": each.first,
        "last": each.last,
        "choices": {name: CHOICE_NAMES[choice] for name, choice in zip(names, each.choices, strict=True)},
        "totals": {name: nats(units) for name, units in zip(told, each.totals, strict=True)},
    }


def field_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    window = "for ever" if facts["window_ms"] is None else f"in each window of {write_duration(facts['window_ms'])}"
    for each in facts["each"]:
        name = f"{each['name']} ({each['path']}, {each['values']} values)"
        yield (
            f"{name} by {each['mechanism']}: one report tells at most {in_nats(each['level'])} about it, whatever "
            f"anybody knows: under any two values it has chances that differ by no more than {each['factor']:.3g} times"
        )
        if each["at_most"] is not None:
            yield f"{each['name']} is a list of at most {each['at_most']} values: a report is about one of them"
        if each["all_reports"] is not None:
            yield f"all reports of {each['name']} together tell at most {in_nats(each['all_reports'])}: it lasts"
        if each["cap"] is None:
            yield f"{each['name']} has no cap: what is told about it grows with every report, its own and others'"
        else:
            yield (
                f"about {each['name']} of a user at most {in_nats(each['cap'])} are told in total {window}, by its own "
                "reports and through all other fields; before that would be passed it is "
                + {
                    "withhold": "withheld",
                    "lower": "reported at a part of epsilon",
                    "coarsen": "reported by its group",
                }[each["beyond"]]
            )
        yield f"of {each['name']}: {_through(each['rule'], facts['joint'])}"
    if facts["joint"] is not None:
        yield _known(facts["joint"])
    if facts["protected_cap"] is not None:
        yield (
            f"about the protected field at most {in_nats(facts['protected_cap'])} are told in total {window}: its own "
            "budget, and the levels of all reports of the other fields"
        )


def _through(rule: str, joint: Mapping[str, Any] | None) -> str:
    if rule not in _THROUGH or joint is None:
        return _SUMMED
    worst = "" if joint["known"] == AS_IT_STANDS else "for the worst of all tables within its radii, "
    return f"{_THROUGH[rule]}{worst}{_AT}"


def _known(joint: Mapping[str, Any]) -> str:
    """What is taken for true of the joint table."""
    if joint["known"] == AS_IT_STANDS:
        return "the joint table states no radii: it is taken as the truth itself, and totals hold if it is"
    largest = max(radius for radii in joint["radii"].values() for radius in radii)
    radii = f"given any value of a field, the law of the others is off by no more than a radius, {largest:.2g} at most"
    if joint["known"] == STATED:
        return f"totals hold if the joint table is right within the radii that it states: {radii}"
    return (
        f"totals hold for every joint table that the counts leave possible: {radii}; that fails with a chance of "
        f"{joint['failure']:g} at most, if each person was counted once and nobody depends on others"
    )


def event_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    for each in facts["events"]:
        last = "" if each["last"] == each["first"] else " on" if each["last"] is None else f" to {each['last']:,}"
        made: dict[str, list[str]] = {}
        for name, choice in each["choices"].items():
            made.setdefault(_MADE[choice], []).append(name)
        words = "; ".join(f"{', '.join(named)} {how}" for how, named in made.items())
        totals = ", ".join(f"{name} {amount:.4g}" for name, amount in each["totals"].items())
        yield f"event {each['first']:,}{last}: {words}; told in total by then, in nats: {totals}"
