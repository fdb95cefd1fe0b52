"""The auditor's own reading of raw records beside the pipeline's, of records of every kind; and which event counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from aggregate_lives import RING, START, Raw
from crowd_lives import (
    COUNT,
    HISTOGRAM,
    HOMES,
    SETTINGS,
    SUM,
    TIMES,
    TWO,
)

from beliefs.crowd.law_file import parse
from stream import names
from stream.audit.crowd_events import Event, EventReader, Present, counted, moment_of, together
from stream.audit.crowd_rules import crowds_of
from stream.crowds.forms import forms_of
from stream.crowds.opening import compile_crowds
from stream.gathering.first import ONE_EVENT
from stream.protocol.inputs import InputBlock
from stream.records.columns import ColumnReader
from stream.settings.load import parse_settings

BOXES = (
    "records: mondrian, by: {v: {of: $.v, low: -2, high: 8, grid: 0.1}, "
    "job: {of: $.job, tree: {any: {letters: [a, b], other: [c]}}}}, "
    "sensitive: {of: $.ill, values: {kind: integers, low: 0, high: 3}, diverse: 2}"
)
PLACES = (
    "histogram: $.place, values: {kind: grid, rows: {low: 0, high: 2, cells: 2}, columns: {low: 0, high: 2, cells: 2}}"
)
INTEGERS = "count: $.ill, of: {kind: integers, low: 1, high: 2}"
BINS = "count: $.v, of: {kind: bins, low: 0, high: 2, cells: 2}"
NOBODY = "believes: nothing_declared"
TYPED = "believes: {law: law.json, by: $.kind}\ntarget: {epsilon: 1, delta: 0.1}"
HOUSED = "believes: {law: law.json, household: $.home}\ntarget: {epsilon: 1, delta: 0.1}"
ODD: list[Any] = [
    *(None, True, False, 0, 1, 2, -7, 0.05, 0.25, 0.15, 1.5, 7.95, 1e300, -0.0, 10**20, "", "a", "b", "c", "d", "ab"),
    *([], [1, 1], [0.5, 1.5], ["a", 1], {}, {"a": 1}, "walker", "runner", "letters", "2026-01-01T00:00:00Z", START),
]
STRICT = {names.DUPLICATE_KEY, names.TOO_DEEP, names.TOO_LARGE, names.NUMBER_OUT_OF_RANGE}


def odd_record(chance: Random, offset: int, time: object) -> Raw:
    said: dict[str, Any] = {"t": time, "u": "ann", "v": 1.5, "job": "a", "ill": 1, "kind": "walker"}
    said |= {"place": [0.5, 1.5], "home": "h"}
    for _ in range(chance.choice((0, 1, 1, 2))):
        name = chance.choice(list(said))
        if chance.random() < 0.3:
            del said[name]
        else:
            said[name] = chance.choice(ODD)
    text = json.dumps(said).encode()
    if chance.random() < 0.1:
        text = chance.choice((b"", b"{", b"[1]", b"null", b"\xff", text[:-1], b'{"v": NaN}'))
    key = chance.choice((b"ann", b"ann", b"ann", b"bob", b"", None))
    value = None if chance.random() < 0.02 else text
    return Raw(offset, chance.choice((START, START, -1)), key, value)


@pytest.mark.parametrize(
    ("release", "believes", "law"),
    [
        *((release, NOBODY, None) for release in (SUM, COUNT, INTEGERS, BINS, HISTOGRAM, PLACES, BOXES)),
        (COUNT, TYPED, TWO),
        (COUNT, HOUSED, HOMES),
    ],
)
@pytest.mark.parametrize(
    ("record", "time"),
    [
        ("{user: key, event_time: {path: $.t, unit: ms}}", START),
        ("{user: {path: $.u, and_key: true}, event_time: {path: $.t, unit: s}}", START / 1000 + 0.0015),
        ("{user: {path: $.u, partitioned_by_user: true}, event_time: {path: $.t, unit: iso8601}}", "2026-01-01T00:00Z"),
        ("{user: key}", START),
    ],
)
def test_the_same_records_are_read_to_the_same_values(
    tmp_path: Path, release: str, believes: str, law: bytes | None, record: str, time: object
) -> None:
    (tmp_path / "law.json").write_bytes(law or b"")
    lines = ["k: 3", *TIMES.splitlines(), f"release: {{{release}}}", *believes.splitlines()]
    head = "".join(f"record: {record}\n" if line.startswith("record:") else line for line in SETTINGS.splitlines(True))
    settings = parse_settings((head + "".join(f"  {line}\n" for line in lines)).encode(), tmp_path / "c.yaml")
    assert settings.crowd is not None
    read = None if law is None else parse(law)
    promise = compile_crowds(settings, settings.crowd, RING, read)
    crowds = crowds_of(settings, read, bytes(8))
    mine, theirs = EventReader(settings.record, crowds), ColumnReader(settings.record, ONE_EVENT, forms_of(promise))
    chance = Random(release + record)
    records = [odd_record(chance, offset, time) for offset in range(400)]
    columns = theirs.read(InputBlock.of(records))
    refused = {position: rejected.reason for position, rejected in columns.rejected}
    accepted = {int(position): place for place, position in enumerate(columns.positions)}
    assert min(len(refused), len(accepted)) > 20
    for position, raw in enumerate(records):
        event = mine.read(raw)  # type: ignore[arg-type]
        if position in refused:
            assert event is None or refused[position] in STRICT, refused[position]
            continue
        assert event is not None
        place = accepted[position]
        assert (event.user, event.time) == (columns.users[place], columns.times[place])
        symbols = [int(column[place]) for column in columns.fields]
        check_values(event, symbols, promise.release.offsets, crowds.believed is not None and crowds.believed.by)


def check_values(event: Event, symbols: list[int], offsets: tuple[int, ...], typed: object) -> None:
    cells = [symbol - offset for symbol, offset in zip(symbols, offsets, strict=False)]
    if len(event.values) > 1:
        assert [*event.values, event.secret] == cells
    else:
        assert event.values[0] == symbols[0]
    if typed:
        assert event.kind == ("walker", "runner")[symbols[1]]


def test_times_are_milliseconds_however_they_are_written() -> None:
    assert moment_of(1001, "ms") == moment_of(1.001, "s") == moment_of("1970-01-01T00:00:01.001Z", "iso8601") == 1001
    assert moment_of(datetime(2026, 1, 1, tzinfo=UTC).isoformat(), "iso8601") == START
    for value, unit in ((1.0, "ms"), (True, "ms"), ("1", "s"), (1e13, "s"), ("1970-01-01T00:00:01", "iso8601")):
        assert moment_of(value, unit) is None
    assert moment_of(7, "iso8601") is None


def an_event(time: int, value: int, kind: str) -> Event:
    return Event(b"ann", time, time, (value,), 0, kind, kind)


@pytest.mark.parametrize(
    ("take", "wanted"),
    [("first", (1, 5, "b")), ("last", (3, 4, "c")), ("largest", (3, 9, "c")), ("smallest", (3, 2, "c"))],
)
def test_which_event_counts_and_which_says_who_somebody_is(take: str, wanted: tuple[int, int, str]) -> None:
    """Of equal times the first in the topic; type and household never go by a value."""
    events = [an_event(2, 9, "a"), an_event(1, 5, "b"), an_event(3, 4, "c"), an_event(3, 2, "d"), an_event(1, 7, "e")]
    found: Present | None = None
    for event in events:
        found = counted(take, found, event)
    assert found is not None
    assert (found.time, found.values[0], found.kind, found.home) == (*wanted, wanted[2])
    halves = [counted(take, None, events[0]), counted(take, None, events[2])]
    assert together(take, *halves).kind == ("a" if take == "first" else "c")
