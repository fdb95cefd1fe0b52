"""The file of a joint table: what several fields have to do with one another, as versioned JSON that people can write.

`joint_file.md` states the format. `parse` reports everything that it can find wrong at once, each with its place in the
file. Bytes in, bytes out; no file is touched here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from beliefs import json_text
from beliefs.checks import Invalid, Problems, finite_number, kind_of, read_object, share
from beliefs.correlation.bound import Matrix, Places, bound
from beliefs.correlation.nested_lists import nested_entries
from beliefs.correlation.robust_hull import hull_bound
from beliefs.correlation.robust_rows import COLUMNS_MAX, radii_of, robust_bound
from beliefs.correlation.tables import JointTable, given
from beliefs.document import digest_that_fits, header_fits, texts, with_hash
from beliefs.model_file import InvalidModel
from beliefs.simplex import Vector

FORMAT, VERSION = "sottovoce-joint", 1
KEYS = ("format", "version", "names", "labels", "counts", "weights", "failure", "radius", "learnt_from", "hash")
FAILURE = 0.05
COUNT_MAX = 1 << 53

EXACT, STATED, COUNTED = "exact", "stated", "counted"

Radius = Mapping[str, Vector]


class InvalidJoint(InvalidModel):
    """Everything that is wrong with a joint table's file; each problem names its place in the file."""


class Given(NamedTuple):
    """P(the others | secret): one row for each of the secret's values in `rows`, right to within `radii`."""

    laws: Matrix
    rows: Places
    radii: Vector


@dataclass(frozen=True, eq=False)
class JointModel:
    """A joint table and how well it is known: `failure` of counts of people, or the `radius` of each row of weights."""

    table: JointTable
    failure: float | None = None
    radius: Radius | None = None
    learnt_from: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""

    @property
    def is_counted(self) -> bool:
        return self.failure is not None

    def matching(self, fields: Mapping[str, Sequence[str]]) -> JointModel:
        """This model, if names and labels are the declared ones in their order; otherwise what is wrong."""
        self.table.matching(fields)
        return self

    def given(self, secret: str, others: Sequence[str] | None = None) -> Given:
        """P(all others together | secret). All radii of one answer hold at once, of counts but for `failure`.

        Where laws are not known exactly, a value of the secret that never occurred may have any law: its radius is 1.
        """
        names = [name for name in self.table.names if name != secret] if others is None else list(others)
        weights = self.table.reordered([secret, *names]).weights
        flat = weights.reshape(weights.shape[0], -1)
        seen = flat.any(axis=1)
        if not self.is_counted and self.radius is None:
            return Given(_laws(flat[seen]), np.flatnonzero(seen), np.zeros(int(seen.sum())))
        laws = np.full(flat.shape, 1.0 / flat.shape[1])
        laws[seen] = _laws(flat[seen])
        radii = np.ones(flat.shape[0])
        radii[seen] = self._radii(secret, flat.shape[1])[seen]
        return Given(laws, np.arange(flat.shape[0]), radii)

    def _radii(self, secret: str, columns: int) -> Vector:
        if self.failure is None:
            assert self.radius is not None
            return self.radius[secret]
        return radii_of([max(1, people) for people in self.people(secret)], columns, self.failure)

    @property
    def known(self) -> str:
        """How well: EXACT, or within radii that are STATED, or that follow from what was COUNTED."""
        if self.is_counted:
            return COUNTED
        rough = self.radius is not None and any(bool(each.any()) for each in self.radius.values())
        return STATED if rough else EXACT

    def people(self, secret: str) -> list[int]:
        """How many were counted with each value."""
        axis = self.table.names.index(secret)
        others = tuple(other for other in range(self.table.weights.ndim) if other != axis)
        return [int(each) for each in self.table.weights.sum(axis=others).tolist()]

    def bound(self, secret: str, epsilon: float, others: Sequence[str] | None = None) -> float:
        """What the secret loses at most through reports of the others that have that epsilon together; rounded up."""
        laws, _, radii = self.given(secret, others)
        if not bool(radii.any()):
            return bound(laws, epsilon).epsilon
        known_roughly = robust_bound if laws.shape[1] <= COLUMNS_MAX else hull_bound
        return known_roughly(laws, epsilon, radii)


def _laws(counts: Matrix) -> Matrix:
    """Rows with something in them, divided by their sums."""
    return given(counts, 0)


def parse(data: bytes) -> JointModel:
    """The joint table in these bytes, or `InvalidJoint` with all its problems."""
    problems = Problems()
    document = problems.run(lambda: read_object(json_text.read(data), "text"))
    if document is None or not header_fits(document, problems, FORMAT, VERSION, KEYS, "a joint table"):
        raise InvalidJoint(problems.found)
    names = problems.run(lambda: texts(document.get("names"), "names"))
    labels = problems.run(lambda: _labels(document.get("labels"), names))
    kind = problems.run(lambda: _kind(document))
    weights = None if kind is None else problems.run(lambda: _weights(document[kind], kind))
    table = None
    if names is not None and labels is not None and weights is not None and kind is not None:
        table = problems.run(lambda: _table(names, labels, weights, kind))
    failure = problems.run(lambda: _failure(document)) if kind == "counts" else None
    radius = None
    if table is not None and "radius" in document:
        known = table
        radius = problems.run(lambda: _radius(document["radius"], known))
    learnt_from = problems.run(lambda: read_object(document.get("learnt_from", {}), "learnt_from"))
    digest = problems.run(lambda: digest_that_fits(document))
    if problems.found or table is None or learnt_from is None or digest is None:
        raise InvalidJoint(problems.found)
    return JointModel(table, failure, radius, learnt_from, digest)


def serialise(model: JointModel) -> bytes:
    """A file that `parse` reads back; the same table, the same bytes."""
    counts = model.table.weights.tolist()
    document: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "names": list(model.table.names),
        "labels": [list(labels) for labels in model.table.labels],
    }
    if model.is_counted:
        document |= {"counts": _as_whole(counts), "failure": model.failure}
    else:
        document["weights"] = counts
    if model.radius is not None:
        document["radius"] = {name: radii.tolist() for name, radii in model.radius.items()}
    document["learnt_from"] = dict(model.learnt_from)
    return with_hash(document)


def _as_whole(value: object) -> object:
    return [_as_whole(each) for each in value] if isinstance(value, list) else int(value)  # type: ignore[call-overload]


def _kind(document: Mapping[str, object]) -> str:
    there = [kind for kind in ("counts", "weights") if kind in document]
    if len(there) != 1:
        found = "both" if there else "neither"
        raise Invalid("counts", f"and weights are two ways to write the table: give one of them, found {found}")
    for key, belongs, why in (
        ("radius", "weights", "radii of counts follow from how many people were counted"),
        ("failure", "counts", "it is the chance that radii which follow from counts are exceeded"),
    ):
        if key in document and there[0] != belongs:
            raise Invalid(key, f"belongs beside {belongs}: {why}")
    return there[0]


def _labels(value: object, names: tuple[str, ...] | None) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or (names is not None and len(value) != len(names)):
        wanted = "one list for each name" if names is None else f"{len(names)} lists, one for each name"
        raise Invalid("labels", f"must be {wanted}, found {len(value) if isinstance(value, list) else kind_of(value)}")
    return tuple(texts(each, f"labels[{place}]") for place, each in enumerate(value))


def _weights(value: object, kind: str) -> Matrix:
    return nested_entries(value, kind, _count if kind == "counts" else _weight)


def _weight(value: object, path: str) -> float:
    number = finite_number(value, path)
    if number < 0:
        raise Invalid(path, "is negative; weights are 0 or more")
    return number


def _count(value: object, path: str) -> float:
    if type(value) is not int or not 0 <= value < COUNT_MAX:
        raise Invalid(path, "must be a whole number of people, 0 or more; other numbers are written as weights")
    return float(value)


def _table(names: tuple[str, ...], labels: tuple[tuple[str, ...], ...], weights: Matrix, kind: str) -> JointTable:
    try:
        return JointTable(names, labels, weights)
    except Invalid as problem:
        raise Invalid(kind if problem.field == "weights" else problem.field, problem.reason) from None


def _failure(document: Mapping[str, object]) -> float:
    failure = share(document.get("failure", FAILURE), "failure")
    if failure in (0.0, 1.0):
        raise Invalid("failure", "must lie between 0 and 1")
    return failure


def _radius(value: object, table: JointTable) -> Radius:
    if not isinstance(value, dict):
        one = share(value, "radius")
        return {name: np.full(len(labels), one) for name, labels in zip(table.names, table.labels, strict=True)}
    strangers = [name for name in value if name not in table.names]
    missing = [name for name in table.names if name not in value]
    if strangers or missing:
        raise Invalid("radius", f"must be one number, or have a list for each of {', '.join(table.names)}")
    return {
        name: _shares(value[name], f"radius.{name}", len(labels))
        for name, labels in zip(table.names, table.labels, strict=True)
    }


def _shares(value: object, path: str, count: int) -> Vector:
    if not isinstance(value, list) or len(value) != count:
        found = f"{len(value)}" if isinstance(value, list) else kind_of(value)
        raise Invalid(path, f"must be a list of {count} numbers, one for each label, found {found}")
    return np.array([share(each, f"{path}[{place}]") for place, each in enumerate(value)])
