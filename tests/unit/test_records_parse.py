"""What a raw record becomes: an event, or a refusal with its reason and place."""

from __future__ import annotations

import pytest
from reading import NOW, NUMBERS, Record, read, reader

from stream import names
from stream.records.shapes import RawEvent, Rejected
from stream.records.strict import DEEPEST


def test_a_plain_event() -> None:
    event = read(b'{"activity":"walking","battery":0.93}')
    assert event == RawEvent(b"user-1", 1, NOW, {"activity": "walking", "battery": 0.93})


def nested(levels: int) -> bytes:
    return b'{"activity":"walking","x":' + b"[" * levels + b"]" * levels + b"}"


@pytest.mark.parametrize(
    ("value", "reason", "path"),
    [
        (None, names.TOMBSTONE, "$"),
        (b"", names.NOT_JSON, "$"),
        (b"   ", names.NOT_JSON, "$"),
        (b"{", names.NOT_JSON, "$"),
        (b'{"activity":"walking"', names.NOT_JSON, "$"),
        (b'{"activity":"walking"}x', names.NOT_JSON, "$"),
        (b'{"activity":"walking",}', names.NOT_JSON, "$"),
        (b"{'activity':'walking'}", names.NOT_JSON, "$"),
        (b'{"activity":"walking","x":NaN}', names.NOT_JSON, "$"),
        (b'{"activity":"walking","x":-Infinity}', names.NOT_JSON, "$"),
        (b'{"activity":"walking","x":1e999}', names.NOT_JSON, "$"),
        (b'{"activity":"walking","x":' + b"9" * 400 + b"}", names.NOT_JSON, "$"),
        (b'{"activity":"walking","x":01}', names.NOT_JSON, "$"),
        (b'{"activity":"walking","x":"\\ud800"}', names.NOT_JSON, "$"),
        (b'\xef\xbb\xbf{"activity":"walking"}', names.NOT_JSON, "$"),
        (b'{"activity":"walk\xffing"}', names.NOT_UTF8, "$"),
        (b"\xc0\xaf", names.NOT_UTF8, "$"),
        (b'"walking"', names.NOT_AN_OBJECT, "$"),
        (b'["activity"]', names.NOT_AN_OBJECT, "$"),
        (b"null", names.NOT_AN_OBJECT, "$"),
        (b"{}", names.FIELD_MISSING, "$.activity"),
        (b'{"Activity":"walking"}', names.FIELD_MISSING, "$.activity"),
        (b'{"activity":null}', names.FIELD_TYPE, "$.activity"),
        (b'{"activity":true}', names.FIELD_TYPE, "$.activity"),
        (b'{"activity":1}', names.FIELD_TYPE, "$.activity"),
        (b'{"activity":["walking"]}', names.FIELD_TYPE, "$.activity"),
        (b'{"activity":{"walking":1}}', names.FIELD_TYPE, "$.activity"),
        (b'{"activity":"flying"}', names.OUTSIDE_ALPHABET, "$.activity"),
        (b'{"activity":"Walking"}', names.OUTSIDE_ALPHABET, "$.activity"),
        (b'{"activity":""}', names.OUTSIDE_ALPHABET, "$.activity"),
        (b'{"activity":"walking","x":"' + b"a" * 65_536 + b'"}', names.TOO_LARGE, "$"),
        (nested(DEEPEST), names.TOO_DEEP, "$"),
        (nested(300), names.TOO_DEEP, "$"),
        (nested(5000), names.TOO_DEEP, "$"),
        (b'{"activity":"walking","activity":"still"}', names.DUPLICATE_KEY, "$"),
        (b'{"activity":"walking","activity":"walking"}', names.DUPLICATE_KEY, "$"),
        (b'{"activity":"walking","a\\u0063tivity":"still"}', names.DUPLICATE_KEY, "$"),
        (b'{"activity":"walking","x":{"a":1,"a":2}}', names.DUPLICATE_KEY, "$"),
        (b'{"activity":"walking","x":[{"a":1,"b":{},"a":2}]}', names.DUPLICATE_KEY, "$"),
        # A dropped member is made up for by escaped colons, which count only once they are written out.
        (b'{"activity":"walking","x":"\\u003a","y":1,"y":2}', names.DUPLICATE_KEY, "$"),
        (b'{"activity":"walking","x":"\\u003A\\u003a","y":"a:b","y":2}', names.DUPLICATE_KEY, "$"),
    ],
)
def test_what_is_refused_and_why(value: bytes | None, reason: str, path: str) -> None:
    assert read(value) == Rejected(reason, path)


@pytest.mark.parametrize(
    "value",
    [
        b' \n{"activity" : "walking"}\r\n',
        b'{"activity":"walking","t":"12:30:00"}',
        b'{"activity":"walking","t":"\\u003a"}',
        b'{"activity":"walking","t":"\\\\u003a"}',
        b'{"activity":"walking","a:b":{":":[{"::":":"}]}}',
        b'{"activity":"walking","x":{"activity":"still"}}',
        b'{"activity":"walking","x":[[[{}]]]}',
        b'{"activity":"walking","x":"[[[[{{{{]' + b"[" * 200 + b'"}',
        b'{"activity":"w\\u0061lking"}',
        b'{"activity":"walking","x":1.7976931348623157e308}',
        b'{"activity":"walking","x":123456789012345678901234567890}',
        nested(DEEPEST - 1),
    ],
)
def test_what_is_unusual_and_in_order(value: bytes) -> None:
    event = read(value)
    assert isinstance(event, RawEvent), event
    assert event.symbol == 1


def test_a_value_with_a_colon_is_a_value() -> None:
    event = read(b'{"activity":"a:b"}')
    assert isinstance(event, RawEvent)
    assert event.symbol == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0", 2),
        (b"-0", 2),
        (b"5", 7),
        (b"-2", 0),
        (b"6", names.OUTSIDE_ALPHABET),
        (b"18446744073709551616", names.FIELD_TYPE),
        (b"1.0", names.FIELD_TYPE),
        (b"1e0", names.FIELD_TYPE),
        (b"true", names.FIELD_TYPE),
        (b'"1"', names.FIELD_TYPE),
    ],
)
def test_an_integer_is_written_as_one(text: bytes, expected: int | str) -> None:
    found = read(b'{"activity":' + text + b"}", reader(NUMBERS))
    assert (found.symbol if isinstance(found, RawEvent) else found.reason) == expected


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 6])
def test_the_protected_field_lies_at_any_depth(depth: int) -> None:
    steps = [f"s{level}" for level in range(depth)]
    text = b"".join(b'{"%s":' % step.encode() for step in steps) + b'"running"' + b"}" * depth
    event = read(text, reader(path="$." + ".".join(steps)))
    assert isinstance(event, RawEvent)
    assert event.symbol == 2


def test_the_protected_field_lies_in_an_array() -> None:
    by = reader(path="$.readings[1].activity")
    assert isinstance(read(b'{"readings":[{},{"activity":"still"}]}', by), RawEvent)
    missing = Rejected(names.FIELD_MISSING, "$.readings[1].activity")
    for value in (b'{"readings":[{}]}', b'{"readings":"still"}', b'{"readings":{"1":{"activity":"still"}}}'):
        assert read(value, by) == missing


WALKING = b'{"activity":"walking"}'


@pytest.mark.parametrize(
    ("field", "kept"),
    [
        (b"18446744073709551615", True),
        (b"18446744073709551616", True),
        (b"18446744073709551617", False),
        (b"-9223372036854775809", False),
        (b"1e30", True),
        (b"[1,[18446744073709551617]]", False),
        (b'{"a":{"b":18446744073709551617}}', False),
        (b'{"a":[1e30,"18446744073709551617"]}', True),
    ],
)
def test_a_public_integer_leaves_as_it_came_or_not_at_all(field: bytes, kept: bool) -> None:
    value = b'{"activity":"still","n":' + field + b"}"
    found = read(value, reader(public=("$.n",)))
    assert isinstance(found, RawEvent) if kept else found == Rejected(names.NUMBER_OUT_OF_RANGE, "$.n")
    assert isinstance(read(value), RawEvent), "a field that is dropped may hold anything"


def test_a_block_keeps_places_and_order() -> None:
    values = [WALKING, None, b'{"activity":"still"}', b"[]", b'{"activity":"running","x":{"y":":"}}']
    block = reader().read_block([Record(value, key=b"%d" % place) for place, value in enumerate(values)])
    assert block.positions == [0, 2, 4]
    assert block.users == [b"0", b"2", b"4"]
    assert block.symbols == [1, 0, 2]
    assert block.rejected == [(1, Rejected(names.TOMBSTONE, "$")), (3, Rejected(names.NOT_AN_OBJECT, "$"))]
    assert reader().read_block([]).positions == []


def test_nothing_that_is_shown_holds_a_value() -> None:
    event = read(b'{"activity":"walking","x":"canary"}', key=b"canary")
    block = reader().read_block([Record(b'{"activity":"walking","x":"canary"}', key=b"canary")])
    assert "canary" not in repr(event) + repr(block) + str(event) + str(block)
