"""A hundred thousand malformed records: never a crash, always an event or a reason, and never a value in what is told.

Every record is made from its number alone. An event is accepted only if a strict reference that shares no code with the
reader accepts it too, and then both have read the same fields; a refusal only if the reference refuses as well.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import strict_reference
from malformed import CANARY, NOT_OF_A_RECORD_ALONE, NOW, Record, record

import stream.records.fields
from beliefs.alphabet import Alphabet, Bins, Categories, IntegerRange
from stream import names
from stream.records.dead_letters import dead_letter
from stream.records.fields import FieldForm
from stream.records.parse import Reader
from stream.records.paths import parse_path
from stream.records.release import Writer
from stream.records.shapes import Block, RawEvent, Rejected
from stream.settings.model import RecordSettings

RECORDS = 114_000
BLOCK = 600
WORDS = ("still", "walking", "running", "a:b", "größe")


class Pipeline:
    """One selection, for the reader and for the reference."""

    def __init__(
        self, settings: dict[str, Any], alphabet: Categories | IntegerRange, fields: tuple[FieldForm, ...] = ()
    ) -> None:
        checked = RecordSettings.model_validate(settings)
        self.reader = Reader(checked, alphabet, fields)
        self.writer = Writer(checked, alphabet)
        self.alphabet, self.fields = alphabet, fields
        time, protected = checked.event_time, checked.protect.path
        self.wanted = strict_reference.Wanted(
            protected=None if protected is None else protected.steps,
            alphabet=tuple(alphabet.value_at(index) for index in range(alphabet.size)),
            user=checked.user.path.steps if checked.user.path is not None else None,
            and_key=checked.user.and_key,
            time=time.path.steps if time.path is not None else None,
            unit=time.unit or "",
            public={str(path): path.steps for path in checked.public},
            max_bytes=checked.max_bytes,
            fields=tuple(wanted_field(form) for form in fields),
        )
        paths = {str(protected), *map(str, checked.public), str(checked.user.path), str(time.path)}
        self.places = {"$", "$key", "$timestamp"} | paths | {str(form.path) for form in fields}


def wanted_field(form: FieldForm) -> strict_reference.Field:
    listed = form.alphabet
    if isinstance(listed, Bins):
        assert (listed.low, listed.high) == (0.0, listed.cells), "the reference knows cells of width 1 from 0 on"
        return strict_reference.Field(form.path.steps, listed.cells, form.at_most)
    return strict_reference.Field(form.path.steps, tuple(listed.lookup), form.at_most)


def form(path: str, alphabet: Alphabet, at_most: int | None = None) -> FieldForm:
    return FieldForm(path.rpartition(".")[2], parse_path(path), alphabet, at_most)


PIPELINES = (
    Pipeline({"protect": {"path": "$.activity"}, "max_bytes": 2000}, Categories(WORDS)),
    Pipeline(
        {
            "protect": {"path": "$.device.activity"},
            "public": ("$.device.level", "$.list[1]", "$.n"),
            "user": {"path": "$.id", "and_key": True},
            "event_time": {"path": "$.device.time", "unit": "iso8601"},
            "max_bytes": 2000,
        },
        Categories(WORDS),
    ),
    Pipeline(
        {
            "protect": {"path": "$.activity"},
            "public": ("$.n", "$.device"),
            "user": {"path": "$.id", "partitioned_by_user": True},
            "event_time": {"path": "$.t", "unit": "ms"},
            "max_bytes": 2000,
        },
        IntegerRange(-1, 3),
    ),
)


FURTHER = ("job", "age", "tags", "marks", "warmth")
JOB, AGE = form("$.job", Categories(("clerk", "nurse", "a:b", "größe"))), form("$.age", IntegerRange(-3, 8))
TAGS, MARKS = form("$.tags", Categories(("b", "größe", "a", "c")), 3), form("$.marks", IntegerRange(-3, 7), 2)
WITH_FIELDS = (
    Pipeline({"protect": {"path": "$.activity"}, "public": ("$.n",), "max_bytes": 2000}, Categories(WORDS), (JOB, AGE)),
    Pipeline({"public": ("$.n", "$.device.activity"), "max_bytes": 2000}, Categories(("none",)), (TAGS, AGE)),
    Pipeline(
        {"user": {"path": "$.id", "partitioned_by_user": True}, "max_bytes": 2000},
        IntegerRange(0, 0),
        (form("$.device.level", IntegerRange(0, 1)), form("$.warmth", Bins(0.0, 8.0, 8)), MARKS),
    ),
)


def check_block(pipeline: Pipeline, numbers: range) -> Counter[str]:
    """Read a block of records and hold every answer to the reference; count what came out."""
    records = [record(number, FURTHER if pipeline.fields else ()) for number in numbers]
    block = pipeline.reader.read_block(records)
    assert sorted([*block.positions, *(position for position, _ in block.rejected)]) == list(range(len(records)))
    assert block.positions == sorted(block.positions)
    counts: Counter[str] = Counter(accepted=len(block.positions))
    values = pipeline.writer.values(block.documents, block.symbols)
    for place, position in enumerate(block.positions):
        check_event(pipeline, records[position], event_at(block, place), values[place], numbers[position])
    for position, rejected in block.rejected:
        check_refusal(pipeline, records[position], rejected, numbers[position])
        counts[rejected.reason] += 1
        if any(rejected.path == str(form.path) for form in pipeline.fields):
            counts[f"{rejected.reason} {rejected.path}"] += 1
    return counts


def event_at(block: Block, place: int) -> RawEvent:
    read = (block.users[place], block.symbols[place], block.times[place], block.documents[place])
    return RawEvent(*read, block.fields[place])


def check_event(pipeline: Pipeline, given: Record, event: RawEvent, written: bytes, number: int) -> None:
    try:
        expected = strict_reference.select(pipeline.wanted, *given)
    except strict_reference.RefusedError:
        raise AssertionError(f"record {number} was accepted, and should not be") from None
    assert (event.user, event.time) == (expected.user, expected.time), number
    assert event.fields == padded(pipeline, expected.fields), number
    protected = pipeline.wanted.protected
    assert (pipeline.alphabet.value_at(event.symbol) if protected else None) == expected.value, number
    assert protected or event.symbol == 0, number
    assert CANARY not in repr(event), number
    assert pipeline.reader.read(given) == event, number
    released = json.loads(written)
    if protected is not None:
        assert strict_reference.find(released, protected) == expected.value, number
    for name, value in expected.public.items():
        assert strict_reference.find(released, parse_path(name).steps) == value, number
    allowed = {steps[0] for steps in (protected or (None,), *pipeline.wanted.public.values())}
    assert set(released) <= allowed, number


def padded(pipeline: Pipeline, fields: list[list[int]]) -> tuple[int, ...]:
    """One field behind the other, each list filled up to its length with the number behind the last value's."""
    symbols: list[int] = []
    for form, found in zip(pipeline.fields, fields, strict=True):
        symbols += [*found, *[form.alphabet.size] * ((form.at_most or 1) - len(found))]
    return tuple(symbols)


def check_refusal(pipeline: Pipeline, given: Record, rejected: Rejected, number: int) -> None:
    assert rejected.reason in names.REASONS, number
    assert rejected.path in pipeline.places, number
    assert pipeline.reader.read(given) == rejected, number
    letter = dead_letter(rejected, "raw", 3, number)
    assert CANARY.encode() not in letter, number
    assert CANARY not in repr(rejected), number
    assert set(json.loads(letter)) == {"reason", "path", "topic", "partition", "offset"}, number
    try:
        strict_reference.select(pipeline.wanted, *given)
    except strict_reference.RefusedError:
        return
    raise AssertionError(f"record {number} was refused as {rejected.reason}, and should not be")


def check_all(count: int, pipelines: tuple[Pipeline, ...] = PIPELINES) -> Counter[str]:
    counts: Counter[str] = Counter()
    for index, first in enumerate(range(0, count, BLOCK)):
        counts.update(check_block(pipelines[index % len(pipelines)], range(first, first + BLOCK)))
    return counts


def test_every_malformed_record_gets_its_reason_and_nothing_else() -> None:
    counts = check_all(RECORDS)
    assert counts.total() == RECORDS
    assert RECORDS - counts["accepted"] >= 100_000
    # Not one kind of refusal may be missing from the corpus, and enough of it must be accepted to compare fields.
    readable = set(names.REASONS) - NOT_OF_A_RECORD_ALONE
    assert {reason for reason in readable if counts[reason] < 20} == set()
    assert counts["accepted"] > 5_000


@pytest.mark.parametrize("pipeline", WITH_FIELDS, ids=["two beside another", "a list", "cells and a nested one"])
def test_further_fields_are_read_as_the_reference_reads_them(pipeline: Pipeline) -> None:
    counts = check_all(12_000, (pipeline,))
    assert counts["accepted"] > 150
    told = [names.FIELD_MISSING, names.FIELD_TYPE, names.OUTSIDE_ALPHABET]
    places = [str(form.path) for form in pipeline.fields]
    assert {(reason, place) for reason in told for place in places if counts[f"{reason} {place}"] < 5} == set()


def test_every_truncation_of_a_record_is_refused() -> None:
    text = b'{"activity":"walking","x":{"y":[1,2.5,"a:b\\u003a"]},"z":"gr\xc3\xb6\xc3\x9fe"}'
    pipeline = PIPELINES[0]
    assert isinstance(pipeline.reader.read(Record(text, b"u1", NOW)), RawEvent)
    for length in range(len(text)):
        found = pipeline.reader.read(Record(text[:length], b"u1", NOW))
        assert isinstance(found, Rejected)
        assert found.reason in {names.NOT_JSON, names.NOT_UTF8}


def test_a_record_can_be_made_again_from_its_number() -> None:
    assert [record(number) for number in range(200)] == [record(number) for number in range(200)]


@pytest.mark.parametrize("blind", ["repeats_a_key", "may_be_too_deep", "may_have_changed"])
def test_a_reader_that_does_not_look_is_caught(blind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"stream.records.strict.{blind}", lambda *_: False)
    monkeypatch.setattr(f"stream.records.parse.{blind}", lambda *_: False)
    with pytest.raises((AssertionError, TypeError, ValueError)):
        check_all(12_000)


FAULTS = {
    "lists of any length": ("if len(value) > at_most:", "if False:"),
    "a value twice": ("if len(found) < len(value):", "if False:"),
    "values as the producer ordered them": ("return sorted(found)", "return [*map(read, value)]"),
    "free slots without a symbol": ("[empty] * (at_most - len(value))", "[]"),
    "a list of anything": (
        "            if isinstance(symbol, str):\n                return symbol\n            f",
        "            f",
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_fields_read_with_a_rule_less_are_caught(fault: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(stream.records.fields.__file__).read_text(encoding="utf-8")
    assert source.count(fault[0]) == 1, f"fields.py holds {source.count(fault[0])} times: {fault[0]}"
    room: dict[str, Any] = {"__name__": "stream.records.fields"}
    exec(compile(source.replace(*fault), "planted fields.py", "exec"), room)
    for pipeline in WITH_FIELDS:
        monkeypatch.setattr(pipeline.reader, "_read_fields", room["fields_reader"](pipeline.fields))
    with pytest.raises((AssertionError, TypeError)):
        check_all(12_000, WITH_FIELDS)
