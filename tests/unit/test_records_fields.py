"""Fields that are protected each by itself: what is read of them, what is refused, and where their reports stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from fields_world import promise_of, settings_of
from nearly_plain import NOW, Record
from pipeline_help import TOPIC_ID

from beliefs.alphabet import CLAMP, Alphabet, Bins, Categories, Grid, IntegerRange
from beliefs.checks import InvariantBroken
from stream import names
from stream.door import Door
from stream.protocol.inputs import InputBlock
from stream.protocol.texts import Texts
from stream.records.assemble import Reported
from stream.records.columns import ColumnReader, Columns, ColumnWriter
from stream.records.fields import FieldForm
from stream.records.parse import Reader
from stream.records.paths import parse_path
from stream.records.release import Writer
from stream.records.shapes import RawEvent, Rejected
from stream.settings.model import RecordSettings

JOBS = Categories(["clerk", "nurse", "größe"])
WORDS = Categories(["still", "walking"])
ALONE = RecordSettings.model_validate({"public": ("$.battery",)})
BESIDE = RecordSettings.model_validate({"protect": {"path": "$.activity"}, "public": ("$.battery", "$.place")})
NONE = Categories(["none"])


def form(path: str, alphabet: Alphabet, at_most: int | None = None) -> FieldForm:
    return FieldForm(path.removeprefix("$."), parse_path(path), alphabet, at_most)


JOB, AGE = form("$.job", JOBS), form("$.age", IntegerRange(-2, 99))
TAGS = form("$.tags", JOBS, 2)
PLACE = form("$.at", Grid(Bins(0.0, 2.0, 2), Bins(0.0, 3.0, 3)))


def read_one(field: FieldForm, written: bytes, settings: RecordSettings = ALONE) -> tuple[int, ...] | Rejected:
    """Both ways of the definition, and the columns, which must agree."""
    record = Record(0, NOW, b"u", written)
    reader = Reader(settings, NONE, (field,))
    found = reader.read(record)
    block = reader.read_block([record])
    columns = ColumnReader(settings, NONE, (field,)).read(InputBlock.of([record]))
    if isinstance(found, Rejected):
        assert block.rejected == columns.rejected == [(0, found)]
        assert columns.fields[0].shape == ((0,) if field.at_most is None else (0, field.at_most))
        return found
    assert (block.fields, block.rejected, columns.rejected) == ([found.fields], [], [])
    assert tuple(columns.fields[0].reshape(-1).tolist()) == found.fields
    assert found.symbol == 0
    return found.fields


@pytest.mark.parametrize(
    ("field", "written", "symbols"),
    [
        (JOB, b'"nurse"', (1,)),
        (JOB, b'"n\\u0075rse"', (1,)),
        (JOB, '"größe"'.encode(), (2,)),
        (AGE, b"-2", (0,)),
        (AGE, b"99", (101,)),
        (form("$.age", Bins(0.0, 100.0, 10, CLAMP)), b"18446744073709551617", (9,)),
        (form("$.age", Bins(0.0, 100.0, 10)), b"9.999", (0,)),
        (PLACE, b"[1.5,2.5]", (5,)),
        (TAGS, b"[]", (3, 3)),
        (TAGS, b'["nurse"]', (1, 3)),
        (TAGS, b'["nurse" , "clerk"]', (0, 1)),
        (TAGS, b'["gr\\u00f6\\u00dfe", "clerk"]', (0, 2)),
        (form("$.marks", IntegerRange(0, 9), 3), b"[7,0]", (0, 7, 10)),
        (form("$.marks", Bins(0.0, 10.0, 5), 3), b"[9, 0.5]", (0, 4, 5)),
        (form("$.marks", PLACE.alphabet, 1), b"[[0.5,0.5]]", (0,)),
    ],
)
def test_a_value_is_read(field: FieldForm, written: bytes, symbols: tuple[int, ...]) -> None:
    assert read_one(field, b'{"%b":%b}' % (field.name.encode(), written)) == symbols


@pytest.mark.parametrize(
    ("field", "written", "reason"),
    [
        (JOB, b"null", names.FIELD_TYPE),
        (JOB, b"1", names.FIELD_TYPE),
        (JOB, b'["clerk"]', names.FIELD_TYPE),
        (JOB, b'{"clerk":1}', names.FIELD_TYPE),
        (JOB, b'"Clerk"', names.OUTSIDE_ALPHABET),
        (JOB, b'""', names.OUTSIDE_ALPHABET),
        (AGE, b'"7"', names.FIELD_TYPE),
        (AGE, b"7.0", names.FIELD_TYPE),
        (AGE, b"true", names.FIELD_TYPE),
        (AGE, b"18446744073709551617", names.FIELD_TYPE),
        (AGE, b"100", names.OUTSIDE_ALPHABET),
        (AGE, b"9223372036854775807", names.OUTSIDE_ALPHABET),
        (AGE, b"-3", names.OUTSIDE_ALPHABET),
        (PLACE, b"[1.5]", names.FIELD_TYPE),
        (PLACE, b"[1.5,4]", names.OUTSIDE_ALPHABET),
        (TAGS, b"null", names.FIELD_TYPE),
        (TAGS, b'"clerk"', names.FIELD_TYPE),
        (TAGS, b'{"0":"clerk"}', names.FIELD_TYPE),
        (TAGS, b'["clerk",null]', names.FIELD_TYPE),
        (TAGS, b'[["clerk"]]', names.FIELD_TYPE),
        (TAGS, b'["clerk","nursery"]', names.OUTSIDE_ALPHABET),
        (TAGS, b'["clerk","clerk"]', names.OUTSIDE_ALPHABET),
        (TAGS, b'["clerk","cl\\u0065rk"]', names.OUTSIDE_ALPHABET),
        (TAGS, '["clerk","nurse","größe"]'.encode(), names.OUTSIDE_ALPHABET),
        (form("$.marks", Bins(0.0, 10.0, 5), 3), b"[0.5,1.5]", names.OUTSIDE_ALPHABET),
        (form("$.marks", IntegerRange(0, 9), 3), b"[0,-0]", names.OUTSIDE_ALPHABET),
    ],
)
def test_what_is_no_value_of_the_field_is_refused(field: FieldForm, written: bytes, reason: str) -> None:
    found = read_one(field, b'{"%b":%b}' % (field.name.encode(), written))
    assert found == Rejected(reason, str(field.path))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (b'{"job":NaN}', names.NOT_JSON),
        (b'{"job":"clerk","job":"clerk"}', names.DUPLICATE_KEY),
        (b'{"job":"clerk","j\\u006fb":"nurse"}', names.DUPLICATE_KEY),
        (b'["job"]', names.NOT_AN_OBJECT),
        (b'[":"]', names.NOT_AN_OBJECT),
        (b'"job"', names.NOT_AN_OBJECT),
        (b'{"job":"clerk"', names.NOT_JSON),
        (b'{"job":"cl\xffrk"}', names.NOT_UTF8),
    ],
)
def test_what_is_wrong_with_the_record_is_said_of_the_record(written: bytes, reason: str) -> None:
    assert read_one(JOB, written) == Rejected(reason, "$")


def test_a_field_that_is_missing_is_refused() -> None:
    for field in (JOB, AGE, PLACE, TAGS):
        assert read_one(field, b'{"other":1}') == Rejected(names.FIELD_MISSING, str(field.path))
    nested = form("$.person.jobs[1]", JOBS)
    for written in (b"{}", b'{"person":"nurse"}', b'{"person":{"jobs":["nurse"]}}', b'{"person":{"jobs":"nurse"}}'):
        assert read_one(nested, written) == Rejected(names.FIELD_MISSING, "$.person.jobs[1]")
    assert read_one(nested, b'{"person":{"jobs":[null,"nurse"]}}') == (1,)


def test_without_any_field_a_record_must_still_be_an_object() -> None:
    reader = Reader(ALONE, NONE)
    for written, answer in ((b'{"x":1}', RawEvent(b"u", 0, NOW, {"x": 1})), (b'[":"]', Rejected("not_an_object", "$"))):
        assert reader.read(Record(0, NOW, b"u", written)) == answer
    block = reader.read_block([Record(0, NOW, b"u", b'[":"]'), Record(1, NOW, b"u", b"{}")])
    assert (block.positions, [place for place, _ in block.rejected]) == ([1], [0])
    columns = ColumnReader(ALONE, NONE).read(InputBlock.of([Record(0, NOW, b"u", b'{"battery":3}')]))
    assert written_of(ColumnWriter(ALONE, NONE), columns) == [b'{"battery":3}']


def test_the_first_wrong_field_in_the_declared_order_is_named() -> None:
    reader = Reader(BESIDE, WORDS, (AGE, JOB))
    for written, path in (
        (b'{"job":1,"age":"1"}', "$.activity"),
        (b'{"job":1,"age":"1","activity":"still"}', "$.age"),
        (b'{"job":1,"age":1,"activity":"still"}', "$.job"),
    ):
        found = reader.read(Record(0, NOW, None, written))
        assert isinstance(found, Rejected)
        assert found.path == path


def read(settings: RecordSettings, fields: tuple[FieldForm, ...], *values: bytes | None) -> Columns:
    records = [Record(10 + i, NOW + i, b"user-%d" % i, value) for i, value in enumerate(values)]
    return ColumnReader(settings, WORDS, fields).read(InputBlock.of(records))


def written_of(
    writer: ColumnWriter, columns: Columns, symbols: list[int] | None = None, *reports: Reported
) -> list[bytes]:
    rows = np.arange(len(columns.users), dtype=np.int64)
    return writer.texts(columns, rows, np.array(symbols or [0] * rows.size, dtype=np.int64), reports).all()


VALUES = (
    b'{"job":"nurse","activity":"walking","age":7,"battery":93}',
    b'{"job":"nurse","activity":"walking","battery":93}',
    '{"age":0,"place":"c1","activity":"still","job":"größe"}'.encode(),
    b'{"age":0,"job":"painter","activity":"still"}',
    b' {"age" : -2 , "job":"clerk","activity":"still"}\n',
    b'{"age":1,"job":"clerk","activity":"still","battery":1.50}',
)


def test_a_block_of_several_fields() -> None:
    columns = read(BESIDE, (JOB, AGE), *VALUES)
    assert columns.positions.tolist() == [0, 2, 4, 5]
    assert columns.symbols.tolist() == [1, 0, 0, 0]
    assert [column.tolist() for column in columns.fields] == [[1, 2, 0, 0], [9, 2, 0, 3]]
    assert columns.rejected == [
        (1, Rejected(names.FIELD_MISSING, "$.age")),
        (3, Rejected(names.OUTSIDE_ALPHABET, "$.job")),
    ]
    assert list(columns.documents) == [1, 3]  # letters that are not ASCII, and a number that is written otherwise
    some = columns.only(np.array([1, 2]))
    assert [column.tolist() for column in some.fields] == [[2, 0], [2, 0]]
    assert some.users == [b"user-2", b"user-4"]


def test_reports_stand_behind_all_else_and_absent_ones_leave_nothing() -> None:
    columns = read(BESIDE, (JOB, AGE), *VALUES)
    jobs = Reported(Texts.of([b'"clerk"', b"null", '"größe"'.encode()]), np.array([0, -1, 1, 2]))
    ages = Reported(Texts.of([b'{"version":1}']), np.array([-1, -1, 0, 0]))
    assert written_of(ColumnWriter(BESIDE, WORDS, (JOB, AGE)), columns, [0, 1, 1, 0], jobs, ages) == [
        b'{"battery":93,"activity":"still","job":"clerk"}',
        b'{"place":"c1","activity":"walking"}',
        b'{"activity":"walking","job":null,"age":{"version":1}}',
        '{"battery":1.5,"activity":"still","job":"größe","age":{"version":1}}'.encode(),
    ]


def test_without_a_field_whose_values_follow_one_another_all_symbols_are_0() -> None:
    columns = read(ALONE, (AGE, JOB), *VALUES)
    assert columns.symbols.tolist() == [0, 0, 0, 0]
    assert [column.tolist() for column in columns.fields] == [[9, 2, 0, 3], [1, 2, 0, 0]]
    ages = Reported(Texts.of([b"12"]), np.array([-1, -1, 0, 0]))
    jobs = Reported(Texts.of([b'"clerk"']), np.array([0, -1, -1, 0]))
    assert written_of(ColumnWriter(ALONE, NONE, (AGE, JOB)), columns, None, ages, jobs) == [
        b'{"battery":93,"job":"clerk"}',
        b"{}",
        b'{"age":12}',
        b'{"battery":1.5,"age":12,"job":"clerk"}',
    ]


def test_nested_fields_are_reported_at_their_places() -> None:
    by = RecordSettings.model_validate({"public": ("$.person.name",)})
    field = form("$.person.job", JOBS)
    columns = read(by, (field, AGE), b'{"person":{"job":"nurse","name":"Eve","x":1},"age":3}')
    told = [Reported(Texts.of([text]), np.array([0])) for text in (b'"clerk"', b"[1,2]")]
    writer = ColumnWriter(by, NONE, (field, AGE))
    assert written_of(writer, columns, None, *told) == [b'{"person":{"name":"Eve","job":"clerk"},"age":[1,2]}']
    withheld = told[0]._replace(at=np.array([-1]))
    assert written_of(writer, columns, None, withheld, told[1]) == [b'{"person":{"name":"Eve"},"age":[1,2]}']


def test_a_text_may_be_rewritten_beside_reports() -> None:
    for path in ("$.activity", "$.mind.activity"):
        by = RecordSettings.model_validate({"protect": {"path": path}, "public": ("$.battery",)})
        writer, document = Writer(by, WORDS, (JOB,)), {"battery": 0.5}
        one, other = (writer.value(document, symbol, [b'"clerk"']) for symbol in (0, 1))
        assert ColumnWriter(by, WORDS, (JOB,)).rewritten(one, 1) == other


def test_a_report_for_each_field_is_asked_for() -> None:
    columns, writer = read(BESIDE, (JOB,), VALUES[0]), ColumnWriter(BESIDE, WORDS, (JOB,))
    with pytest.raises(InvariantBroken, match="one entry for each field"):
        written_of(writer, columns)
    for at in ([], [0, 0], [1], [-2], [[0]]):
        with pytest.raises(InvariantBroken, match="the number of a text"):
            written_of(writer, columns, None, Reported(Texts.of([b"1"]), np.array(at, dtype=np.int64)))
    with pytest.raises(ValueError, match="shorter"):
        Writer(BESIDE, WORDS, (JOB,)).value({}, 0)


MANY = tuple(form(f"$.k{i}", JOBS) for i in range(31))


@pytest.mark.parametrize(
    ("settings", "fields", "served"),
    [
        (ALONE, (JOB, AGE), True),
        (BESIDE, (JOB, AGE), True),
        (ALONE, MANY, True),
        (BESIDE, MANY, False),
        (ALONE, (JOB, form("$.a.b", JOBS)), False),
        (ALONE, (JOB, form("$.größe", JOBS)), False),
        (ALONE, (JOB, TAGS), False),
        (ALONE, (JOB, PLACE), False),
    ],
)
def test_which_fields_the_scan_serves(settings: RecordSettings, fields: tuple[FieldForm, ...], served: bool) -> None:
    document: dict[str, Any] = {"age": 3, "tags": [], "at": [1, 1], "a": {"b": "nurse"}}
    names_of = [str(field.path.steps[0]) for field in fields]
    document = {"activity": "still"} | {name: document.get(name, "clerk") for name in names_of}
    columns = read(settings, fields, orjson.dumps(document))
    assert columns.rejected == []
    assert list(columns.documents) == ([] if served else [0])


def test_the_door_hands_on_the_fields_and_says_which_was_wrong() -> None:
    job = "job: {path: $.job, values: [clerk, nurse, größe], mechanism: grr, epsilon: 1}"
    age = "age: {path: $.age, values: {kind: integers, low: -2, high: 99}, mechanism: grr, epsilon: 1}"
    door = Door(promise_of(settings_of(job, age)), "raw", TOPIC_ID, 3)
    block = InputBlock.of([Record(7 + i, NOW, b"u", value) for i, value in enumerate(VALUES)])
    columns = door.enter(block, ()).columns
    assert [column.tolist() for column in columns.fields] == [[1, 2, 0, 0], [9, 2, 0, 3]]
    letters = [orjson.loads(letter.value or b"") for letter in door.dead_letters(block, columns)]
    assert [(letter["offset"], letter["reason"], letter["path"]) for letter in letters] == [
        (8, names.FIELD_MISSING, "$.age"),
        (10, names.OUTSIDE_ALPHABET, "$.job"),
    ]
