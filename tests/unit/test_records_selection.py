"""Whose event a record is, and when it happened: from the record itself or from a field of it."""

from __future__ import annotations

import pytest
from reading import read, reader

from stream import names
from stream.records.parse import END_OF_TIME_MS, LONGEST_USER_BYTES
from stream.records.shapes import RawEvent, Rejected

WALKING = b'{"activity":"walking"}'


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (None, names.USER_MISSING),
        (b"", names.USER_EMPTY),
        (b"u" * LONGEST_USER_BYTES, None),
        (b"u" * (LONGEST_USER_BYTES + 1), names.USER_TOO_LONG),
        (b"\xff\x00", None),
    ],
)
def test_the_user_is_the_key(key: bytes | None, reason: str | None) -> None:
    found = read(WALKING, key=key)
    if reason is None:
        assert isinstance(found, RawEvent)
        assert found.user == key
    else:
        assert found == Rejected(reason, "$key")


@pytest.mark.parametrize(
    ("field", "key", "expected"),
    [
        (b'"u1"', b"u1", b"u1"),
        (b"17", b"17", b"17"),
        (b'"\xc3\xbc"', b"\xc3\xbc", b"\xc3\xbc"),
        (b'"u1"', b"u2", Rejected(names.USER_DISAGREES, "$.id")),
        (b'"u1"', None, Rejected(names.USER_MISSING, "$key")),
        (b'""', b"", Rejected(names.USER_EMPTY, "$.id")),
        (b"null", b"u1", Rejected(names.USER_MISSING, "$.id")),
        (b"true", b"true", Rejected(names.USER_TYPE, "$.id")),
        (b"1.5", b"1.5", Rejected(names.USER_TYPE, "$.id")),
        (b"[]", b"[]", Rejected(names.USER_TYPE, "$.id")),
        (b'"' + b"u" * 1025 + b'"', b"u" * 1025, Rejected(names.USER_TOO_LONG, "$.id")),
    ],
)
def test_the_user_is_a_field_and_the_key_agrees(field: bytes, key: bytes | None, expected: bytes | Rejected) -> None:
    by = reader(user={"path": "$.id", "and_key": True})
    found = read(b'{"activity":"still","id":' + field + b"}", by, key=key)
    assert (found.user if isinstance(found, RawEvent) else found) == expected


@pytest.mark.parametrize("key", [None, b"", b"other"])
def test_the_user_is_a_field_alone(key: bytes | None) -> None:
    by = reader(user={"path": "$.id", "partitioned_by_user": True})
    found = read(b'{"activity":"still","id":"u1"}', by, key=key)
    assert isinstance(found, RawEvent)
    assert found.user == b"u1"
    assert read(WALKING, by, key=key) == Rejected(names.USER_MISSING, "$.id")


@pytest.mark.parametrize(
    ("timestamp", "reason"),
    [
        (0, None),
        (END_OF_TIME_MS - 1, None),
        (END_OF_TIME_MS, names.TIME_OUT_OF_RANGE),
        (-1, names.TIME_MISSING),
        (-2, names.TIME_OUT_OF_RANGE),
        (1 << 63, names.TIME_OUT_OF_RANGE),
    ],
)
def test_the_time_is_the_records(timestamp: int, reason: str | None) -> None:
    found = read(WALKING, timestamp=timestamp)
    if reason is None:
        assert isinstance(found, RawEvent)
        assert found.time == timestamp
    else:
        assert found == Rejected(reason, "$timestamp")


@pytest.mark.parametrize(
    ("unit", "field", "expected"),
    [
        ("ms", b"1700000000001", 1_700_000_000_001),
        ("ms", b"0", 0),
        ("ms", b"1.5", names.TIME_TYPE),
        ("ms", b"true", names.TIME_TYPE),
        ("ms", b'"1700000000000"', names.TIME_TYPE),
        ("ms", b"null", names.TIME_MISSING),
        ("ms", b"-1", names.TIME_OUT_OF_RANGE),
        ("ms", b"4102444800000", names.TIME_OUT_OF_RANGE),
        ("s", b"1700000000", 1_700_000_000_000),
        ("s", b"1.001", 1001),
        ("s", b"1700000000.1239", 1_700_000_000_124),
        ("s", b"1e300", names.TIME_OUT_OF_RANGE),
        ("s", b"-0.1", names.TIME_OUT_OF_RANGE),
        ("s", b"false", names.TIME_TYPE),
        ("iso8601", b'"2023-11-14T22:13:20Z"', 1_700_000_000_000),
        ("iso8601", b'"2023-11-14T23:13:20.0019+01:00"', 1_700_000_000_001),
        ("iso8601", b'"2023-11-14T22:13:20"', names.TIME_TYPE),
        ("iso8601", b'"2023-11-14"', names.TIME_TYPE),
        ("iso8601", b'"yesterday"', names.TIME_TYPE),
        ("iso8601", b'"0001-01-01T00:00:00+23:59"', names.TIME_OUT_OF_RANGE),
        ("iso8601", b'"9999-12-31T23:59:59-23:59"', names.TIME_OUT_OF_RANGE),
        ("iso8601", b"1700000000", names.TIME_TYPE),
    ],
)
def test_the_time_is_a_field(unit: str, field: bytes, expected: int | str) -> None:
    by = reader(event_time={"path": "$.t", "unit": unit})
    found = read(b'{"activity":"still","t":' + field + b"}", by, timestamp=-1)
    assert (found.time if isinstance(found, RawEvent) else found.reason) == expected
    assert isinstance(found, RawEvent) or found.path == "$.t"
