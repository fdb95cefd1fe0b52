"""Several fields at once: how often which values come together, from the same sources as a model is learnt from.

Of each person one record counts, the first, so that people are what is counted; without a field that names them every
record is a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Places
from beliefs.correlation.counted import JointCounts
from beliefs.correlation.joint_file import JointModel, parse, serialise
from stream import names as reasons
from stream.errors import CannotFit
from stream.fitting.alphabets import MOST_VALUES
from stream.fitting.progress import Progress
from stream.fitting.reading import Refusals, told
from stream.fitting.sources import Chunk, Source
from stream.fitting.task import Sample
from stream.fitting.values import ValueReader, Values, is_text
from stream.records.parse import LONGEST_USER_BYTES
from stream.records.paths import MISSING, Path

_WIDTH: Final = 1 << 63
"""Whole numbers beyond 64 bits are no labels."""


@dataclass(frozen=True)
class JointTask:
    """`user` is where a person's name stands, `by_key` whether it is the record's key; neither: records are people."""

    source: Source
    fields: tuple[Path, ...]
    names: tuple[str, ...]
    user: Path | None = None
    by_key: bool = False
    rare: int = 1
    other: str | None = None
    failure: float = 0.05
    sample: Sample = "unknown"

    @property
    def knows_people(self) -> bool:
        return self.user is not None or self.by_key


@dataclass
class JointFacts:
    rows: int = 0
    again: int = 0
    pooled: dict[str, int] = field(default_factory=dict)
    refusals: Refusals = field(default_factory=Refusals)


@dataclass(frozen=True)
class FittedJoint:
    data: bytes
    model: JointModel
    people: int
    facts: JointFacts
    task: JointTask


class _Labels:
    """Numbers for labels as they are met: a text is its own label, a whole number that of its digits."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers: dict[str, int] = {}

    def number_of(self, value: object) -> int | None:
        """None for what is no label."""
        if type(value) is int and -_WIDTH <= value < _WIDTH:
            value = str(value)
        if type(value) is not str:
            return None
        found = self.numbers.get(value)
        if found is None:
            if len(self.numbers) >= MOST_VALUES:
                raise _too_many(self.name, MOST_VALUES)
            found = self.numbers[value] = len(self.numbers)
        return found


@dataclass(frozen=True)
class Counted:
    """How often which values of the fields came together; `labels` are those of each field's numbers, in order."""

    counts: JointCounts
    labels: tuple[dict[int, str], ...]
    facts: JointFacts


def count_joint(task: JointTask, progress: Progress) -> Counted:
    """Count, and join rare values."""
    facts, counted, labels = JointFacts(), JointCounts(task.names), [_Labels(name) for name in task.names]
    reading = _Reading(task, facts, labels)
    progress.begin("how values come together")
    for chunk in task.source.chunks():
        columns = reading.columns_of(chunk)
        if columns[0].size:
            counted.add(columns)
        progress.read(len(chunk.records) + len(chunk.unreadable), counted.records, chunk.share)
    if counted.records == 0:
        raise _nothing(task, facts)
    named = (_closed(task, axis, counted, labels[axis].numbers, facts) for axis in range(len(labels)))
    return Counted(counted, tuple(named), facts)


def fit_joint(task: JointTask, progress: Progress) -> FittedJoint:
    """The file is parsed back before it counts as one."""
    found = count_joint(task, progress)
    facts, people = found.facts, found.counts.records
    try:
        table = found.counts.table(found.labels)
    except Invalid as problem:
        raise _does_not_fit(task, problem) from None
    model = JointModel(table, task.failure, learnt_from=_learnt_from(task, facts, people))
    data = serialise(model)
    return FittedJoint(data, parse(data), people, facts, task)


class _Reading:
    """From chunks to columns of numbers, one record for each person."""

    def __init__(self, task: JointTask, facts: JointFacts, labels: Sequence[_Labels]) -> None:
        self.task, self.facts, self.labels = task, facts, labels
        self.met: set[bytes] = set()
        self.reader = ValueReader(task.fields if task.user is None else (*task.fields, task.user))

    def columns_of(self, chunk: Chunk) -> list[Places]:
        self.facts.rows += len(chunk.records) + len(chunk.unreadable)
        for place, reason in chunk.unreadable:
            self.facts.refusals.add(reason, place)
        rows: list[list[int]] = []
        for (values, user), place in zip(self._records(chunk), chunk.places, strict=True):
            refused = values if isinstance(values, str) else self._taken(values, user, rows)
            if refused is not None:
                self.facts.refusals.add(refused, place)
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(self.labels))
        return list(table.T)

    def _records(self, chunk: Chunk) -> Iterator[tuple[Values, object]]:
        """The values of each record and its user, or why there are none."""
        for values, key in self.reader.read(chunk):
            if isinstance(values, str) or self.task.user is None:
                yield values, key
            else:
                yield values[:-1], values[-1]

    def _taken(self, values: Sequence[Any], user: object, rows: list[list[int]]) -> str | None:
        """Puts the record's numbers to the others, if it is a person's first; or why it cannot be read."""
        person = person_of(user) if self.task.knows_people else b""
        if isinstance(person, str):
            return person
        if person in self.met:
            self.facts.again += 1
            return None
        row = []
        for labels, value in zip(self.labels, values, strict=True):
            if value is MISSING or value is None:
                return reasons.FIELD_MISSING
            if isinstance(value, str) and not is_text(value):
                return reasons.NOT_UTF8
            number = labels.number_of(value)
            if number is None:
                return reasons.FIELD_TYPE
            row.append(number)
        if person:
            self.met.add(person)
        rows.append(row)
        return None


def person_of(user: object) -> bytes | str:
    """The bytes of a name, or why there is none."""
    if user is MISSING or user is None:
        return reasons.USER_MISSING
    if type(user) is int:
        user = str(user)
    if isinstance(user, str):
        if not is_text(user):
            return reasons.NOT_UTF8
        user = user.encode()
    if not isinstance(user, bytes):
        return reasons.USER_TYPE
    if not user:
        return reasons.USER_EMPTY
    return user if len(user) <= LONGEST_USER_BYTES else reasons.USER_TOO_LONG


def _closed(
    task: JointTask, axis: int, counted: JointCounts, numbers: Mapping[str, int], facts: JointFacts
) -> dict[int, str]:
    """The label of each number, in order: whole numbers by size, texts by their letters, and what is joined last."""
    met = counted.records_with(axis)
    labels = [label for label, number in numbers.items() if number in met]
    rare = {label for label in labels if task.other is not None and met[numbers[label]] < task.rare}
    kept = [label for label in labels if label not in rare and label != task.other]
    if all(label.isascii() and label.removeprefix("-").isdecimal() for label in kept):
        kept.sort(key=lambda label: (int(label), label))
    else:
        kept.sort()
    named = {numbers[label]: label for label in kept}
    if task.other is not None:
        facts.pooled[task.names[axis]] = len(rare - {task.other})
        named |= {numbers[label]: task.other for label in labels if label in rare or label == task.other}
    return named


def _learnt_from(task: JointTask, facts: JointFacts, people: int) -> dict[str, object]:
    """What stands in the file, which is public: amounts, and no value but the labels."""
    return {
        "source": task.source.name,
        "sample": task.sample,
        "people": people,
        "records_are_people": not task.knows_people,
        "refused": facts.refusals.total,
    }


def _too_many(name: str, most: int) -> CannotFit:
    return CannotFit(
        f"The field {name} has too many different values.",
        why=f"more than {most}",
        fix="leave it out of --joint; it may be the name of the person, which belongs to --user",
    )


def _does_not_fit(task: JointTask, problem: Invalid) -> CannotFit:
    return CannotFit(
        "The joint table is too large.",
        where=task.source.name,
        why=f"{problem.field} {problem.reason}",
        fix="name fewer fields in --joint, or join rare values: --rare 20 --other other",
    )


def _nothing(task: JointTask, facts: JointFacts) -> CannotFit:
    why = "it holds no record"
    if facts.rows:
        why = f"none of {facts.rows} records could be read: {told(facts.refusals, task.source.kind)}"
    fix = "name the fields as the records do: --joint A,B with columns, or paths such as $.device.kind; and --user"
    return CannotFit("There is nothing to learn from.", where=task.source.name, why=why, fix=fix)
