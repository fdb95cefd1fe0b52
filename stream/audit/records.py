"""Released records, read into arrays: whose, which step, which value, which outcome, and what is wrong with them."""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from beliefs.alphabet import Alphabet
from stream import names
from stream.audit.amounts import Integers
from stream.audit.book import FORECAST, RELEASE
from stream.audit.field_records import UNREADABLE, FieldReader
from stream.audit.field_rules import Field
from stream.audit.places import Places
from stream.records.paths import MISSING, Path, getter

# What may be wrong with the form of a record. Those that make it UNUSABLE keep it out of the recomputation.
OTHER_POLICY, OTHER_MODEL, STRANGE_HEADER, STRANGE_FIELD, BROKER_TIME = 1, 2, 4, 8, 16
NO_VALUE, NO_HEADERS, NO_KEY, NO_PLACE = 32, 64, 128, 256
UNUSABLE: Final = NO_VALUE | NO_HEADERS | NO_KEY | NO_PLACE

Row = tuple[int, int, int, int, int, int, int, int, int, int]

ID_BYTES: Final = 16
_LARGEST_STEP: Final = 1 << 62
_CACHED_VALUES: Final = 1 << 16
_LOG_APPEND_TIME: Final = 1


class Record(Protocol):
    """A record as a consumer hands it over."""

    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def timestamp_type(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes]]: ...


@dataclass(frozen=True)
class Form:
    """How a released record must look, from the public settings and the model. Where `protected` is None no field's
    values follow one another, and the alphabet has a single value, which no record bears.
    """

    alphabet: Alphabet
    protected: Path | None
    public: tuple[Path, ...]
    headers: frozenset[str]
    policy: bytes
    model: bytes
    windows: bool = False
    fields: tuple[Field, ...] = ()


class Parsed(NamedTuple):
    """One entry a record; `form` is 0 where nothing is wrong. Entries of unusable records hold nothing else. `place` is
    where in its window a record stands, packed by `stream.audit.places`; `signs` the number of what its header says of
    the fields that are protected each by itself, or UNREADABLE.
    """

    user: Integers
    step: Integers
    time: Integers
    value: Integers
    outcome: Integers
    place: Integers
    offset: Integers
    id: NDArray[np.void]
    content: Integers
    form: Integers
    signs: Integers = np.zeros(0, dtype=np.int64)


@dataclass
class Reader:
    """Reads one partition. `users` gives each key its number, in the order of first appearance."""

    form: Form
    users: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        followed = () if self.form.protected is None else (self.form.protected,)
        self._getters = [getter(path) for path in followed]
        self.fields = FieldReader(self.form.fields) if self.form.fields else None
        reported = [field.path for field in self.form.fields]
        self._allowed = [path.steps for path in (*self.form.public, *followed, *reported)]
        flat = all(len(steps) == 1 for steps in self._allowed)
        self._names = frozenset(str(steps[0]) for steps in self._allowed) if flat else None
        self._known: dict[bytes, tuple[int, int, int]] = {}
        unused = {names.HEADER_WINDOW: not self.form.windows, names.HEADER_FIELDS: not self.form.fields}
        self._own = frozenset(names.OWN_HEADERS) - {name for name, is_unused in unused.items() if is_unused}
        self._places = Places(self.form.alphabet.size)

    def read(self, records: Iterable[Record]) -> Parsed:
        rows: list[Row] = []
        ids: list[bytes] = []
        for record in records:
            row, release_id = self._read_one(record)
            rows.append(row)
            ids.append(release_id)
        columns = np.array(rows, dtype=np.int64).reshape(len(rows), 10).T
        user, step, time, value, outcome, place, offset, content, form, signs = columns.copy()
        hashes = np.frombuffer(unhexlify(b"".join(ids)), dtype=f"V{ID_BYTES}")
        return Parsed(user, step, time, value, outcome, place, offset, hashes, content, form, signs)

    def _read_one(self, record: Record) -> tuple[Row, bytes]:
        release_id, step, outcome, wrong = self._headers(record.headers)
        value, strange, signs = self._value(record)
        place, misplaced = self._places.read(record.headers) if self.form.windows else (0, False)
        wrong |= strange | (NO_PLACE if misplaced else 0)
        user = -1
        if record.key:
            user = self.users.setdefault(record.key, len(self.users))
        else:
            wrong |= NO_KEY
        if record.timestamp < 0 or record.timestamp_type == _LOG_APPEND_TIME:
            wrong |= BROKER_TIME
        content = hash((record.key, record.value, record.timestamp, tuple(record.headers)))
        row = (user, step, record.timestamp, value, outcome, place, record.offset, content, wrong, signs)
        return row, release_id

    def _headers(self, headers: Sequence[tuple[str, bytes]]) -> tuple[bytes, int, int, int]:
        found = dict(headers)
        wrong = 0
        if found.get(names.HEADER_POLICY) != self.form.policy:
            wrong |= OTHER_POLICY
        if found.get(names.HEADER_MODEL) != self.form.model:
            wrong |= OTHER_MODEL
        outcome = RELEASE
        said = found.get(names.HEADER_OUTCOME)
        if said is not None:
            outcome = FORECAST
            if said != names.FORECAST.encode():
                wrong |= STRANGE_HEADER
        if len(found) > 4 and not found.keys() <= self._own | self.form.headers:
            wrong |= STRANGE_HEADER
        release_id, text = found.get(names.HEADER_RELEASE_ID, b""), found.get(names.HEADER_STEP, b"")
        step = int(text) if text.isdigit() and len(text) < 20 else 0
        if not (0 < step < _LARGEST_STEP and is_id(release_id)):
            return b"0" * (2 * ID_BYTES), 0, outcome, wrong | NO_HEADERS
        return release_id, step, outcome, wrong

    def _value(self, record: Record) -> tuple[int, int, int]:
        """The index of the released value, what is wrong with the document, and the number of its fields' signs."""
        text = record.value
        if self.fields is not None:
            return self._read_value(text, self.fields, record.headers)
        known = self._known.get(text) if text is not None else (0, NO_VALUE, UNREADABLE)
        if known is None:
            known = self._read_value(text)
            if len(self._known) < _CACHED_VALUES and not self.form.public and text is not None:
                self._known[text] = known
        return known

    def _read_value(
        self, text: bytes | None, fields: FieldReader | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> tuple[int, int, int]:
        try:
            document = orjson.loads(text or b"")
        except orjson.JSONDecodeError:
            return 0, NO_VALUE, UNREADABLE
        index: int | None = 0
        for get in self._getters:
            value = get(document)
            index = None if value is MISSING else self.form.alphabet.released_index(value)
        if index is None or not isinstance(document, dict):
            return 0, NO_VALUE, UNREADABLE
        fits = document.keys() <= self._names if self._names is not None else declared(document, self._allowed)
        wrong = 0 if fits else STRANGE_FIELD
        if fields is None:
            return index, wrong, UNREADABLE
        signs, strange = fields.read(dict(headers).get(names.HEADER_FIELDS, b""), document, text or b"")
        return index, wrong | strange, signs


def is_id(text: bytes) -> bool:
    return len(text) == 2 * ID_BYTES and not text.translate(None, b"0123456789abcdef")


def declared(document: Any, paths: Sequence[tuple[str | int, ...]]) -> bool:
    """Whether everything in a document lies at or inside one of the paths; what fills an array up is null."""
    if any(not steps for steps in paths) or document is None:
        return True
    if isinstance(document, dict):
        inner: Iterable[tuple[str | int, Any]] = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    else:
        return False
    return all(declared(value, [steps[1:] for steps in paths if steps[0] == name]) for name, value in inner)
