"""What fields are calibrated by: a joint table's file, or records, one of each person."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.correlation.joint_changes import as_exact, some_fields, with_more
from beliefs.correlation.joint_file import FAILURE, InvalidJoint, JointModel, parse
from beliefs.correlation.nested_lists import CELLS_MAX
from beliefs.correlation.table_radii import known_within
from beliefs.correlation.tables import margin
from beliefs.simplex import Vector
from stream.errors import CannotPlan
from stream.fitting.asked import Asked as AskedToFit
from stream.fitting.joint import Counted, count_joint
from stream.fitting.joint_asked import joint_task_of
from stream.fitting.progress import Progress

Integers = NDArray[np.int64]
Told = Callable[[str, int, int], None]
"""What is being done, how far it has come, and of how much."""

_FIX: Final = "correct it; beliefs/correlation/joint_file.md says what such a file holds"


@dataclass(frozen=True)
class Sample:
    """`model` is the joint table and how well it is known, where it can be held; of records, `rows` are their
    combinations of value numbers and `times` how often each was met.
    """

    file: Path
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    model: JointModel | None
    rows: Integers | None = None
    times: Integers | None = None

    @property
    def weights(self) -> Matrix | None:
        return None if self.model is None else self.model.table.weights

    @property
    def radii(self) -> list[Vector] | None:
        """Of each field, where the table is not exact."""
        known = None if self.model is None else known_within(self.model)
        return None if known is None else [known[name] for name in self.names]

    @property
    def cells(self) -> int:
        return math.prod(len(each) for each in self.labels)

    @property
    def empty(self) -> int | None:
        """How many combinations have no weight."""
        return None if self.weights is None else int((self.weights == 0.0).sum())

    @property
    def records(self) -> Integers:
        """One row for each record."""
        assert self.rows is not None, "there is a table, or there are records"
        assert self.times is not None, "there is a table, or there are records"
        return np.repeat(self.rows, self.times, axis=0)

    def pair(self, one: int, other: int) -> Matrix:
        """The table of two of the fields."""
        if self.weights is not None:
            return margin(self.weights, one, other)
        assert self.rows is not None, "there is a table, or there are records"
        assert self.times is not None, "there is a table, or there are records"
        counts = np.zeros((len(self.labels[one]), len(self.labels[other])))
        np.add.at(counts, (self.rows[:, one], self.rows[:, other]), self.times)
        return counts

    def law(self, field: int) -> Vector:
        """How the values of one field are distributed."""
        shares: Vector = self.pair(field, (field + 1) % len(self.names)).sum(axis=1)
        law: Vector = shares / shares.sum()
        return law


def read_sample(
    file: Path, fields: Sequence[str], user: str | None, added: float, *, everybody: bool = False
) -> Sample:
    """The joint table of a .json file, of all its fields or of those that are named; of any other file the records.

    `added` is given to every combination beside what is there. Where `everybody` was counted, counts are the truth.
    """
    is_table = file.suffix.lower() == ".json"
    if is_table and user is not None:
        raise cannot("--user", f"{file} is a joint table, in which nobody is named", "leave it out")
    sample = _read_table(file, fields) if is_table else _read_records(file, fields, user)
    for name, labels in zip(sample.names, sample.labels, strict=True):
        if len(labels) < 2:
            raise cannot(f"{file}, {name}", "it has one value, which is no secret", "leave the field out")
    if sample.model is not None and everybody:
        sample = replace(sample, model=as_exact(sample.model))
    if added == 0.0:
        return sample
    if sample.model is None:
        why = f"the fields have {sample.cells:,} combinations of values, too many for a table to add something to"
        raise cannot("--add", why, "leave --add out, or name fewer fields with --field")
    return replace(sample, model=with_more(sample.model, added))


def cannot(where: object, why: str, fix: str) -> CannotPlan:
    return CannotPlan("This cannot be calibrated.", str(where), why, fix)


def _read_table(file: Path, fields: Sequence[str]) -> Sample:
    try:
        whole = parse(file.read_bytes())
        model = some_fields(whole, fields) if fields else whole
    except OSError as error:
        fix = "give a joint table as .json, or records: .csv, .tsv, .jsonl or .parquet, and their fields"
        raise cannot(file, error.strerror or type(error).__name__, fix) from None
    except InvalidJoint as problem:
        raise cannot(file, "; ".join(map(str, problem.problems)), _FIX) from None
    except Invalid as problem:
        raise cannot("--field", f"its {problem.field} {problem.reason}", "name each field of the table once") from None
    if len(model.table.names) < 2:
        raise cannot(file, "it has one field, which no other tells anything of", "name two fields at least")
    return Sample(file, model.table.names, model.table.labels, model)


def _read_records(file: Path, fields: Sequence[str], user: str | None) -> Sample:
    if len(fields) < 2:
        raise cannot("--field", f"{file} holds records, and it is not said which fields", "name two fields at least")
    task = joint_task_of(",".join(fields), AskedToFit(source=str(file), user=user), None)
    progress = Progress(sys.stderr)
    try:
        return _counted(file, task.names, count_joint(task, progress))
    finally:
        progress.end()


def _counted(file: Path, names: tuple[str, ...], found: Counted) -> Sample:
    labels = tuple(tuple(dict.fromkeys(each.values())) for each in found.labels)
    if math.prod(map(len, labels)) <= CELLS_MAX:
        return Sample(file, names, labels, JointModel(found.counts.table(found.labels), FAILURE))
    places = [{number: place for place, number in enumerate(each)} for each in found.labels]
    cells = found.counts.cells
    rows = [[place[number] for place, number in zip(places, cell, strict=True)] for cell in cells]
    return Sample(file, names, labels, None, np.array(rows), np.array(list(cells.values())))
