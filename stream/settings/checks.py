"""What two fields of the settings may hold together.

Each check looks only at fields that are right on their own: `have` gives them, or nothing when one of them is wrong
already and has been reported. So a check never fails, and never hides another problem.
"""

import math
from collections.abc import Callable
from typing import Any, Final

from stream.names import OWN_HEADERS
from stream.settings.beside_aggregate import aggregate_fits
from stream.settings.beside_crowd import crowd_fits
from stream.settings.beside_fields import fields_fit, something_is_protected
from stream.settings.beside_kafka import kafka_fits
from stream.settings.collect import Collector, have
from stream.settings.segments import models_fit
from stream.settings.upper import upper_fits
from stream.settings.yaml_lines import Place


def check_together(collector: Collector) -> None:
    """Run every check; what they find is added to the collector's problems."""
    for check in _CHECKS:
        check(collector)


def _one_source(*section: str) -> Callable[[Collector], None]:
    """A secret comes from a file or from an environment variable, and from one of them only."""

    def check(collector: Collector) -> None:
        prefix = ".".join(section)
        fields = have(collector, f"{prefix}.file", f"{prefix}.environment")
        if fields is None or (fields[0] is None) != (fields[1] is None):
            return
        found = "neither file nor environment" if fields[0] is None else "both file and environment"
        collector.add(section, found, "exactly one of file and environment", "keep the one that holds it")

    return check


def _paths_apart(collector: Collector) -> None:
    fields = have(collector, "record.protect.path", "record.public")
    if fields is None:
        return
    protected, public = fields
    for index, path in enumerate(public):
        place: Place = ("record", "public", index)
        if protected is not None and path.overlaps(protected):
            fix = f"remove {path}: the protected field must not leave the pipeline as it is"
            found = f'"{path}", which {_relation(path, protected)} the protected {protected}'
            collector.add(place, found, "paths apart from the protected one", fix)
        elif protected is not None and path.shape_conflict(protected):
            collector.add(place, f'"{path}" beside "{protected}"', *_ONE_SHAPE)
        for earlier in public[:index]:
            if path.overlaps(earlier):
                found = f'"{path}", which {_relation(path, earlier)} the public {earlier}'
                collector.add(place, found, "each public part once", f"keep {path} or {earlier}, the one that is meant")
            elif path.shape_conflict(earlier):
                collector.add(place, f'"{path}" beside "{earlier}"', *_ONE_SHAPE)


_ONE_SHAPE: Final = (
    "paths that agree where objects and where arrays are",
    "use names or positions, not both, at one place",
)


def _relation(path: Any, other: Any) -> str:
    return "is" if path == other else "holds" if path.covers(other) else "lies inside"


def _identity_hidden(collector: Collector) -> None:
    """A pseudonym is worth nothing beside the user's id; nor is a path that holds it."""
    fields = have(collector, "record.release_key", "record.user.path", "record.public")
    if fields is None or fields[0] != "pseudonym" or fields[1] is None:
        return
    for index, path in enumerate(fields[2]):
        if path.overlaps(fields[1]):
            found = f'"{path}", which {_relation(path, fields[1])} the user id at {fields[1]}'
            fix = f"remove {path}, or write release_key: keep"
            collector.add(("record", "public", index), found, "no public user id beside a pseudonym", fix)


def _user_is_protected_apart(collector: Collector) -> None:
    protected = collector.values.get("record.protect.path")
    for name in ("user", "event_time"):
        path = collector.values.get(f"record.{name}.path")
        if protected is not None and path is not None and path.overlaps(protected):
            found = f'"{path}", which {_relation(path, protected)} the protected {protected}'
            fix = "name another field: a released record shows this one by its key or its timestamp"
            collector.add(("record", name, "path"), found, "a field apart from the protected one", fix)


def _user_source(collector: Collector) -> None:
    names = ("record.user.path", "record.user.and_key", "record.user.partitioned_by_user")
    fields = have(collector, *names)
    if fields is None:
        return
    path, and_key, partitioned = fields
    place: Place = ("record", "user")
    if path is None and (and_key or partitioned):
        collector.add(place, "no path", "a path beside and_key or partitioned_by_user", "add path, or write user: key")
    if path is not None and and_key and partitioned:
        collector.add(place, "and_key and partitioned_by_user", "one of them", "keep and_key: true, which is checked")
    if path is not None and not and_key and not partitioned:
        fix = (
            "add and_key: true if the key holds the same id, or partitioned_by_user: true if the producers keep all "
            "records of a user in one partition; otherwise a user would have one budget in each partition"
        )
        collector.add(place, f'"{path}" alone', "a user whose records are all in one partition", fix)


def _time_source(collector: Collector) -> None:
    fields = have(collector, "record.event_time.path", "record.event_time.unit")
    if fields is None or (fields[0] is None) == (fields[1] is None):
        return
    missing, fix = (
        ("unit", "add unit: ms, s or iso8601") if fields[0] else ("path", "add path, or write event_time: record")
    )
    collector.add(("record", "event_time"), f"no {missing}", "path and unit together", fix)


def _headers_free(collector: Collector) -> None:
    seen: set[str] = set()
    for index, name in enumerate(collector.values.get("record.headers", ())):
        place: Place = ("record", "headers", index)
        if name in OWN_HEADERS:
            fix = "remove it; rename the header at its producer if it must pass"
            collector.add(place, f'"{name}", which every released record has of its own', "other names", fix)
        elif name in seen:
            collector.add(place, f'"{name}" again', "each header once", "remove one of the two")
        seen.add(name)


def _window_fits(collector: Collector) -> None:
    """Windows are made of channels that keep a ceiling from a floor of 0, which no other mechanism's do."""
    if collector.values.get("window.events") is None:
        return
    name, order = collector.values.get("mechanism.name"), collector.values.get("window.order")
    if name == "near" and order == "dual":
        fix = "write order: bisect; a channel for the whole sequence counts wrong values, whatever their distance"
        collector.add(("mechanism", "name"), "near in dual windows", "optimal in dual windows", fix)
    elif name not in (None, "optimal", "near"):
        fix = "write name: optimal, or remove window; the window of published_crr keeps no bound at all"
        collector.add(("mechanism", "name"), f"{name} in windows", "optimal or near in windows", fix)
    natural = order == "natural"
    if natural and collector.values.get("window.deadline") is not None:
        fix = "remove it: with natural no value ever waits"
        collector.add(("window", "deadline"), "a deadline with order: natural", "no deadline", fix)


def _budget_fits(collector: Collector) -> None:
    """Both are rounded down to whole units, so n epsilons always fit a budget of n times epsilon."""
    fields = have(collector, "budget.nats", "mechanism.epsilon")
    if fields is None or math.isinf(fields[0]):
        return
    nats, epsilon = fields
    if nats < epsilon:
        fix = f"raise budget.nats to at least {epsilon}, better to a multiple of it, or lower mechanism.epsilon"
        found = f"{nats}, below mechanism.epsilon {epsilon}: nothing could ever be released"
        collector.add(("budget", "nats"), found, "at least one epsilon", fix)


def _clock_sees_every_event(collector: Collector) -> None:
    """By the clock the belief depends on the times of all events, and a suppressed one shows nobody its time."""
    fields = have(collector, "model.step", "budget.when_spent")
    if fields is None or fields[0] is None or fields[1] not in ("suppress", "stop"):
        return
    fix = "write when_spent: forecast or forecast_draw, or take model.step away"
    found = f"{fields[1]} beside a model that goes by the clock: nobody could follow a belief past a hidden time"
    collector.add(("budget", "when_spent"), found, "forecast or forecast_draw beside model.step", fix)


def _one_distance(collector: Collector) -> None:
    prefix = "record.protect.distance"
    fields = have(collector, f"{prefix}.kind", f"{prefix}.table", f"{prefix}.cost_table")
    if fields is None:
        return
    kind, table, costs = fields
    given = [name for name, value in (("table", table), ("cost_table", costs)) if value is not None]
    if kind != "hamming":
        given.insert(0, f"kind: {kind}")
    if len(given) > 1:
        fix = "keep the one that is meant"
        collector.add(("record", "protect", "distance"), " and ".join(given), "one distance", fix)


def _distance_is_used(collector: Collector) -> None:
    fields = have(collector, "mechanism.name", "record.protect.distance")
    if fields is None:
        return
    name, distance = fields
    if name != "near" and not distance.is_hamming:
        fix = "write mechanism.name: near, or remove the distance"
        found = f"a distance beside the mechanism {name}, which looks at none"
        collector.add(("record", "protect", "distance"), found, "a distance for the mechanism near", fix)


def _disk_has_folder(collector: Collector) -> None:
    fields = have(collector, "store.kind", "store.folder")
    if fields is None:
        return
    kind, folder = fields
    if kind == "disk" and folder is None:
        collector.add(("store",), "kind: disk without folder", "a folder for the disk store", "add folder: beliefs")
    if kind == "memory" and folder is not None:
        collector.add(
            ("store", "folder"), "a folder for a store in memory", "no folder", "remove it, or write kind: disk"
        )


_CHECKS: Final[tuple[Callable[[Collector], None], ...]] = (
    something_is_protected,
    kafka_fits,
    _one_source("keys"),
    _one_source("kafka", "sasl", "password"),
    _paths_apart,
    _identity_hidden,
    _user_is_protected_apart,
    _user_source,
    _time_source,
    _headers_free,
    _window_fits,
    _budget_fits,
    _clock_sees_every_event,
    _one_distance,
    _distance_is_used,
    _disk_has_folder,
    models_fit,
    upper_fits,
    fields_fit,
    aggregate_fits,
    crowd_fits,
)
