"""Read as columns or one by one: the same events, the same refusals, and the same released bytes.

`Reader.read` and `Writer.value` are the definition. A scan with one rule less is planted, uncompiled, in the place of
the real one: each is caught.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import malformed
import nearly_plain
import numpy as np
import orjson
import pytest
from nearly_plain import NOW, Record

import stream.records.scan
from beliefs.alphabet import Alphabet, Bins, Categories, IntegerRange
from stream.protocol.inputs import InputBlock
from stream.protocol.texts import Texts
from stream.records.assemble import Reported
from stream.records.columns import ColumnReader, ColumnWriter
from stream.records.fields import FieldForm
from stream.records.parse import Reader
from stream.records.paths import parse_path
from stream.records.release import Writer
from stream.records.shapes import RawEvent, Rejected
from stream.settings.model import RecordSettings

RECORDS = 120_000
DECIMALS = 120_000
BLOCK = 400
FOLDER = Path(stream.records.scan.__file__).parent
WORDS = Categories(["still", "walking", "größe", "running", "", "a:b", '"'])


class Both:
    """One selection, both ways."""

    def __init__(self, alphabet: Alphabet, fields: tuple[FieldForm, ...] = (), **settings: Any) -> None:
        checked = RecordSettings.model_validate({"protect": {"path": "$.activity"}, "max_bytes": 600, **settings})
        self.alphabet, self.fields = alphabet, fields
        given = (checked, alphabet, fields)
        self.reader, self.writer = Reader(*given), Writer(*given)
        self.column_reader, self.column_writer = ColumnReader(*given), ColumnWriter(*given)


# The first three are served by the scan, the others by the definition alone.
SELECTIONS = (
    Both(WORDS, public=("$.n", "$.level", "$.place")),
    Both(IntegerRange(-1, 17), public=("$.place", "$.n")),
    Both(WORDS),
    Both(WORDS, public=("$.n", "$.level[0]")),
    Both(WORDS, public=("$.n",), user={"path": "$.place"}),
)


def field(path: str, alphabet: Alphabet, at_most: int | None = None) -> FieldForm:
    return FieldForm(path.removeprefix("$."), parse_path(path), alphabet, at_most)


JOB = field("$.job", Categories(["clerk", "nurse", "größe", "pilot", "walking", "a:b"]))
HOME = field("$.home", Categories(["nurse2", "clerk", "c 2", "", "c 1"]))
AGE, FLOOR = field("$.age", IntegerRange(0, 10)), field("$.floor", IntegerRange(-2, 30))
NOBODY = Categories(["nobody"])
REPORTS = (
    b'"clerk"',
    b"null",
    b"-2",
    '"größe"'.encode(),
    b'{"version":1,"length":9,"bits":"gAA="}',
    b"[47.3,8.4]",
    b'""',
)
# The first two are served by the scan, the others by the definition alone.
WITH_FIELDS = (
    Both(WORDS, (JOB, AGE, HOME, FLOOR), public=("$.n",)),
    Both(NOBODY, (FLOOR, HOME, JOB), protect={}, public=("$.age", "$.n")),
    Both(NOBODY, (JOB, field("$.tags", Categories(["a", "b", "c"]), 2)), protect={}, public=("$.n",)),
    Both(WORDS, (JOB, field("$.age", Bins(0.0, 100.0, 7)))),
    Both(NOBODY, (field("$.tags[1]", Categories(["a", "b", "c"])), JOB), protect={}),
)


def check_block(both: Both, records: Sequence[Record], seed: int) -> Counter[str]:
    """Hold a block to the definition; count what was plain, what the definition accepted and what it refused."""
    answers = [both.reader.read(record) for record in records]
    columns = both.column_reader.read(InputBlock.of(records))
    accepted = [place for place, answer in enumerate(answers) if not isinstance(answer, Rejected)]
    events = [answer for answer in answers if isinstance(answer, RawEvent)]
    assert columns.rejected == [(i, answer) for i, answer in enumerate(answers) if isinstance(answer, Rejected)]
    assert columns.positions.tolist() == accepted
    assert columns.users == [event.user for event in events]
    assert columns.symbols.tolist() == [event.symbol for event in events]
    assert columns.times.tolist() == [event.time for event in events]
    assert columns.offsets.tolist() == [records[place].offset for place in accepted]
    assert [column.dtype for column in columns.fields] == [np.int64] * len(both.fields)
    assert [column.shape[1:] for column in columns.fields] == [widths(form) for form in both.fields]
    flat = [slot.tolist() for column in columns.fields for slot in np.atleast_2d(column.T)]
    assert [tuple(slot[row] for slot in flat) for row in range(len(events))] == [event.fields for event in events]
    assert all(columns.documents[row] == events[row].document for row in columns.documents)
    draw = random.Random(seed)
    some = [draw.randrange(len(events)) for _ in range(len(events) // 2)]
    for rows in (range(len(events)), some):
        symbols = [draw.randrange(both.alphabet.size) for _ in rows]
        reports = [reported(draw, len(rows)) for _ in both.fields]
        texts = both.column_writer.texts(columns, np.array(rows, np.int64), np.array(symbols, np.int64), reports)
        for m, row in enumerate(rows):
            told = [None if report.at[m] < 0 else report.texts.text(report.at[m]) for report in reports]
            assert texts.text(m) == both.writer.value(events[row].document, symbols[m], told)
    return Counter(
        plain=len(events) - len(columns.documents), looked_at=len(columns.documents), refused=len(columns.rejected)
    )


def reported(draw: random.Random, count: int) -> Reported:
    """Some texts, of which each event tells one, or none."""
    some = draw.sample(REPORTS, draw.randrange(1, len(REPORTS)))
    at = [draw.randrange(-1, len(some)) for _ in range(count)]
    return Reported(Texts.of(some), np.array(at, dtype=np.int64))


def widths(form: FieldForm) -> tuple[int, ...]:
    return () if form.at_most is None else (form.at_most,)


def check_all(selections: Sequence[Both], count: int, make: Callable[[int], Record]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for index, first in enumerate(range(0, count, BLOCK)):
        records = [make(number) for number in range(first, first + BLOCK)]
        counts.update(check_block(selections[index % len(selections)], records, seed=first))
    return counts


def malformed_record(number: int) -> Record:
    made = malformed.record(number)
    return Record(number, made.timestamp, made.key, made.value)


def with_decimal(number: int) -> Record:
    written = nearly_plain.decimal(random.Random(f"decimal {number}"))
    return Record(number, NOW, b"u", b'{"activity":"still","n":%b}' % written.encode())


def of_several(number: int) -> Record:
    return nearly_plain.record(number, nearly_plain.SEVERAL)


def with_lists(number: int) -> Record:
    return nearly_plain.record(number, nearly_plain.LISTS)


def either(number: int) -> Record:
    return (nearly_plain.record, with_decimal)[number % 2](number)


def test_nearly_plain_records_are_read_and_written_as_defined() -> None:
    counts = check_all(SELECTIONS[:3], RECORDS, nearly_plain.record)
    # Enough of each kind, or the comparison would say little.
    assert counts["plain"] > RECORDS // 5
    assert counts["looked_at"] > RECORDS // 20
    assert counts["refused"] > RECORDS // 4


def test_malformed_records_are_read_and_written_as_defined() -> None:
    counts = check_all(SELECTIONS[:3], 24_000, malformed_record)
    assert counts["looked_at"] > 500
    assert counts["refused"] > 10_000


@pytest.mark.parametrize("both", SELECTIONS[3:], ids=["deeper public field", "user in a field"])
def test_selections_that_the_scan_cannot_serve_are_read_by_the_definition(both: Both) -> None:
    counts = check_all([both], 8_000, nearly_plain.record)
    assert counts["plain"] == 0
    assert counts["looked_at"] > 500


def test_several_fields_are_read_as_defined() -> None:
    counts = check_all(WITH_FIELDS[:2], 40_000, of_several)
    assert counts["plain"] > 40_000 // 5
    assert counts["looked_at"] > 40_000 // 40
    assert counts["refused"] > 40_000 // 5


@pytest.mark.parametrize("both", WITH_FIELDS[2:], ids=["a list", "cells", "a deeper field"])
def test_fields_that_the_scan_cannot_serve_are_read_by_the_definition(both: Both) -> None:
    counts = check_all([both], 8_000, with_lists)
    assert counts["plain"] == 0
    assert counts["looked_at"] > 500


def test_decimals_are_released_as_the_definition_writes_them() -> None:
    counts = check_all(SELECTIONS[:1], DECIMALS, with_decimal)
    assert counts["refused"] == 0
    assert counts["plain"] > DECIMALS // 4
    assert counts["looked_at"] > DECIMALS // 4


def test_decimals_written_as_the_definition_would_are_plain() -> None:
    """Of the decimals with at most 15 digits, from 10^-4 on, only those are looked at that lose a zero at the end."""
    draw = random.Random(5)
    texts = [orjson.dumps(round(draw.random() * 10 ** draw.randrange(7), draw.randrange(1, 9))) for _ in range(5_000)]
    texts = [text for text in texts if b"e" not in text]
    records = [Record(i, NOW, b"u", b'{"activity":"still","n":%b}' % text) for i, text in enumerate(texts)]
    columns = SELECTIONS[0].column_reader.read(InputBlock.of(records))
    assert len(texts) > 4_900
    assert len(columns.users) == len(texts)
    assert len(columns.documents) < 5  # the few below 10^-4
    assert all(float(texts[row]) < 1e-4 for row in columns.documents)


# What is compiled, in the order in which its sources can be run one behind the other.
SOURCES = ("plain", "lookups", "scan", "assemble")
FAULTS = {
    "declared name twice": ("scan", "places[field, 0] != ABSENT or ", ""),
    "other name twice": ("scan", "            return True\n", "            return False\n"),
    "one name for all of its length": ("lookups", "if one[here] != other[there]:", "if False:"),
    "rest behind the brace": ("scan", "places[i]) == end", "places[i]) != NOT_PLAIN"),
    "no colon": ("scan", "if data[at] != _COLON:", "if False:"),
    "any number of bytes": ("scan", "0 <= start < end <= start + block.max_bytes", "True"),
    "any user": ("scan", "0 <= user < user_end <= user + LONGEST_USER_BYTES", "True"),
    "any time": ("scan", "0 <= block.times[i] < END_OF_TIME_MS", "True"),
    "public value that is written otherwise": ("scan", "not stays(data, value, end)", "False"),
    "control bytes in a text": ("plain", "0x20 <= byte <=", "0x01 <= byte <="),
    "zero bytes in a text": ("plain", "0x20 <= byte <=", "0x00 <= byte <="),
    "any bytes from 0x80 on in a text": ("plain", "byte <= 0x7E", "byte <= 0xFF"),
    "backslash in a text": ("plain", "byte not in b'\"\\\\'", "byte not in b'\"'"),
    "white space of other kinds": ("plain", "data[at] == _TAB:", "data[at] == _TAB or data[at] == 0x0B:"),
    "first letter of a word": ("plain", "if data[at + i] != word[i]:", "if False:"),
    "leading zero": ("plain", " or (zero and point - whole > 1)", ""),
    "minus zero": ("plain", "return NOT_PLAIN if zero and whole > at else point", "return point"),
    "integer of any length": ("plain", " or point - whole > _LONGEST_WHOLE", ""),
    "no digit behind the point": ("plain", "return NOT_PLAIN if end == point + 1 else end", "return end"),
    "no digit before the point": ("plain", "if point == whole or ", "if "),
    "seventeen digits": ("plain", "_EXACT_DIGITS: Final = 15", "_EXACT_DIGITS: Final = 17"),
    "zeros at the end": ("plain", "and shortest and large", "and large"),
    "small decimals": ("plain", "and shortest and large", "and shortest"),
    "any text of the slot": ("lookups", "before, members.ends[text]):", "before, members.ends[text]) or True:"),
    "number for a text": ("lookups", "if data[start] != QUOTE:", "if False:"),
    "integer with a fraction": (
        "lookups",
        "            return CLOSELY\n        value =",
        "            break\n        value =",
    ),
    "sign of an integer": ("lookups", "(-value if first > start else value)", "value"),
    "integer outside of the alphabet": ("lookups", "0 <= index < members.tables[field, _SIZE]", "0 <= index"),
    "a value that a field does not know": ("scan", "        if symbol == CLOSELY:\n            return False\n", ""),
    "the slots of the first field for all": (
        "lookups",
        "first, texts = members.tables[field, ",
        "first, texts = members.tables[0, ",
    ),
    "the texts of the first field for all": ("lookups", "members.tables[field, _TEXTS]\n", "0\n"),
    "one lowest value for all": ("lookups", "- members.tables[field, _LOW]", "- members.tables[0, _LOW]"),
    "public values that are written otherwise": ("scan", "field < public and not stays", "field < 1 and not stays"),
}


def planted(*fault: str) -> dict[str, Callable[..., Any]]:
    """The compiled functions as Python, with one piece of their sources replaced."""
    room: dict[str, Any] = {"__name__": "planted", "kernel": lambda function: function}
    for stem in SOURCES:
        source = (FOLDER / f"{stem}.py").read_text(encoding="utf-8")
        if fault and stem == fault[0]:
            assert source.count(fault[1]) == 1, f"{stem}.py holds {source.count(fault[1])} times: {fault[1]}"
            source = source.replace(fault[1], fault[2])
        own = "|".join(["beliefs.native", *(f"stream.records.{other}" for other in SOURCES)])
        source = re.sub(rf"^from (?:{own}) import .*\n", "", source, flags=re.MULTILINE)
        exec(compile(source, f"planted {stem}.py", "exec"), room)
    return room


def check_scans() -> None:
    check_all(SELECTIONS[:3], 24_000, either)
    # A scan that finds less than it should would be right and slow.
    assert check_all(WITH_FIELDS[:2], 24_000, of_several)["plain"] > 24_000 // 5


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_scan_with_a_rule_less_is_caught(fault: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stream.records.columns.scan", planted(*fault)["scan"])
    with pytest.raises((AssertionError, IndexError)):
        check_scans()


def test_the_interpreter_does_the_same_and_never_leaves_a_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncompiled, a walk or a copy that left its buffer would raise."""
    room = planted()
    for name in ("scan", "measure", "assemble"):
        monkeypatch.setattr(f"stream.records.columns.{name}", room[name])
    counts = check_all(SELECTIONS[:3], 12_000, nearly_plain.record)
    counts.update(check_all(SELECTIONS[:3], 12_000, malformed_record))
    assert counts["plain"] > 2_000
    assert check_all(WITH_FIELDS[:2], 8_000, of_several)["plain"] > 8_000 // 5
