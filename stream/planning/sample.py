"""The values that mechanisms are compared on: a user's own, in a file, or values drawn from the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.chain import Chain
from mechanisms.contract import Integers
from stream.errors import CannotFit, CannotPlan
from stream.fitting.clock import Order
from stream.fitting.doubts import refused_doubts, unsorted_doubts
from stream.fitting.progress import Progress
from stream.fitting.reading import Events as Portion
from stream.fitting.reading import Reading, Users, told
from stream.fitting.sources import fields_of, file_source, format_of
from stream.planning.target import impossible
from stream.policy import Events
from stream.records.paths import Path as FieldPath
from stream.records.paths import PathError, parse_path
from stream.settings.model import RecordSettings, UserSettings

FEW_USERS: Final = 3
"""With fewer there is no interval worth the name: users are what is independent."""
_MEND: Final = "see that the settings' record: names the fields of these lines, and the model their values"


@dataclass(frozen=True)
class Sample:
    """Events in their order; users are numbered from 0. What was refused is counted by its reason."""

    events: Events
    users: int
    source: str
    refused: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def record_of(record: RecordSettings) -> RecordSettings:
    """How a line is read: as a raw record is, but that a line has no key which could name its user."""
    if record.user.path is None:
        why = "the settings take the user from the record's key, and a line of a file has none"
        raise impossible("--user", why, "name the field that holds the user: --user $.user")
    user = UserSettings(path=record.user.path, partitioned_by_user=True)
    return record.model_copy(update={"user": user})


def with_user(record: RecordSettings, user: str | None) -> RecordSettings:
    """The same with the field that --user names, if it names one."""
    if user is None:
        return record
    try:
        path = parse_path(user) if user.startswith("$") else FieldPath((user,))
    except PathError as problem:
        raise impossible("--user", str(problem), "write a path such as $.user") from None
    return record.model_copy(update={"user": UserSettings(path=path, partitioned_by_user=True)})


def read_file(
    file: Path, record: RecordSettings, alphabet: Alphabet, spacing: int, progress: Progress | None = None
) -> Sample:
    """JSON lines, CSV, TSV or Parquet, read by the pipeline's own door; a name that says nothing is one of JSON lines.
    Where the settings take the time from the record itself, a user's events are spaced evenly.
    """
    record = record_of(record)
    users = Users(1)
    try:
        source = file_source(file, form_of(file), fields_of(record, alphabet))
        reading = Reading(source, record, alphabet, users, progress or Progress(None))
        portions = list(reading.events())
    except CannotFit as error:
        raise CannotPlan("The sample cannot be read.", error.where, error.why, error.fix) from None
    slots, symbols, times = (np.concatenate([part[place] for part in portions]) for place in range(3))
    refusals = reading.refusals
    if not slots.size:
        why = told(refusals, source.kind) or "it has no lines"
        raise CannotPlan("The sample holds no event that can be used.", str(file), why, _MEND)
    warnings = refused_doubts(reading.rows, refusals, "nothing here is about them", _MEND)
    if len(users) < FEW_USERS:
        warnings.append(f"{len(users)} users are too few to say how far off these figures may be: give {FEW_USERS}")
    if record.event_time.path is None:
        times = places_of(slots, len(users)) * spacing
    else:
        order = Order()
        order.look(Portion(slots, symbols, times))
        warnings += unsorted_doubts(order.backwards)
    events = Events(slots, np.arange(slots.shape[0], dtype=np.int64), times, symbols)
    return Sample(events, len(users), file.name, dict(refusals.counts), warnings)


def form_of(file: Path) -> str:
    try:
        return format_of(file)
    except CannotFit:
        return "jsonl"


def impossible_in(chain: Chain, events: Events) -> int | None:
    """Events whose value the model calls impossible after the user's last one, or as the first; None where it would
    have to be followed through a longer memory, phases or a tail."""
    if chain.size != chain.symbols or chain.phases > 1 or chain.has_tail:
        return None
    order = np.argsort(events.slot, kind="stable")
    users, values = events.slot[order], events.symbol[order]
    first = np.append(True, users[1:] != users[:-1])
    rows = np.repeat(np.arange(chain.size), np.diff(chain.indptr))
    may_follow = np.isin(values[:-1] * chain.size + values[1:], rows * chain.size + chain.indices)
    return int(np.count_nonzero(chain.start[values[first]] == 0) + np.count_nonzero(~may_follow & ~first[1:]))


def places_of(slots: Integers, users: int) -> Integers:
    """Of each event, how many of its user's come before it."""
    seen, found = [0] * users, np.zeros_like(slots)
    for place, slot in enumerate(slots.tolist()):
        found[place] = seen[slot]
        seen[slot] += 1
    return found
