"""Protected numbers and places: read into their cells, released as the middles of cells, refused with a reason."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
from nearly_plain import NOW, Record

from beliefs.alphabet import CLAMP, Alphabet, Bins, Grid
from stream import names
from stream.protocol.inputs import InputBlock
from stream.records.columns import ColumnReader, ColumnWriter
from stream.records.parse import Reader
from stream.records.shapes import RawEvent, Rejected
from stream.settings.model import RecordSettings

WARM = Bins(-10.0, 40.0, 100)
TOWN = Grid(Bins(47.3, 47.5, 20), Bins(8.4, 8.7, 30))
NAMED = Grid(TOWN.rows, TOWN.columns, ("lat", "lon"))
SETTINGS = RecordSettings.model_validate({"protect": {"path": "$.at"}, "public": ["$.battery"]})


def read(alphabet: Alphabet, written: bytes) -> RawEvent | Rejected:
    return Reader(SETTINGS, alphabet).read(Record(0, NOW, b"u", b'{"at":%b,"battery":1}' % written))


@pytest.mark.parametrize(
    ("alphabet", "written", "symbol"),
    [
        (WARM, b"21.04", 62),
        (WARM, b"21", 62),
        (WARM, b"-1e1", 0),
        (WARM, b"40.0", 99),
        (Bins(-10.0, 40.0, 100, CLAMP), b"18446744073709551615", 99),
        (Bins(-10.0, 40.0, 100, CLAMP), b"-300.5", 0),
        (TOWN, b"[47.3, 8.4]", 0),
        (TOWN, b"[47.499, 8.699]", 599),
        (NAMED, b'{"lon": 8.455, "lat": 47.31, "accuracy": 12}', 35),
    ],
)
def test_a_value_is_read_into_its_cell(alphabet: Alphabet, written: bytes, symbol: int) -> None:
    event = read(alphabet, written)
    assert isinstance(event, RawEvent)
    assert event.symbol == symbol


@pytest.mark.parametrize(
    ("alphabet", "written", "reason"),
    [
        (WARM, b"40.1", names.OUTSIDE_ALPHABET),
        (WARM, b'"21"', names.FIELD_TYPE),
        (WARM, b"true", names.FIELD_TYPE),
        (WARM, b"null", names.FIELD_TYPE),
        (WARM, b"[21]", names.FIELD_TYPE),
        (TOWN, b"[47.3, 9.4]", names.OUTSIDE_ALPHABET),
        (TOWN, b"[47.3]", names.FIELD_TYPE),
        (TOWN, b"[47.3, 8.4, 400]", names.FIELD_TYPE),
        (TOWN, b'[47.3, "8.4"]', names.FIELD_TYPE),
        (TOWN, b'{"lat": 47.3, "lon": 8.4}', names.FIELD_TYPE),
        (NAMED, b"[47.3, 8.4]", names.FIELD_TYPE),
        (NAMED, b'{"lat": 47.3}', names.FIELD_TYPE),
        (NAMED, b'{"lat": 47.3, "lon": 8.4, "lat": 47.3}', names.DUPLICATE_KEY),
    ],
)
def test_what_belongs_to_no_cell_is_refused_with_its_reason(alphabet: Alphabet, written: bytes, reason: str) -> None:
    answer = read(alphabet, written)
    assert isinstance(answer, Rejected)
    assert answer.reason == reason


@pytest.mark.parametrize("alphabet", [WARM, TOWN, NAMED])
def test_blocks_are_read_and_written_as_the_definition_says(alphabet: Alphabet) -> None:
    source = np.random.default_rng(4)
    symbols = source.integers(0, alphabet.size, 200)
    texts = [orjson.dumps({"at": alphabet.value_at(int(x)), "battery": i, "more": 1}) for i, x in enumerate(symbols)]
    texts[17] = b'{"at":"somewhere"}'
    records = [Record(i, NOW, b"u%d" % (i % 7), text) for i, text in enumerate(texts)]
    columns = ColumnReader(SETTINGS, alphabet).read(InputBlock.of(records))
    assert [place for place, _ in columns.rejected] == [17]
    assert columns.symbols.tolist() == [int(x) for i, x in enumerate(symbols) if i != 17]
    released = source.integers(0, alphabet.size, 199)
    written = ColumnWriter(SETTINGS, alphabet).texts(columns, np.arange(199), released).all()
    for text, symbol, place in zip(written, released.tolist(), columns.positions.tolist(), strict=True):
        assert orjson.loads(text) == {"battery": place, "at": alphabet.value_at(symbol)}
