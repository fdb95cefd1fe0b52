"""What leaves: the value of a released record, and the headers of the raw record that may go with it.

A released document is built from nothing: the public fields are put in one by one, then the protected field with its
released value, if there is one, then the fields that are protected each by itself. Their reports come as JSON texts; a
field without one is left out. What nobody declared public is never copied, so a field that a producer adds tomorrow is
dropped, not passed through.
"""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, Final

import orjson

from beliefs.alphabet import Alphabet
from stream.records.fields import FieldForm
from stream.records.paths import MISSING, Getter, Path, Setter, getter, setter
from stream.settings.model import RecordSettings

# What the chosen headers of one record may take up, names and values together with ten bytes each for their lengths. A
# record with more would not fit into the released topic, and its partition would stand still for ever.
CHOSEN_HEADERS_BYTES_MAX: Final = 12 << 10
_LENGTHS_BYTES: Final = 10
# Values written out in advance when nothing is public; a larger alphabet is written as it comes.
_LARGEST_TABLE: Final = 1 << 16


Told = Sequence[bytes | None]


class Writer:
    """Writes released values and reports as one pipeline's settings, one alphabet and the forms of its fields say."""

    def __init__(self, settings: RecordSettings, alphabet: Alphabet, fields: tuple[FieldForm, ...] = ()) -> None:
        self._released = [alphabet.value_at(index) for index in range(alphabet.size)]
        protected = settings.protect.path
        self._put_protected = None if protected is None else setter(protected)
        self._public: tuple[tuple[Getter, Setter], ...] = tuple((getter(p), setter(p)) for p in settings.public)
        self._names = _first_level(settings.public)
        self._protected_name = None if protected is None else _only_name(protected)
        self._put_reports = tuple(setter(form.path) for form in fields)
        small = not self._public and not fields and alphabet.size <= _LARGEST_TABLE
        self._table = [self._write({}, symbol) for symbol in range(alphabet.size)] if small else None

    def value(self, document: dict[str, Any], symbol: int, reports: Told = ()) -> bytes:
        """The released JSON of one event; `reports` has an entry for each field."""
        return self._write(document, symbol, reports) if self._table is None else self._table[symbol]

    def rewritten(self, text: bytes, symbol: int) -> bytes:
        """What `value` gives for this symbol, from what it gave for another."""
        out = orjson.loads(text)
        if self._put_protected is not None:
            self._put_protected(out, self._released[symbol])
        return b"%b" % orjson.dumps(out)

    def values(
        self, documents: Sequence[dict[str, Any]], symbols: Sequence[int], reports: Iterable[Told] | None = None
    ) -> list[bytes]:
        """The released JSON of many events: the same bytes as `value` gives one by one.

        Each text is copied, which looks idle and is not: orjson writes into a kilobyte and gives the rest back, so
        keeping its texts makes the heap grow and shrink by a page for nearly every one. The copy costs 0.04 us, the
        page fault 2 us.
        """
        if self._table is not None:
            table = self._table
            return [table[symbol] for symbol in symbols]
        if self._put_reports or self._names is None or self._protected_name is None:
            told = repeat((), len(symbols)) if reports is None else reports
            return [self._write(*each) for each in zip(documents, symbols, told, strict=True)]
        dumps, public, protected, released = orjson.dumps, self._names, self._protected_name, self._released
        written: list[bytes] = []
        for document, symbol in zip(documents, symbols, strict=True):
            out = {name: document[name] for name in public if name in document}
            out[protected] = released[symbol]
            written.append(b"%b" % dumps(out))
        return written

    def _write(self, document: dict[str, Any], symbol: int, reports: Told = ()) -> bytes:
        out: dict[str, Any] = {}
        for get, put in self._public:
            value = get(document)
            if value is not MISSING:
                put(out, value)
        if self._put_protected is not None:
            self._put_protected(out, self._released[symbol])
        for put, report in zip(self._put_reports, reports, strict=True):
            if report is not None:
                put(out, orjson.Fragment(report))
        return b"%b" % orjson.dumps(out)


def _only_name(path: Path) -> str | None:
    return str(path.steps[0]) if len(path.steps) == 1 else None


def _first_level(paths: Iterable[Path]) -> tuple[str, ...] | None:
    """The names of the paths if all of them lie at the first level."""
    found = [_only_name(path) for path in paths]
    return None if None in found else tuple(name for name in found if name is not None)


def chosen_headers(headers: Iterable[tuple[str, bytes | None]], chosen: frozenset[str]) -> list[tuple[str, bytes]]:
    """The raw record's headers that the settings let pass, in their order; one without a value passes as empty."""
    return [(name, value or b"") for name, value in headers if name in chosen]


def too_large_headers(headers: Iterable[tuple[str, bytes | None]], chosen: frozenset[str]) -> bool:
    """Whether the headers that would pass take up more than may."""
    sizes = [len(name.encode()) + len(value or b"") + _LENGTHS_BYTES for name, value in headers if name in chosen]
    return sum(sizes) > CHOSEN_HEADERS_BYTES_MAX
