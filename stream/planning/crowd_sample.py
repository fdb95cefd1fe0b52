"""Events of people who would be in crowds: a file of past ones, read as the pipeline would read them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from beliefs.alphabet import Categories
from mechanisms.aggregate.quantised import Amounts
from mechanisms.contract import Integers
from stream.crowds.promise import CrowdPromise
from stream.errors import CannotFit, CannotPlan
from stream.fitting.doubts import refused_doubts
from stream.fitting.reading import Refusals, Users, told
from stream.fitting.sources import Fields, Source, file_source
from stream.planning.sample import form_of, places_of, record_of
from stream.records.fields import FieldForm
from stream.records.parse import Reader
from stream.settings.declared import NOTHING
from stream.settings.model import RecordSettings

_MEND = "see that the settings' record: and crowd: name the fields of these lines, and their values"


@dataclass(frozen=True)
class CrowdSample:
    """Events in the order of their times; users and types are numbered from 0, cells are places from 0."""

    users: Integers
    times: Integers
    cells: Integers
    types: Integers
    source: str
    refused: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return int(self.users.shape[0])

    def first(self, events: int) -> CrowdSample:
        """The same, cut short."""
        cut = slice(0, events)
        return replace(self, users=self.users[cut], times=self.times[cut], cells=self.cells[cut], types=self.types[cut])


def read_crowd_sample(file: Path, record: RecordSettings, promise: CrowdPromise, spacing: int) -> CrowdSample:
    """JSON lines, CSV, TSV or Parquet. Where the settings take the time from the record itself, a user's events are
    spaced evenly.
    """
    record, release = record_of(record), promise.release
    forms = (*release.forms, *(() if promise.type_form is None else (promise.type_form,)))
    try:
        source = file_source(file, form_of(file), _fields(record, forms))
        users, times, rows, refusals, read = _read(source, record, forms)
    except CannotFit as error:
        raise CannotPlan("The sample cannot be read.", error.where, error.why, error.fix) from None
    if not users.size:
        why = told(refusals, source.kind) or "it has no lines"
        raise CannotPlan("The sample holds no event that can be used.", str(file), why, _MEND)
    warnings = refused_doubts(read, refusals, "nothing here is about them", _MEND)
    if record.event_time.path is None:
        times = places_of(users, int(users.max()) + 1) * spacing
        warnings.append(
            f"the lines have no time, so each user's events are taken to be {spacing / 1000:,.0f} s apart, from the "
            "same moment on: name record.event_time for the true ones"
        )
    order = np.argsort(times, kind="stable")
    cells = rows[:, : len(release.forms)] - np.array(release.offsets, dtype=np.int64)
    types = rows[:, -1] if promise.type_form is not None else np.zeros(users.size, dtype=np.int64)
    found = (users[order], times[order], np.ascontiguousarray(cells[order]), types[order])
    return CrowdSample(*found, file.name, dict(refusals.counts), tuple(warnings))


def _read(
    source: Source, record: RecordSettings, forms: tuple[FieldForm, ...]
) -> tuple[Integers, Integers, Integers, Refusals, int]:
    reader, numbers, refusals, read = Reader(record, Categories([NOTHING]), forms), Users(1), Refusals(), 0
    users, times, rows = [np.zeros(0, dtype=np.int64)], list[int](), list[tuple[int, ...]]()
    for chunk in source.chunks():
        read += len(chunk.records) + len(chunk.unreadable)
        for place, reason in chunk.unreadable:
            refusals.add(reason, place)
        block = reader.read_block(chunk.records)
        for position, refusal in block.rejected:
            refusals.add(refusal.reason, chunk.places[position])
        users.append(numbers.numbers(block.users))
        times += block.times
        rows += block.fields
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(forms))
    return np.concatenate(users), np.array(times, dtype=np.int64), table, refusals, read


def _fields(record: RecordSettings, forms: tuple[FieldForm, ...]) -> Fields:
    numeric = {form.path for form in forms if isinstance(form.alphabet, Amounts)}
    user, time = record.user.path, record.event_time.path
    if time is not None and record.event_time.unit != "iso8601":
        numeric.add(time)
    paths = tuple(path for path in (user, *(form.path for form in forms), time) if path is not None)
    return Fields(paths, frozenset(numeric), record.max_bytes, options="the columns that record: and crowd: name")
