"""Blocks read and written as columns: what they hold, which selections the scan serves, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nearly_plain import NOW, Record

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from stream import names
from stream.protocol.inputs import VALUE_END, InputBlock
from stream.protocol.texts import Texts
from stream.records.columns import ColumnReader, Columns, ColumnWriter
from stream.records.shapes import Rejected
from stream.settings.model import RecordSettings

WORDS = Categories(["still", "walking", "größe"])
PUBLIC = ("$.battery", "$.place")


def settings(path: str = "$.activity", public: tuple[str, ...] = PUBLIC, **changes: Any) -> RecordSettings:
    return RecordSettings.model_validate({"protect": {"path": path}, "public": public, **changes})


def records(*values: bytes | None) -> list[Record]:
    return [Record(10 + i, NOW + i, b"user-%d" % i, value) for i, value in enumerate(values)]


def read(*values: bytes | None, alphabet: Alphabet = WORDS, by: RecordSettings | None = None) -> Columns:
    return ColumnReader(by or settings(), alphabet).read(InputBlock.of(records(*values)))


def released(columns: Columns, symbol: int = 0, alphabet: Alphabet = WORDS, by: RecordSettings | None = None) -> Texts:
    count = len(columns.users)
    rows, symbols = np.arange(count, dtype=np.int64), np.full(count, symbol, dtype=np.int64)
    return ColumnWriter(by or settings(), alphabet).texts(columns, rows, symbols)


def test_a_block_with_everything() -> None:
    columns = read(
        b'{"activity":"walking","battery":93,"secret":"x"}',
        None,
        '{"place":"größe","activity":"still"}'.encode(),
        b'{"activity":"flying"}',
        b' {"place" : "c1" , "battery":0.5,"activity":"still"}\n',
    )
    assert columns.positions.tolist() == [0, 2, 4]
    assert columns.users == [b"user-0", b"user-2", b"user-4"]
    assert columns.symbols.tolist() == [1, 0, 0]
    assert columns.times.tolist() == [NOW, NOW + 2, NOW + 4]
    assert columns.offsets.tolist() == [10, 12, 14]
    assert columns.rejected == [
        (1, Rejected(names.TOMBSTONE, "$")),
        (3, Rejected(names.OUTSIDE_ALPHABET, "$.activity")),
    ]
    assert list(columns.documents) == [1]
    texts = released(columns, symbol=1)
    assert texts.all() == [
        b'{"battery":93,"activity":"walking"}',
        '{"place":"größe","activity":"walking"}'.encode(),
        b'{"battery":0.5,"place":"c1","activity":"walking"}',
    ]
    assert [texts.text(i) for i in range(len(texts))] == texts.all()


def test_an_empty_block() -> None:
    columns = read()
    assert columns.users == []
    assert columns.positions.dtype == columns.times.dtype == np.int64
    assert released(columns).all() == []
    deeper = settings(public=("$.a.b",))
    assert released(read(by=deeper), by=deeper).all() == []


def test_what_is_held_is_not_shown() -> None:
    columns = read(b'{"activity":"walking","battery":"canary"}', '{"activity":"größe","battery":"canary"}'.encode())
    assert "canary" not in repr(columns)
    assert repr(columns) == "Columns(events=2, rejected=0)"


def test_a_part_of_the_events() -> None:
    values = [b'{"activity":"walking","place":"c%d"}' % i for i in range(4)]
    columns = read(*values, '{"activity":"größe","place":"c4"}'.encode(), b"{}")
    part = columns.only(np.array([1, 3, 4], dtype=np.int64))
    assert part.positions.tolist() == [1, 3, 4]
    assert part.users == [b"user-1", b"user-3", b"user-4"]
    assert part.rejected == columns.rejected
    assert released(part).all() == [b'{"place":"c%d","activity":"still"}' % i for i in (1, 3, 4)]


def test_rows_may_be_repeated_and_in_any_order() -> None:
    columns = read(
        b'{"activity":"still","battery":1}', '{"activity":"größe","battery":2}'.encode(), b'{"activity":"still"}'
    )
    rows, symbols = np.array([2, 1, 0, 1]), np.array([2, 0, 1, 1])
    assert ColumnWriter(settings(), WORDS).texts(columns, rows, symbols).all() == [
        '{"activity":"größe"}'.encode(),
        b'{"battery":2,"activity":"still"}',
        b'{"battery":1,"activity":"walking"}',
        b'{"battery":2,"activity":"walking"}',
    ]


PLAIN = b'{"activity":"walking","battery":%b}'


@pytest.mark.parametrize(
    "value", [b"1", b"-1", b"0", b"0.5", b"-0.0", b"100.0", b"0.0001", b'""', b'"{[:,"', b"true", b"false", b"null"]
)
def test_plain_public_values_are_not_looked_at(value: bytes) -> None:
    columns = read(PLAIN % value)
    assert columns.users
    assert columns.documents == {}
    assert released(columns).all() == [b'{"battery":%b,"activity":"still"}' % value]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (b"0.50", b"0.5"),
        (b"1.00", b"1.0"),
        (b"0.00001", b"0.00001"),
        (b"1e3", b"1000.0"),
        (b"-0", b"0"),
        (b"[ 1 ]", b"[1]"),
        (b'"\\u0041"', b'"A"'),
        (b"0.12345678901234567", b"0.12345678901234566"),
    ],
)
def test_what_would_be_written_otherwise_is_left_to_the_definition(value: bytes, written: bytes) -> None:
    columns = read(PLAIN % value)
    assert list(columns.documents) == [0]
    assert released(columns).all() == [b'{"battery":%b,"activity":"still"}' % written]


def test_a_private_number_may_be_written_in_any_plain_way() -> None:
    assert read(b'{"activity":"walking","x":0.50,"y":0.123456789012345678901,"z":0.00001}').documents == {}


def test_many_members_are_left_to_the_definition() -> None:
    few = b",".join(b'"k%d":%d' % (i, i) for i in range(31))
    many = few + b',"k31":31'
    columns = read(b'{"activity":"walking",%b}' % few, b'{"activity":"walking",%b}' % many)
    assert list(columns.documents) == [1]


def test_integers_are_found_by_value() -> None:
    by, alphabet = settings("$.floor", public=()), IntegerRange(-2, 40)
    columns = read(*(b'{"floor":%d}' % floor for floor in range(-3, 42)), alphabet=alphabet, by=by)
    assert columns.symbols.tolist() == list(range(43))
    assert [position for position, _ in columns.rejected] == [0, 44]
    assert columns.documents == {}
    assert released(columns, 3, alphabet, by).all() == [b'{"floor":1}'] * 43


@pytest.mark.parametrize(
    "by",
    [
        settings(public=("$.battery.level",)),
        settings(user={"path": "$.id"}),
        settings(user={"path": "$.id", "and_key": True}),
        settings(event_time={"path": "$.at", "unit": "ms"}),
        settings(public=("$.größe",)),
        settings(public=("$['a\"b']",)),
        settings(public=("$['']",)),
        settings(public=tuple(f"$.k{i}" for i in range(32))),
    ],
)
def test_other_selections_are_read_by_the_definition(by: RecordSettings) -> None:
    value = b'{"activity":"walking","id":"user-0","at":%d}' % NOW
    columns = read(value, by=by)
    assert list(columns.documents) == [0]
    assert released(columns, by=by).all() == [b'{"activity":"still"}']


def test_a_deeper_protected_field_is_read_by_the_definition() -> None:
    by = settings("$.device.activity", public=())
    columns = read(b'{"device":{"activity":"walking"}}', by=by)
    assert released(columns, by=by).all() == [b'{"device":{"activity":"still"}}']


@pytest.mark.parametrize("time", [-1, -2, (1 << 63) - 1, -(1 << 63), 4_102_444_800_000])
def test_a_time_out_of_range_is_refused(time: int) -> None:
    columns = ColumnReader(settings(), WORDS).read(InputBlock.of([Record(0, time, b"u", b'{"activity":"still"}')]))
    reason = names.TIME_MISSING if time == -1 else names.TIME_OUT_OF_RANGE
    assert columns.rejected == [(0, Rejected(reason, "$timestamp"))]


def test_records_without_key_or_value_do_not_disturb_their_neighbours() -> None:
    plain = b'{"activity":"still"}'
    given = [Record(0, NOW, None, plain), Record(1, NOW, b"u", None), Record(2, 1 << 62, b"u", plain)]
    columns = ColumnReader(settings(), WORDS).read(InputBlock.of([*given, Record(3, NOW, b"u", plain)]))
    assert columns.positions.tolist() == [3]
    assert [rejected.reason for _, rejected in columns.rejected] == [
        names.USER_MISSING,
        names.TOMBSTONE,
        names.TIME_OUT_OF_RANGE,
    ]


def test_what_stands_behind_a_text_never_completes_it() -> None:
    """On the wire the headers follow: sixteen of them are a space, and a name of 22 bytes begins with a comma."""
    cut = b'{"activity":"still"'
    headers = [('"n":1}' + 16 * " ", b"v")] * 16
    given = [Record(0, NOW, b"u", cut, headers), Record(1, NOW, b"u", cut), Record(2, NOW, b"u", cut + b"}", headers)]
    block = InputBlock.of(given)
    assert block.buffer[block.spans[0, VALUE_END] :].startswith(b' ,"n":1}')
    columns = ColumnReader(settings(), WORDS).read(block)
    assert columns.rejected == [(0, Rejected(names.NOT_JSON, "$")), (1, Rejected(names.NOT_JSON, "$"))]
    assert columns.positions.tolist() == [2]
