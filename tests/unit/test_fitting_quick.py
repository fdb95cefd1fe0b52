"""Chunks that are read at once, against the door: the same answers, or the chunk is left to the door."""

from __future__ import annotations

import json

import pytest
from fitting_help import NAMES, RECORD, as_json, events_of

from beliefs.alphabet import Alphabet, Bins, Categories, IntegerRange
from stream.fitting.alphabets import OpenIntegers, OpenTexts, WithOther
from stream.fitting.quick import Quick
from stream.fitting.rows import Cells, Texts
from stream.fitting.sources import Line
from stream.records.parse import Reader
from stream.records.paths import parse_path
from stream.settings.model import EventTimeSettings, ProtectSettings, RecordSettings, UserSettings

GOOD = as_json(events_of(40)).splitlines()
NESTED = RecordSettings(
    user=UserSettings(path=parse_path("$.who.id"), partitioned_by_user=True),
    event_time=EventTimeSettings(path=parse_path("$.at"), unit="s"),
    protect=ProtectSettings(path=parse_path("$.what[1]")),
)
ODD = [
    b"",
    b"x",
    b"[]",
    b'["user"]',
    b'"user"',
    b"7",
    b"null",
    b"{}",
    b"\xff",
    b'{"user": "u", "activity": "run", "at": 1}, {"user": "u"',
    b'{"user": "u", "activity": "run"}',
    b'{"user": "u", "activity": "run", "at": null}',
    b'{"user": "u", "activity": "run", "at": -1}',
    b'{"user": "u", "activity": "run", "at": 4102444800000}',
    b'{"user": "u", "activity": "run", "at": 4102444799999}',
    b'{"user": "u", "activity": "run", "at": 18446744073709551615}',
    b'{"user": "u", "activity": "run", "at": 99999999999999999999}',
    b'{"user": "u", "activity": "run", "at": 1.0}',
    b'{"user": "u", "activity": "run", "at": true}',
    b'{"user": "u", "activity": "run", "at": "1"}',
    b'{"user": "u", "activity": "run", "at": NaN}',
    b'{"user": "", "activity": "run", "at": 1}',
    b'{"user": null, "activity": "run", "at": 1}',
    b'{"user": 7, "activity": "run", "at": 1}',
    b'{"user": 7.5, "activity": "run", "at": 1}',
    b'{"user": true, "activity": "run", "at": 1}',
    b'{"user": ["u"], "activity": "run", "at": 1}',
    json.dumps({"user": "u" * 1024, "activity": "run", "at": 1}).encode(),
    json.dumps({"user": "u" * 1025, "activity": "run", "at": 1}).encode(),
    json.dumps({"user": "\u00e9" * 600, "activity": "run", "at": 1}).encode(),
    json.dumps({"user": "u", "activity": "run", "at": 1, "more": "x" * 70_000}).encode(),
    b'{"user": "u", "user": "v", "activity": "run", "at": 1}',
    b'{"user": "u", "activity": "run", "at": 1, "more": {"a": 1, "a": 2}}',
    b'{"user": "u", "activity": "run", "at": 1, "more": {"a": 1, "b": "12:30"}}',
    b'{"user": "u:v", "activity": "run", "at": 1}',
    b'{"user": "u", "activity": "fly", "at": 1}',
    b'{"user": "u", "activity": 1, "at": 1}',
    b'{"user": "u", "activity": 1.0, "at": 1}',
    b'{"user": "u", "activity": true, "at": 1}',
    b'{"user": "u", "activity": ["run"], "at": 1}',
    b'{"user": "\\ud800", "activity": "run", "at": 1}',
    b'{"user": "u", "activity": "run", "at": 1, "deep": ' + b"[" * 65 + b"]" * 65 + b"}",
    b'{"user": "u", "activity": "run", "at": 1, "deep": ' + b"[" * 63 + b"]" * 63 + b"}",
    b'{"who": {"id": "u"}, "what": [0, "run"], "at": 1}',
    b'{"who": {"id": "u"}, "what": [0, "run"], "at": 4102444800}',
    b'{"who": {"id": "u"}, "what": [0, "run"], "at": 4102444799}',
    b'{"who": {"id": "u"}, "what": {"1": "run"}, "at": 1}',
    b'{"who": "id", "what": [0, "run"], "at": 1}',
]
ALPHABETS: list[Alphabet] = [
    Categories(NAMES),
    IntegerRange(0, 3),
    WithOther([*NAMES, "other"], "other"),
    Bins(0.0, 2.0, 2),
]


def held(records: Texts | Cells, record: RecordSettings, alphabet: Alphabet) -> bool:
    """Whether the chunk was read at once; what the door says must then be the same."""
    plain = Quick(record, alphabet).read(records)
    if plain is None:
        return False
    block = Reader(record, alphabet).read_block(list(records))
    assert block.rejected == []
    assert plain.users == block.users
    assert plain.symbols.tolist() == block.symbols
    assert plain.times.tolist() == block.times
    return True


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda alphabet: type(alphabet).__name__)
@pytest.mark.parametrize("record", [RECORD, NESTED], ids=["flat", "nested"])
def test_lines_are_read_as_the_door_reads_them_or_left_to_it(record: RecordSettings, alphabet: Alphabet) -> None:
    nested = [b'{"who": {"id": "u"}, "what": [0, "run"], "at": %d}' % time for time in range(5)]
    good = GOOD if record is RECORD else nested
    for odd in ODD:
        door = Reader(record, alphabet).read(Line(None, odd, 0))
        for texts in ([odd], [*good, odd], [odd, *good]):
            was_read = held(Texts(texts), record, alphabet)
            assert not was_read or type(door).__name__ == "RawEvent"
    served = isinstance(alphabet, Categories)
    assert held(Texts(good), record, alphabet) == served


def test_two_halves_of_a_record_in_two_lines_are_no_record() -> None:
    """Together they are two objects, as two lines should be."""
    halves = [b'{"user": "u", "activity": "run", "at": 1, "x": [{}', b'{}]}, {"user": "u", "activity": "run", "at": 2}']
    assert not held(Texts(halves), RECORD, Categories(NAMES))


ROWS = [
    ("u", "run", 1),
    (7, "run", 1),
    (None, "run", 1),
    ("", "run", 1),
    ("u\udce9", "run", 1),
    ("u", "r\udce9n", 1),
    ("u", None, 1),
    ("u", 1, 1),
    ("u", 1.5, 1),
    ("u", True, 1),
    ("u", float("nan"), 1),
    ("u", b"run", 1),
    ("u", "run", "1"),
    ("u", "run", 1.5),
    ("u", "run", -1),
    ("u", "run", 1 << 70),
    ("u", "run", None),
    ("u" * 1025, "run", 1),
    ("\x01" * 900, "run", 1),
]


@pytest.mark.parametrize("most", [65_536, 2048, 64])
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda alphabet: type(alphabet).__name__)
def test_rows_are_read_as_the_door_reads_them_or_left_to_it(alphabet: Alphabet, most: int) -> None:
    record = RECORD.model_copy(update={"max_bytes": most})
    paths = [parse_path(text) for text in ("$.user", "$.activity", "$.at")]
    good = [("u", "run", 1), ("v", "walk", 2)] if alphabet.index_of("run") is not None else [("u", 1, 1), ("v", 0, 2)]
    for odd in ROWS:
        for rows in ([odd], [*good, odd]):
            held(Cells(paths, [list(cells) for cells in zip(*rows, strict=True)]), record, alphabet)
    columns = [list(cells) for cells in zip(*good, strict=True)]
    assert held(Cells(paths, columns), record, alphabet) == (most > 64 and not isinstance(alphabet, Bins))


def test_what_is_not_declared_is_taken_in_only_from_records_in_order() -> None:
    texts = OpenTexts()
    assert Quick(RECORD, texts).read(Texts([b'{"user": "", "activity": "new", "at": 1}', *GOOD])) is None
    assert texts.lookup == {}
    assert Quick(RECORD, texts).read(Texts(GOOD)) is not None
    assert sorted(map(str, texts.lookup)) == NAMES
    assert Quick(RECORD, OpenIntegers()).read(Texts(GOOD)) is None


def test_records_of_a_chunk_are_made_when_they_are_asked_for() -> None:
    cells = Cells([parse_path("$.a.b"), parse_path("$.c")], [[1, 2], ["x", "y"]])
    assert [line.value for line in cells] == [b'{"a":{"b":1},"c":"x"}', b'{"a":{"b":2},"c":"y"}']
    assert [line.value for line in Texts([b"1", b"2", b"3"])[1:]] == [b"2", b"3"]
    with pytest.raises(IndexError):
        cells[2]
