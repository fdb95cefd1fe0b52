"""Released records, read as far as estimates need them: which there are, when, whose, and their fields' reports.

Whatever is no release of this pipeline is counted and passed over; a report that is none leaves its field out, not the
record. No value of a person goes into any text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from beliefs.checks import Invalid
from mechanisms.contract import Integers
from stream import names
from stream.audit.records import Record, is_id
from stream.estimation.asked import Task
from stream.fields.forms import Form
from stream.fields.gate import SIGNS, WITHHELD
from stream.records.paths import MISSING, Getter, getter

NO_RELEASE, OTHER_POLICY, OTHER_MODEL, OTHER_EPOCH, NO_TIME, LATE, AGAIN = (
    "no_release",
    "other_policy",
    "other_model",
    "other_epoch",
    "no_time",
    "late",
    "again",
)
WORDS: Final = {
    NO_RELEASE: "are no released records: key, headers or document are missing or something else",
    OTHER_POLICY: "bear another policy than these settings",
    OTHER_MODEL: "bear a model that the settings do not name",
    OTHER_EPOCH: "were made under a learnt model that is not known: it stands in the belief topic, so read the topics",
    NO_TIME: "bear no event time, only that of the broker",
    LATE: "came too late for their window",
    AGAIN: "repeat a record that was read before",
}
_LOG_APPEND_TIME: Final = 1
_CHOICES: Final = {sign: choice for choice, sign in enumerate(SIGNS)}


class Told(NamedTuple):
    """Reports of one field in a block: for each choice, the places of their records and the reports in the mechanism's
    own form; and the places of records that withhold the field, and of those whose report is none.
    """

    reports: dict[int, tuple[Integers, Any]]
    withheld: Integers
    wrong: Integers


class Block(NamedTuple):
    """One entry for each record, or for each field; entries of records that are not `usable` mean nothing."""

    usable: NDArray[np.bool_]
    times: Integers
    ids: NDArray[np.uint64]
    keys: list[bytes]
    fields: list[Told]


@dataclass
class _Rows:
    """Reports of one field, as they are met."""

    form: Form
    get: Getter
    at: dict[int, list[int]] = field(default_factory=dict)
    rows: dict[int, list[Any]] = field(default_factory=dict)
    withheld: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)

    def take(self, place: int, sign: str, document: Any) -> None:
        choice = _CHOICES.get(sign, -1)
        if choice == WITHHELD:
            self.withheld.append(place)
            return
        reporter, value = self.form.reporters.get(choice), self.get(document)
        if reporter is None or value is MISSING:
            self.wrong.append(place)
            return
        try:
            row = reporter.shape.row(value)
        except Invalid:
            self.wrong.append(place)
            return
        self.at.setdefault(choice, []).append(place)
        self.rows.setdefault(choice, []).append(row)

    def told(self) -> Told:
        found = {}
        for choice, at in self.at.items():
            stacked = self.form.reporters[choice].shape.stack(self.rows[choice])
            found[choice] = np.array(at, dtype=np.int64), stacked
        return Told(found, np.array(self.withheld, dtype=np.int64), np.array(self.wrong, dtype=np.int64))


@dataclass
class ReleaseReader:
    """Reads blocks of any partition; `counts` says why records were passed over."""

    task: Task
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WORDS, 0))

    def __post_init__(self) -> None:
        self._getters = [(form, getter(form.path)) for form in self.task.forms]
        self._needs_time = self.task.asked.window > 0

    def read(self, records: Sequence[Record], known: Callable[[bytes], bool]) -> Block:
        """`known` says whether a model is one that records of this partition may bear."""
        count = len(records)
        usable, ids = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.uint64)
        fields = [_Rows(form, get) for form, get in self._getters]
        for place, record in enumerate(records):
            headers = dict(record.headers or ())
            why, document = self._why_not(record, headers, known)
            if why:
                self.counts[why] += 1
                continue
            usable[place], ids[place] = True, int(headers[names.HEADER_RELEASE_ID][:16], 16)
            signs = headers.get(names.HEADER_FIELDS, b"").decode("latin-1")
            for number, one in enumerate(fields):
                one.take(place, signs[number] if len(signs) == len(fields) else "", document)
        times = np.array([record.timestamp for record in records], dtype=np.int64)
        keys = [record.key or b"" for record in records]
        return Block(usable, times, ids, keys, [one.told() for one in fields])

    def _why_not(self, record: Record, headers: dict[str, bytes], known: Callable[[bytes], bool]) -> tuple[str, Any]:
        """Why a record is passed over, or nothing and its document, which is read where there are fields in it."""
        release_id, step = headers.get(names.HEADER_RELEASE_ID), headers.get(names.HEADER_STEP)
        if not (record.key and record.value and release_id and step and is_id(release_id) and step.isdigit()):
            return NO_RELEASE, None
        if headers.get(names.HEADER_POLICY) != self.task.policy:
            return OTHER_POLICY, None
        if not known(headers.get(names.HEADER_MODEL, b"")):
            return OTHER_EPOCH if self.task.learns else OTHER_MODEL, None
        if record.timestamp < 0 or (self._needs_time and record.timestamp_type == _LOG_APPEND_TIME):
            return NO_TIME, None
        if not self._getters:
            return "", None
        try:
            document = orjson.loads(record.value)
        except orjson.JSONDecodeError:
            return NO_RELEASE, None
        return ("", document) if isinstance(document, dict) else (NO_RELEASE, None)
