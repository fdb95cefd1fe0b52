"""Reading one raw record both ways, for the tests of what is accepted and what is refused."""

from __future__ import annotations

from typing import Any, NamedTuple

from beliefs.alphabet import Categories, IntegerRange
from stream.records.parse import Reader
from stream.records.shapes import RawEvent, Rejected
from stream.settings.model import RecordSettings

WORDS = Categories(["still", "walking", "running", "a:b"])
NUMBERS = IntegerRange(-2, 5)
NOW = 1_700_000_000_000


class Record(NamedTuple):
    value: bytes | None
    key: bytes | None = b"user-1"
    timestamp: int = NOW


def reader(alphabet: Categories | IntegerRange = WORDS, path: str = "$.activity", **settings: Any) -> Reader:
    return Reader(RecordSettings.model_validate({"protect": {"path": path}, **settings}), alphabet)


def read(value: bytes | None, by: Reader | None = None, **rest: Any) -> RawEvent | Rejected:
    """Both ways of reading, which must agree."""
    chosen = by if by is not None else reader()
    record = Record(value, **rest)
    single = chosen.read(record)
    block = chosen.read_block([record])
    if isinstance(single, Rejected):
        assert (block.positions, block.rejected) == ([], [(0, single)])
    else:
        assert block.rejected == []
        parts = (block.positions, block.users, block.symbols, block.times, block.documents)
        assert parts == ([0], [single.user], [single.symbol], [single.time], [single.document])
    return single
