"""A hundred thousand malformed records: never a crash, always an event or a reason, and never a value in what is told.

Every record is made from its number alone. An event is accepted only if a strict reference that shares no code with the
reader accepts it too, and then both have read the same fields; a refusal only if the reference refuses as well.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import strict_reference
from malformed import CANARY, NOW, Record, record

from beliefs.alphabet import Categories, IntegerRange
from stream import names
from stream.records.dead_letters import dead_letter
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

    def __init__(self, settings: dict[str, Any], alphabet: Categories | IntegerRange) -> None:
        checked = RecordSettings.model_validate(settings)
        self.reader = Reader(checked, alphabet)
        self.writer = Writer(checked, alphabet)
        self.alphabet = alphabet
        time = checked.event_time
        self.wanted = strict_reference.Wanted(
            protected=checked.protect.path.steps,
            alphabet=tuple(alphabet.value_at(index) for index in range(alphabet.size)),
            user=checked.user.path.steps if checked.user.path is not None else None,
            and_key=checked.user.and_key,
            time=time.path.steps if time.path is not None else None,
            unit=time.unit or "",
            public={str(path): path.steps for path in checked.public},
            max_bytes=checked.max_bytes,
        )
        paths = {str(checked.protect.path), *map(str, checked.public), str(checked.user.path), str(time.path)}
        self.places = {"$", "$key", "$timestamp"} | paths


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


def check_block(pipeline: Pipeline, numbers: range) -> Counter[str]:
    """Read a block of records and hold every answer to the reference; count what came out."""
    records = [record(number) for number in numbers]
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
    return counts


def event_at(block: Block, place: int) -> RawEvent:
    return RawEvent(block.users[place], block.symbols[place], block.times[place], block.documents[place])


def check_event(pipeline: Pipeline, given: Record, event: RawEvent, written: bytes, number: int) -> None:
    try:
        expected = strict_reference.select(pipeline.wanted, *given)
    except strict_reference.RefusedError:
        raise AssertionError(f"record {number} was accepted, and should not be") from None
    assert (event.user, event.time) == (expected.user, expected.time), number
    assert pipeline.alphabet.value_at(event.symbol) == expected.value, number
    assert CANARY not in repr(event), number
    assert pipeline.reader.read(given) == event, number
    released = json.loads(written)
    assert strict_reference.find(released, pipeline.wanted.protected) == expected.value, number
    for name, value in expected.public.items():
        assert strict_reference.find(released, parse_path(name).steps) == value, number
    allowed = {steps[0] for steps in (pipeline.wanted.protected, *pipeline.wanted.public.values())}
    assert set(released) <= allowed, number


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


def check_all(count: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for index, first in enumerate(range(0, count, BLOCK)):
        counts.update(check_block(PIPELINES[index % len(PIPELINES)], range(first, first + BLOCK)))
    return counts


def test_every_malformed_record_gets_its_reason_and_nothing_else() -> None:
    counts = check_all(RECORDS)
    assert counts.total() == RECORDS
    assert RECORDS - counts["accepted"] >= 100_000
    # Not one kind of refusal may be missing from the corpus, and enough of it must be accepted to compare fields.
    of_more_than_a_record = {names.STATE_UNREADABLE, names.UNREADABLE, names.UNKNOWN_SEGMENT, names.SEGMENT_CHANGED}
    readable = set(names.REASONS) - of_more_than_a_record
    assert {reason for reason in readable if counts[reason] < 20} == set()
    assert counts["accepted"] > 5_000


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
