"""What the fields that are protected each by itself may hold together, and what does not go with them."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from stream.settings.collect import Collector
from stream.settings.fields import MOST_FIELDS, REPORT_ONE, REPORT_ZERO, FieldSettings, FieldsSettings
from stream.settings.kinds import Sliding, write_duration
from stream.settings.model import Settings
from stream.settings.own_names import Wrong, wrong_names
from stream.settings.yaml_lines import Place

_OF_PROTECT: Final = ("model", "mechanism", "budget")
_RAPPOR: Final = ("report_zero", "report_one")


def something_is_protected(collector: Collector) -> None:
    """A field whose values follow one another, with its model, mechanism and budget; or other fields alone; or, with
    aggregates of windows or crowds, everything that a user contributes.
    """
    if collector.gives("aggregate") or collector.gives("crowd"):
        return
    follows, apart = collector.gives("record", "protect"), collector.gives("fields")
    if collector.gives("record") and not follows and not apart:
        fix = "add protect: the field that is protected: {path: $.field}; or protect several ones under fields"
        collector.add(("record", "protect"), "nothing", "protect, which is required", fix)
    if follows and collector.values.get("record.protect.path", "") is None:
        fix = "add path: $.field, the field whose values follow one another"
        collector.add(("record", "protect", "path"), "nothing", "path, which is required", fix)
    for name in _OF_PROTECT:
        if (follows or not apart) and not collector.gives(name):
            description = Settings.model_fields[name].description
            collector.add((name,), "nothing", f"{name}, which is required", f"add {name}: {description}")
    if follows or not apart:
        return
    for name in (*_OF_PROTECT, "window"):
        if collector.gives(name):
            fix = f"remove {name}, or name the field that it is about at record.protect.path"
            collector.add((name,), f"{name} without record.protect", f"{name} beside record.protect", fix)


def fields_fit(collector: Collector) -> None:
    fields: FieldsSettings | None = collector.values.get("fields")
    if fields is None:
        return
    for wrong in (
        *wrong_names(("fields", "each"), fields.each, MOST_FIELDS, "fields"),
        *_paths(collector, fields),
        *_together(collector, fields),
    ):
        collector.add(*wrong)
    for name, field in fields.each.items():
        for place, found, allowed, fix in (*_mechanism(field), *_beyond(field), *_lasting(fields, field)):
            collector.add(("fields", "each", name, *place), found, allowed, fix)


def _paths(collector: Collector, fields: FieldsSettings) -> Iterator[Wrong]:
    """No two fields share a place, and none is seen otherwise: by its public part, the user's id or the time."""
    seen = [(f"fields.each.{name}", field.path) for name, field in fields.each.items()]
    for name, what in (
        ("protect", "the protected field"),
        ("user", "the user's id"),
        ("event_time", "the event's time"),
    ):
        path = collector.values.get(f"record.{name}.path")
        if path is not None:
            seen.insert(0, (what, path))
    public = [("a public field", path) for path in collector.values.get("record.public") or ()]
    for (what, path), (name, own) in combinations([*public, *seen], 2):
        if not name.startswith("fields."):
            continue
        place: Place = (*name.split(".", 2), "path")
        if own.overlaps(path):
            yield (
                place,
                f'"{own}", which is {what} or overlaps with it',
                "a field apart from all others",
                "name another field",
            )
        elif own.shape_conflict(path):
            allowed = "paths that agree where objects and where arrays are"
            yield place, f'"{own}" beside "{path}"', allowed, "use names or positions, not both, at one place"


def _together(collector: Collector, fields: FieldsSettings) -> Iterator[Wrong]:
    if isinstance(fields.window, Sliding):
        fix = "write a duration, such as 1d, or forever"
        yield ("fields", "window"), "any events in a row", "a duration or forever", fix
    if fields.joint is not None and fields.length:
        yield _needs_forever(("fields", "joint"), "a joint table")
    if fields.joint is not None and not any(field.lasting and field.at_most is None for field in fields.each.values()):
        fix = "write lasting: true at the fields of a user that never change, or remove joint"
        yield ("fields", "joint"), "a joint table and no field that lasts", "a joint table of lasting fields", fix
    if collector.values.get("model.learn") is not None:
        fix = "learn a model first and name its file; or protect the other fields in another pipeline"
        yield ("fields",), "other fields beside model.learn", "other fields beside a model file", fix
    if collector.values.get("window.events") is not None:
        fix = "remove window; or protect the other fields in another pipeline"
        yield ("fields",), "other fields beside values in windows", "other fields beside single releases", fix
    if collector.gives("record", "protect"):
        yield from _beside_protected(collector, fields)
    elif not math.isinf(fields.protected_cap):
        fix = "remove protected_cap, or name that field at record.protect.path"
        yield ("fields", "protected_cap"), "a cap without record.protect", "a cap beside record.protect", fix


def _beside_protected(collector: Collector, fields: FieldsSettings) -> Iterator[Wrong]:
    """What the protected field may ever tell in a window is set aside from every cap."""
    values = collector.values
    if any(f"budget.{name}" not in values for name in ("nats", "window", "when_spent")):
        return
    nats, window = values["budget.nats"], values["budget.window"]
    caps = {name: field.cap for name, field in fields.each.items() if not math.isinf(field.cap)}
    capped = bool(caps) or not math.isinf(fields.protected_cap)
    if capped and window != fields.window:
        written = "forever" if not fields.length else write_duration(fields.length)
        found = f"{written}, another window than budget.window"
        yield ("fields", "window"), found, "the window of the budget", "write the same window in both places"
    if capped and math.isinf(nats):
        fix = "choose budget.nats; twice that is set aside from the cap of every other field"
        yield ("budget", "nats"), "unlimited, beside caps of other fields", "a budget in nats", fix
    elif capped:
        for name, cap in caps.items():
            if cap <= 2 * nats:
                fix = f"raise it above {2 * nats:g}, or lower budget.nats"
                found = f"{cap:g}, of which twice budget.nats, {2 * nats:g}, is set aside for the protected field"
                yield ("fields", "each", name, "cap"), found, "more than twice the budget", fix
        if fields.protected_cap <= nats:
            found = f"{fields.protected_cap:g}, with budget.nats at {nats:g}"
            fix = "raise it above the budget: the other fields tell something, too"
            yield ("fields", "protected_cap"), found, "more than budget.nats", fix
    if values["budget.when_spent"] in ("suppress", "stop"):
        fix = "write when_spent: forecast or forecast_draw"
        yield ("budget", "when_spent"), f"{values['budget.when_spent']} beside fields", "an outcome that is seen", fix


def _mechanism(field: FieldSettings) -> Iterator[Wrong]:
    mechanism, place = field.mechanism, ("mechanism",)
    given = [name for name in _RAPPOR if getattr(mechanism, name) is not None]
    if given and mechanism.name != "rappor":
        names = ", ".join(given)
        yield place, f"{names} beside {mechanism.name}", "them beside rappor", f"remove {names}"
    if mechanism.name == "rappor":
        yield from _rappor(field)
    if (mechanism.name == "top_k") != (mechanism.top is not None):
        fix = "write {name: top_k, top: [clerk, nurse]}"
        yield place, f"{mechanism.name} {'without' if mechanism.top is None else 'with'} top", "top beside top_k", fix
    elif mechanism.top is not None:
        places = [field.values.index_of(member) for member in mechanism.top]
        if None in places or not len(set(places)) == len(places) < field.values.size:
            allowed = "some values of the field, each once, and not all of them"
            yield (
                (*place, "top"),
                "other values, one twice, or all",
                allowed,
                "name values of the field; all: write grr",
            )
    if field.cap < field.epsilon:
        found, fix = f"{field.cap:g}, below epsilon {field.epsilon:g}", "raise cap to a multiple of epsilon"
        yield ("cap",), f"{found}: nothing could be reported", "at least epsilon", fix


def _rappor(field: FieldSettings) -> Iterator[Wrong]:
    """What is kept for a value tells when it changes, so that no level holds for values that do."""
    if not field.lasting:
        fix = "write lasting: true if a user's value never changes; otherwise sue or oue"
        yield ("mechanism",), "rappor for a value that may change", "rappor for a value that lasts", fix
    zero, one = field.mechanism.report_zero, field.mechanism.report_one
    if (REPORT_ZERO if zero is None else zero) == (REPORT_ONE if one is None else one):
        fix = "choose report_zero and report_one apart, or leave both out"
        yield ("mechanism",), "kept bits that are told alike", "report_zero other than report_one", fix
    if field.at_most is not None or field.beyond != "withhold":
        fix = "write beyond: withhold and no at_most, or choose sue or oue"
        yield ("mechanism",), "rappor beside at_most, lower or coarsen", "rappor for one value, or withheld", fix


def _beyond(field: FieldSettings) -> Iterator[Wrong]:
    if (field.beyond == "coarsen") != (field.coarser is not None):
        fix = "write beyond: coarsen and coarser: {office: [clerk], field: [nurse, pilot]}, or neither"
        yield (
            ("beyond",),
            f"{field.beyond} {'with' if field.coarser else 'without'} coarser",
            "coarsen with coarser",
            fix,
        )
    if field.coarser is None:
        return
    if field.mechanism.name == "top_k":
        fix = "write mechanism: grr, or remove coarser"
        yield ("coarser",), "groups beside top_k", "groups beside another mechanism", fix
    if field.at_most is not None:
        yield (
            ("coarser",),
            "groups of a field that holds lists",
            "groups of single values",
            "remove coarser, or at_most",
        )
    places = [field.values.index_of(member) for members in field.coarser.values() for member in members]
    if None in places or sorted(place for place in places if place is not None) != list(range(field.values.size)):
        fix = "name every value of the field once, and no other"
        yield ("coarser",), "groups that do not hold each value once", "every value in exactly one group", fix


def _lasting(fields: FieldsSettings, field: FieldSettings) -> Iterator[Wrong]:
    if field.lasting and fields.length:
        place, found, allowed, fix = _needs_forever(("lasting",), "a value that lasts")
        yield place, found, allowed, fix


def _needs_forever(place: Place, what: str) -> Wrong:
    fix = "write fields.window: forever; what earlier windows told about a value that lasts is not forgotten"
    return place, f"{what} beside windows", f"{what} beside window: forever", fix
