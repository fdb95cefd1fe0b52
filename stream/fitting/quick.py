"""A chunk of a file read at once, where every record of it is plainly in order; otherwise the door reads them all.

The door (`stream.records.parse.Reader`) stays the definition, of what is accepted and of what each refusal is called.
Here the same is asked of a whole chunk, field by field: a few loops in C instead of one in Python. One record for which
it is not so sends the chunk to the door. A test holds the two to the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from beliefs.chain import Indices
from stream.fitting.rows import Cells, Texts
from stream.fitting.sources import Line
from stream.records.parse import END_OF_TIME_MS, LONGEST_USER_BYTES
from stream.records.paths import Path, getter
from stream.records.strict import SHORT, may_be_too_deep, may_have_changed, repeats_a_key
from stream.settings.model import RecordSettings

_MILLISECONDS: Final = {"ms": 1, "s": 1000}
_ESCAPED: Final = 6
"""A character takes at most so many bytes in JSON for each of its own."""
_AROUND: Final = 1024
"""Brackets, quotes and numbers of a row are fewer bytes than that."""


class Plain(NamedTuple):
    """The events of a chunk, one for each record."""

    users: list[bytes]
    symbols: Indices
    times: Indices


class Quick:
    """Answers for a whole chunk, or with nothing."""

    def __init__(self, record: RecordSettings, alphabet: Alphabet) -> None:
        self._value, self._user, self._time = record.protect.place, record.user.path, record.event_time.path
        self._unit = _MILLISECONDS.get(record.event_time.unit or "ms", 0)
        self._max_bytes = record.max_bytes
        self._lookup: dict[object, int] = {}
        self._kind: type = type(None)
        self._public = tuple(map(getter, record.public))
        self._serves = self._user is not None and not record.user.and_key and self._unit > 0
        if isinstance(alphabet, Categories | IntegerRange):
            self._lookup, self._kind = alphabet.lookup, alphabet.member_type
        else:
            self._serves = False

    def read(self, records: Sequence[Line]) -> Plain | None:
        if not self._serves or not records or self._user is None:
            return None
        try:
            if isinstance(records, Texts):
                return self._of_texts(records.texts, self._user)
            if isinstance(records, Cells):
                return self._of_cells(records, self._user)
        except (ValueError, KeyError, TypeError, IndexError, OverflowError):
            return None
        return None

    def _of_texts(self, texts: list[bytes], user: Path) -> Plain | None:
        longest = max(map(len, texts))
        documents = list(map(orjson.loads, texts))
        if longest > self._max_bytes or set(map(type, documents)) != {dict}:
            return None
        if longest > SHORT and any(map(may_be_too_deep, texts)):
            return None
        members = zip(map(bytes.count, texts, repeat(b":")), map(len, documents), texts, documents, strict=True)
        if any(colons != names and repeats_a_key(text, document) for colons, names, text, document in members):
            return None
        if any(may_have_changed(value) for get in self._public for value in map(get, documents)):
            return None
        times = None if self._time is None else list(map(_get(self._time), documents))
        values = list(map(_get(self._value), documents))
        return self._plain(list(map(_get(user), documents)), values, times)

    def _of_cells(self, rows: Cells, user: Path) -> Plain | None:
        users, values = rows.columns[user], rows.columns[self._value]
        names = sum(len(step) if isinstance(step, str) else _AROUND for path in rows.columns for step in path.steps)
        texts = [cells for cells in (users, values) if type(cells[0]) is str]
        longest = names + sum(max(map(len, cells)) for cells in texts)
        if _ESCAPED * longest + _AROUND > self._max_bytes:
            return None
        if self._kind is str:
            "".join(set(values)).encode()  # what is no UTF-8 is for the door
        return self._plain(users, values, None if self._time is None else rows.columns[self._time])

    def _plain(self, users: list[Any], values: list[Any], times: list[Any] | None) -> Plain | None:
        """Values come last: a value is met, where all are taken in, only when nothing else is wrong."""
        kinds = set(map(type, users))
        if kinds == {int}:
            ids = [str(user).encode() for user in users]
        elif kinds == {str}:
            ids = list(map(str.encode, users))
        else:
            return None
        if not 0 < min(map(len, ids)) <= max(map(len, ids)) <= LONGEST_USER_BYTES:
            return None
        moments = np.zeros(len(ids), dtype=np.int64)
        if times is not None:
            if set(map(type, times)) != {int} or not 0 <= min(times) <= max(times) < END_OF_TIME_MS // self._unit:
                return None
            moments = np.array(times, dtype=np.int64) * self._unit
        if set(map(type, values)) != {self._kind}:
            return None
        return Plain(ids, np.array(list(map(self._lookup.__getitem__, values)), dtype=np.int64), moments)


def _get(path: Path) -> Callable[[Any], Any]:
    """For the first level alone the getter that Python has built in; what is missing is a KeyError there."""
    return itemgetter(path.steps[0]) if len(path.steps) == 1 else getter(path)
