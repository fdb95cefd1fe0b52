"""Raw records become events here, once. Whatever passes this door is well formed everywhere behind it.

`Reader.read` says what is accepted, step by step, and gives each refusal its reason. `Reader.read_block` is the same
function for a whole block: one quick look that recognises what is plainly in order, and `read` for everything else. A
test holds the two to the same answers.
"""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, Final

import orjson

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from stream import names
from stream.records.fields import FieldForm, fields_reader, value_reader
from stream.records.paths import MISSING, Getter, Path, getter
from stream.records.shapes import Block, RawEvent, RawRecord, Rejected, Symbols
from stream.records.strict import exact_integers, load, may_be_too_deep, may_have_changed, repeats_a_key
from stream.records.times import TimeReader, time_reader
from stream.settings.model import RecordSettings

LONGEST_USER_BYTES: Final = 1024
END_OF_TIME_MS: Final = 4_102_444_800_000  # 2100-01-01T00:00:00Z

KEY: Final = "$key"
TIMESTAMP: Final = "$timestamp"
HEADERS: Final = "$headers"
WHOLE: Final = "$"

_NO_TIMESTAMP: Final = -1  # how Kafka says that a record has none


class Reader:
    """Reads raw records as one pipeline's settings and one alphabet say, and the fields that are protected each by
    itself. Where the settings name no protected field, every event has its symbol 0.
    """

    def __init__(self, settings: RecordSettings, alphabet: Alphabet, fields: tuple[FieldForm, ...] = ()) -> None:
        self._max_bytes = settings.max_bytes
        self._protected = settings.protect.path
        self._read_symbol = value_reader(alphabet)
        self._quick_protected: Getter = _nothing
        self._lookup: dict[Any, int] = {None: 0}
        self._kind: type | None = type(None)
        if self._protected is not None:
            self._get_protected = getter(self._protected)
            self._quick_protected = _raising_getter(self._protected)
            self._lookup, self._kind = {}, None
            if isinstance(alphabet, Categories | IntegerRange):
                self._lookup, self._kind = alphabet.lookup, alphabet.member_type
        self._read_fields = fields_reader(fields)
        self._user_path, self._needs_key = settings.user.path, settings.user.from_key
        self._get_user = None if self._user_path is None else getter(self._user_path)
        time = settings.event_time
        self._time_path = time.path
        self._read_time: TimeReader | None = None
        if time.path is not None and time.unit is not None:
            self._read_time = time_reader(time.path, time.unit)
        self._public = tuple((path, getter(path)) for path in settings.public)
        self._quick_user = None if self._get_user is None else _user_check(self._get_user, self._needs_key)
        self._quick_public = _public_check(settings.public) if settings.public else None

    def read(self, record: RawRecord) -> RawEvent | Rejected:
        """The event, or why there is none. Never raises, whatever the bytes are."""
        text = record.value
        if text is None:
            return Rejected(names.TOMBSTONE, WHOLE)
        if len(text) > self._max_bytes:
            return Rejected(names.TOO_LARGE, WHOLE)
        document, reason = load(text)
        if reason is not None:
            return Rejected(reason, WHOLE)
        if type(document) is not dict:
            return Rejected(names.NOT_AN_OBJECT, WHOLE)
        symbol = self._symbol(document)
        if isinstance(symbol, Rejected):
            return symbol
        fields = self._read_fields(document)
        if isinstance(fields, Rejected):
            return fields
        user = self._user(record.key, document)
        if isinstance(user, Rejected):
            return user
        time = self._time(record.timestamp, document)
        if isinstance(time, Rejected):
            return time
        return self._changed_number(text, document) or RawEvent(user, symbol, time, document, fields)

    def read_block(self, records: Iterable[RawRecord]) -> Block:
        """Read every record of a block; the order of the events is the order of the records.

        The loop asks of each record, in the cheapest order, for what makes `read` accept it. A record that fails any of
        it goes to `read`, which knows the reason, or accepts it after all.
        """
        positions: list[int] = []
        users: list[bytes] = []
        symbols: list[int] = []
        times: list[int] = []
        documents: list[dict[str, Any]] = []
        rows: list[Symbols] = []
        rejected: list[tuple[int, Rejected]] = []
        loads, lookup, kind, max_bytes = orjson.loads, self._lookup, self._kind, self._max_bytes
        get_protected, check_public, read_fields = self._quick_protected, self._quick_public, self._read_fields
        read_user, read_time = self._quick_user, self._read_time
        document: Any
        user: Any
        time: Any
        fields: Any
        symbol = -1
        for position, record in enumerate(records):
            text: Any = record.value
            try:
                document = loads(text)  # a record without a value is a ValueError like any bad text
                value = get_protected(document)
                symbol = lookup[value]
                fields = read_fields(document)
                user = record.key if read_user is None else read_user(record.key, document)
                time = record.timestamp if read_time is None else read_time(document)
                plain = (
                    type(value) is kind
                    and type(fields) is tuple
                    and 0 < len(user) <= LONGEST_USER_BYTES
                    and 0 <= time < END_OF_TIME_MS
                    and len(text) <= max_bytes
                    and not may_be_too_deep(text)
                    and (text.count(b":") == len(document) or not repeats_a_key(text, document))
                    and (check_public is None or check_public(document))
                )
            except (ValueError, KeyError, TypeError):  # no user, or a reason code instead of a time, is a TypeError
                plain = False
            if not plain:
                event = self.read(record)
                if isinstance(event, Rejected):
                    rejected.append((position, event))
                    continue
                user, symbol, time, document, fields = event
            positions.append(position)
            users.append(user)
            symbols.append(symbol)
            times.append(time)
            documents.append(document)
            rows.append(fields)
        return Block(positions, users, symbols, times, documents, rows, rejected)

    def _symbol(self, document: dict[str, Any]) -> int | Rejected:
        if self._protected is None:
            return 0
        symbol = self._read_symbol(self._get_protected(document))
        return Rejected(symbol, str(self._protected)) if isinstance(symbol, str) else symbol

    def _user(self, key: bytes | None, document: dict[str, Any]) -> bytes | Rejected:
        place, user = KEY, key
        if self._get_user is not None:
            place = str(self._user_path)
            value = self._get_user(document)
            if value is MISSING or value is None:
                return Rejected(names.USER_MISSING, place)
            if type(value) is not str and type(value) is not int:
                return Rejected(names.USER_TYPE, place)
            user = str(value).encode()
        if user is None or (self._needs_key and key is None):
            return Rejected(names.USER_MISSING, KEY)
        if not user:
            return Rejected(names.USER_EMPTY, place)
        if len(user) > LONGEST_USER_BYTES:
            return Rejected(names.USER_TOO_LONG, place)
        if self._needs_key and user != key:
            return Rejected(names.USER_DISAGREES, place)
        return user

    def _time(self, timestamp: int | None, document: dict[str, Any]) -> int | Rejected:
        place = TIMESTAMP
        if self._read_time is not None:
            place = str(self._time_path)
            read = self._read_time(document)
            if isinstance(read, str):
                return Rejected(read, place)
            timestamp = read
        elif timestamp is None or timestamp == _NO_TIMESTAMP:
            return Rejected(names.TIME_MISSING, place)
        if not 0 <= timestamp < END_OF_TIME_MS:
            return Rejected(names.TIME_OUT_OF_RANGE, place)
        return timestamp

    def _changed_number(self, text: bytes, document: dict[str, Any]) -> Rejected | None:
        """A public integer that would be released as another number, if there is one."""
        suspects = [(path, get) for path, get in self._public if may_have_changed(get(document))]
        exact = exact_integers(text) if suspects else None
        for path, get in suspects:
            if get(exact) != get(document):
                return Rejected(names.NUMBER_OUT_OF_RANGE, str(path))
        return None


def _nothing(document: Any) -> None:
    """Of a document in which no field is looked for; what is none raises, as a getter would make it."""
    if type(document) is not dict:
        raise TypeError


def _raising_getter(path: Path) -> Getter:
    """For the first level alone, the getter that Python has built in; it raises what the quick look expects."""
    return itemgetter(path.steps[0]) if len(path.steps) == 1 else getter(path)


def _public_check(paths: tuple[Path, ...]) -> Callable[[dict[str, Any]], bool]:
    """Whether all public values are plainly of kinds that are released as they stand."""
    getters = tuple(getter(path) for path in paths)

    def check(document: dict[str, Any]) -> bool:
        for get in getters:  # noqa: SIM110  # a generator would cost as much as the check
            if may_have_changed(get(document)):
                return False
        return True

    return check


def _user_check(get: Getter, needs_key: bool) -> Callable[[bytes | None, dict[str, Any]], bytes | None]:
    """The user in a field of text, or nothing where somebody has to look more closely."""

    def check(key: bytes | None, document: dict[str, Any]) -> bytes | None:
        value = get(document)
        if type(value) is not str:
            return None
        user = value.encode()
        return user if not needs_key or user == key else None

    return check
