"""What a law is learnt from: everybody's contributions in each window, or their values and friends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from stream import names as reasons
from stream.errors import CannotFit
from stream.fitting.joint import person_of
from stream.fitting.law_asked import FRIEND_FIELDS, LawTask
from stream.fitting.progress import Progress
from stream.fitting.reading import Refusals, told
from stream.fitting.sources import Source
from stream.fitting.values import ValueReader
from stream.records.paths import MISSING, Path
from stream.records.times import time_reader

WINDOWS_MAX: Final = 1_000_000
_LARGEST: Final = 1 << 53


@dataclass
class LawFacts:
    """What was read, and what of it could not be used; `figures` are the law's own."""

    rows: int = 0
    users: int = 0
    clipped: int = 0
    strangers: int = 0
    refusals: Refusals = field(default_factory=Refusals)
    figures: dict[str, Any] = field(default_factory=dict)


def read_records(
    source: Source,
    paths: tuple[Path, ...],
    facts: LawFacts,
    progress: Progress,
    take: Callable[[list[Any]], str | None],
) -> None:
    """Hands every record's values to `take`, which says why it cannot use them, or None."""
    reader, used = ValueReader(paths), 0
    for chunk in source.chunks():
        facts.rows += len(chunk.records) + len(chunk.unreadable)
        for place, reason in chunk.unreadable:
            facts.refusals.add(reason, place)
        for (values, _), place in zip(reader.read(chunk), chunk.places, strict=True):
            refused = values if isinstance(values, str) else take(list(values))
            if refused is not None:
                facts.refusals.add(refused, place)
            used += refused is None
        progress.read(len(chunk.records) + len(chunk.unreadable), used, chunk.share)
    if not used:
        why = "it holds no record"
        if facts.rows:
            why = f"none of {facts.rows} records could be used: {told(facts.refusals, source.kind)}"
        fix = "name the fields as the records do: --user, --component, --value and --time"
        raise CannotFit("There is nothing to learn from.", where=source.name, why=why, fix=fix)


class Contributions:
    """What each user contributed in each window, and to which component users belong."""

    def __init__(self, task: LawTask, facts: LawFacts, progress: Progress) -> None:
        self.task, self.facts = task, facts
        self.amounts: dict[bytes, Counter[int]] = {}
        self.components: dict[bytes, bytes] = {}
        assert task.user is not None, "the kind needs it"
        assert task.time is not None, "the kind needs it"
        self.time = time_reader(Path(("time",)), task.unit)
        paths = (task.user, task.time, *(() if task.component is None else (task.component,)), *task.values)
        read_records(task.source, paths, facts, progress, self._take)
        windows = [window for amounts in self.amounts.values() for window in amounts]
        self.first, self.count = min(windows), max(windows) - min(windows) + 1
        facts.users = len(self.amounts)
        if self.count > WINDOWS_MAX:
            why = f"the records span {self.count:,} windows, more than {WINDOWS_MAX:,}"
            raise CannotFit(
                "The law cannot be learnt.", task.source.name, why, "see --time-unit, or take longer windows"
            )

    def _take(self, values: list[Any]) -> str | None:
        user, time, *rest = values
        person = person_of(user)
        if isinstance(person, str):
            return person
        at = self.time({"time": time})
        if isinstance(at, str):
            return at
        amount = 1
        if self.task.component is not None:
            belongs = label_of(rest.pop(0))
            if isinstance(belongs, str):
                return belongs
            if self.components.setdefault(person, belongs) != belongs:
                why = "a user belongs to two components; from which event on cannot be told"
                fix = "give each user one component, or leave out the events before a move"
                raise CannotFit("The law cannot be learnt.", self.task.source.name, why, fix)
        if rest:
            counted = whole(rest[0])
            if isinstance(counted, str):
                return counted
            amount = counted
        self.amounts.setdefault(person, Counter())[at // self.task.window] += amount
        return None

    def clipped(self, person: bytes) -> dict[int, int]:
        """Of each window with an event, counted from the first one on."""
        found = {window - self.first: min(amount, self.task.most) for window, amount in self.amounts[person].items()}
        self.facts.clipped += sum(amount > self.task.most for amount in self.amounts[person].values())
        return found


class Persons:
    """Every user's first values, and who is whose friend; users are numbered as they come."""

    def __init__(
        self, task: LawTask, facts: LawFacts, progress: Progress, read: Callable[[Any], float | int | str]
    ) -> None:
        self.numbers: dict[str, int] = {}
        self.values: list[tuple[float, ...]] = []
        self.read = read
        assert task.user is not None, "the kind needs it"
        assert task.friends is not None, "the kind needs it"
        read_records(task.source, (task.user, *task.values), facts, progress, self._take)
        facts.users = len(self.values)
        pairs: set[tuple[int, int]] = set()
        beside = LawFacts()

        def take(values: list[Any]) -> str | None:
            both = [person_of(value) for value in values]
            for each in both:
                if isinstance(each, str):
                    return each
            one, other = (self.numbers.get(each.decode()) for each in both if isinstance(each, bytes))
            if one is None or other is None or one == other:
                facts.strangers += 1
            else:
                pairs.add((min(one, other), max(one, other)))
            return None

        read_records(task.friends, FRIEND_FIELDS, beside, progress, take)
        facts.figures["friends"] = len(pairs)
        self.friends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

    def _take(self, values: list[Any]) -> str | None:
        person = person_of(values[0])
        if isinstance(person, str):
            return person
        numbers = [self.read(value) for value in values[1:]]
        for each in numbers:
            if isinstance(each, str):
                return each
        if person.decode() not in self.numbers:
            self.numbers[person.decode()] = len(self.values)
            self.values.append(tuple(float(each) for each in numbers))
        return None


def label_of(value: Any) -> bytes | str:
    found = person_of(value)
    if isinstance(found, bytes):
        return found
    return reasons.FIELD_MISSING if value is MISSING or value is None else reasons.FIELD_TYPE


def whole(value: Any) -> int | str:
    """A contribution: a whole number, 0 or more."""
    if value is MISSING or value is None:
        return reasons.FIELD_MISSING
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < _LARGEST else reasons.FIELD_TYPE


def number(value: Any) -> float | str:
    if value is MISSING or value is None:
        return reasons.FIELD_MISSING
    return float(value) if type(value) in (int, float) and abs(value) < _LARGEST else reasons.FIELD_TYPE
