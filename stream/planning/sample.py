"""The values that mechanisms are compared on: a user's own, in JSON lines, or values drawn from the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from beliefs.alphabet import Alphabet
from mechanisms.contract import Integers
from stream.errors import CannotPlan
from stream.fitting.sources import Line
from stream.planning.target import impossible
from stream.policy import Events
from stream.records.parse import Reader
from stream.settings.model import RecordSettings, UserSettings


@dataclass(frozen=True)
class Sample:
    """Events in their order; users are numbered from 0. What was refused is counted by its reason."""

    events: Events
    users: int
    source: str
    refused: dict[str, int] = field(default_factory=dict)


def record_of(record: RecordSettings) -> RecordSettings:
    """How a line is read: as a raw record is, but that a line has no key which could name its user."""
    if record.user.path is None:
        why = "the settings take the user from the record's key, and a line of a file has none"
        raise impossible("--user", why, "name the field that holds the user: --user $.user")
    user = UserSettings(path=record.user.path, partitioned_by_user=True)
    return record.model_copy(update={"user": user})


def read_lines(file: Path, record: RecordSettings, alphabet: Alphabet, spacing: int) -> Sample:
    """JSON lines, read by the pipeline's own door. Where the settings take the time from the record itself, a user's
    events are spaced evenly.
    """
    record = record_of(record)
    try:
        parts = file.read_bytes().split(b"\n")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CannotPlan("The sample cannot be read.", str(file), why, "name a file of JSON lines") from None
    lines = [Line(None, part, 0) for part in parts if part.strip()]
    block = Reader(record, alphabet).read_block(lines)
    refused: dict[str, int] = {}
    for _, refusal in block.rejected:
        refused[refusal.reason] = refused.get(refusal.reason, 0) + 1
    if not block.users:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(refused.items())) or "it has no lines"
        fix = "see that the settings' record: names the fields of these lines, and the model their values"
        raise CannotPlan("The sample holds no event that can be used.", str(file), reasons, fix)
    numbers: dict[bytes, int] = {}
    slots = np.array([numbers.setdefault(user, len(numbers)) for user in block.users], dtype=np.int64)
    times = np.array(block.times, dtype=np.int64)
    if record.event_time.path is None:
        times = places_of(slots, len(numbers)) * spacing
    symbols = np.array(block.symbols, dtype=np.int64)
    events = Events(slots, np.arange(slots.shape[0], dtype=np.int64), times, symbols)
    return Sample(events, len(numbers), file.name, refused)


def places_of(slots: Integers, users: int) -> Integers:
    """Of each event, how many of its user's come before it."""
    seen, found = [0] * users, np.zeros_like(slots)
    for place, slot in enumerate(slots.tolist()):
        found[place] = seen[slot]
        seen[slot] += 1
    return found
