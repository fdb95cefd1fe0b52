"""What windows of aggregates may hold together, and what does not go with them."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import orjson

from stream.settings.aggregate import (
    MOST_CELLS,
    MOST_QUERIES,
    AggregateSettings,
    Kind,
    QuerySettings,
)
from stream.settings.alone import stands_alone
from stream.settings.amounts import write_decimal
from stream.settings.collect import Collector
from stream.settings.own_names import Wrong, wrong_names
from stream.settings.steps import wrong_steps
from stream.settings.yaml_lines import Place

_ABOUT: Final[dict[tuple[str, ...], str]] = {
    ("budget",): "say at aggregate.target how much may be told",
    ("window",): "say at aggregate.window how long a window is",
    ("mechanism",): "say at each aggregate its epsilon",
}
_WIDEST_NOISE: Final = 1 << 40
"""With eight times as much, where a window is topped up, still inside the 2^44 of mechanisms/aggregate/geometric.py."""
_MOST_OPEN_NUMBERS: Final = 1 << 22
"""Of all open windows of a partition together: 32 MiB, and twice that where the numbers are large."""
_MOST_SHOWN_BYTES: Final = 1 << 19
"""Kafka takes records of a megabyte, unless it is told otherwise."""
_OF_A_CELL: Final = 96
"""What a released cell takes beside its value: names, a count, an interval."""
_MOST_HELD_BYTES: Final = 1 << 19

_KINDS: Final[tuple[Kind, ...]] = ("count", "sum", "mean", "histogram", "top")
_NEEDS: Final[dict[Kind, tuple[str, ...]]] = {
    "count": (),
    "sum": ("low", "high", "grid"),
    "mean": ("low", "high", "grid"),
    "histogram": ("values",),
    "top": ("of", "values"),
}
_WRITE: Final[dict[Kind, str]] = {
    "count": "{count: users, epsilon: 0.2}",
    "sum": "{sum: $.speed, low: 0, high: 40, grid: 0.5, epsilon: 0.3}",
    "mean": "{mean: $.speed, low: 0, high: 40, grid: 0.5, epsilon: 0.3}",
    "histogram": "{histogram: $.job, values: [clerk, nurse], epsilon: 0.2}",
    "top": "{top: 10, of: $.cell, values: {kind: grid, ...}, epsilon: 0.5}",
}


def aggregate_fits(collector: Collector) -> None:
    if not collector.gives("aggregate"):
        return
    stands_alone(collector, "aggregate", _ABOUT, "no record is released for an event")
    aggregate: AggregateSettings | None = collector.values.get("aggregate")
    if aggregate is None:
        return
    names = wrong_names(("aggregate", "each"), aggregate.each, MOST_QUERIES, "aggregates")
    for wrong in (*names, *_dependence(aggregate)):
        collector.add(*wrong)
    sound = True
    for name, query in aggregate.each.items():
        for place, found, allowed, fix in _query(query):
            sound = False
            collector.add(("aggregate", "each", name, *place), found, allowed, fix)
    if sound:
        for wrong in _sizes(aggregate):
            collector.add(*wrong)


def _query(query: QuerySettings) -> Iterator[Wrong]:
    if len(query.kinds) != 1:
        found = " and ".join(query.kinds) or "none of them"
        yield (), found, f"exactly one of {', '.join(_KINDS)}", f"write it like {_WRITE['count']}"
        return
    kind = query.kind
    yield from _companions(query, kind)
    yield from _taken(query, kind)
    if kind in ("sum", "mean"):
        yield from _steps(query)
    if kind == "top" and query.top is not None and query.values is not None and query.top >= query.values.size:
        found = f"{query.top} of {query.values.size} values"
        yield ("top",), found, "fewer than there are", f"choose fewer, or write histogram: {query.of}"


def _companions(query: QuerySettings, kind: Kind) -> Iterator[Wrong]:
    for name in ("of", "values", "low", "high", "grid"):
        given, needed = getattr(query, name) is not None, name in _NEEDS[kind]
        if given and not needed:
            yield (name,), f"{name} beside {kind}", f"{kind} without it", f"remove it: {_WRITE[kind]}"
        if needed and not given:
            yield (), f"{kind} without {name}", f"{name} beside {kind}", f"write it like {_WRITE[kind]}"


def _taken(query: QuerySettings, kind: Kind) -> Iterator[Wrong]:
    if kind == "count" and query.take != "last":
        yield ("take",), f"{query.take} of users", "no take beside count", "remove it: users are counted, not events"
    elif kind in ("histogram", "top") and query.take not in ("first", "last"):
        yield ("take",), f"{query.take} of values that are no amounts", "first or last", "write take: last"
    if (query.take == "sum") != (query.at_most is not None):
        found = "at_most without take: sum" if query.at_most is not None else "take: sum without at_most"
        yield ("take",), found, "both or neither", "write take: sum and at_most: 8, or neither"


def _steps(query: QuerySettings) -> Iterator[Wrong]:
    if query.steps is None:
        return
    low, high, grid = query.steps
    yield from wrong_steps(query.steps)
    if grid <= 0:
        return
    steps = (high - low) / grid
    if query.kind == "mean" and steps == 1:
        fix = "write a finer grid; the share of one of two values is better told by a histogram"
        yield ("grid",), "one step from low to high", "at least two steps for a mean", fix
    if max(abs(low), abs(high), high - low) / grid / Decimal(query.epsilon) > _WIDEST_NOISE:
        found = f"{query.epsilon:g} over {write_decimal(steps)} steps of the grid"
        allowed = f"noise of at most {_WIDEST_NOISE:,} steps"
        yield ("epsilon",), found, allowed, "write a wider grid, or a larger epsilon"


def _sizes(aggregate: AggregateSettings) -> Iterator[Wrong]:
    cells = {name: _cells_of(query) for name, query in aggregate.each.items()}
    total = sum(cells.values())
    if total > MOST_CELLS:
        widest = max(cells, key=lambda name: cells[name])
        found = f"{total:,} numbers a window, {cells[widest]:,} of them of {widest}"
        yield ("aggregate", "each"), found, f"at most {MOST_CELLS:,}", "declare fewer values, for example larger cells"
    shown = sum(_shown_bytes(query) for query in aggregate.each.values())
    if shown > _MOST_SHOWN_BYTES:
        found, allowed = f"about {shown:,} bytes a released record", f"at most {_MOST_SHOWN_BYTES:,}"
        yield ("aggregate", "each"), found, allowed, "declare fewer values, or show only the top of them"
    windows = (aggregate.lateness + aggregate.ahead) // aggregate.window + 2
    if windows * total > _MOST_OPEN_NUMBERS:
        found = f"{windows:,} windows that may be open at once, of {total:,} numbers each"
        allowed = f"at most {_MOST_OPEN_NUMBERS:,} numbers together"
        yield ("aggregate", "ahead"), found, allowed, "shorten ahead or lateness, or declare fewer values"
    held = windows * (8 + sum(_held_bytes(query) for query in aggregate.each.values()))
    if held > _MOST_HELD_BYTES:
        found = f"{windows:,} windows that may be open at once: up to {held:,} bytes of one user"
        allowed = f"at most {_MOST_HELD_BYTES:,} bytes"
        yield ("aggregate", "ahead"), found, allowed, "shorten ahead or lateness, or lengthen window"


def _cells_of(query: QuerySettings) -> int:
    if query.values is not None:
        return query.values.size
    return 2 if query.kind == "mean" else 1


def _shown_bytes(query: QuerySettings) -> int:
    """Of the longest values, where only some are shown."""
    if query.values is None:
        return 4 * _OF_A_CELL
    lengths = sorted((len(orjson.dumps(query.values.value_at(i))) for i in range(query.values.size)), reverse=True)
    return sum(_OF_A_CELL + length for length in lengths[: query.top])


def _held_bytes(query: QuerySettings) -> int:
    """A value and its time; where several are added, the times of all."""
    return 1 if query.kind == "count" else 16 + 8 * (query.at_most or 0)


def _dependence(aggregate: AggregateSettings) -> Iterator[Wrong]:
    users, windows = aggregate.dependence.users, aggregate.dependence.windows
    place: Place = ("aggregate", "dependence")
    if users.group is not None and users.law is not None:
        found = "a group and a law"
        yield (*place, "users"), found, "one of them", "keep the law, or the group if no law is known for certain"
        return
    if windows.fresh and windows.law is not None:
        yield (*place, "windows"), "fresh and a law", "one of them", "write windows: fresh, or {law: file}"
        return
    one = aggregate.protects == "one_window"
    if users.law is not None and not windows.fresh:
        found = "a law of users, without windows: fresh"
        allowed = "a law of users beside windows: fresh, since it says nothing of who depends on whom across windows"
        fix = "write windows: fresh, if that is so; otherwise users: {group: ...} or independent"
        yield (*place, "users"), found, allowed, fix
    if windows.law is not None and not one:
        found = "a law of windows while everything is protected: it gains nothing, losses of windows add up anyway"
        yield (*place, "windows"), found, "windows: any or fresh", "write windows: any, or protects: one_window"
    elif windows.law is not None and users.group is not None:
        found = "a law of one user's windows beside groups of users"
        yield (*place, "windows"), found, "a law of windows beside users: independent", "write windows: any"
    if aggregate.adversary == "weakest" and users.law is None:
        found = "weakest without a law of users: what is claimed holds against any adversary"
        yield ("aggregate", "adversary"), found, "any, or weakest beside a law of users", "write adversary: any"
