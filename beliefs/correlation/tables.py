"""Joint tables of several attributes with their names and labels. Proof: tables.md.

The commonest mistake with a table of two attributes is to read it the wrong way round; a table therefore knows the
names of its axes and the labels along each, and says in words which of the two is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs import json_text
from beliefs.alphabet import Alphabet
from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.simplex import Vector


class Conditional(NamedTuple):
    """P(column | row) over the rows and columns that occur; `rows` and `columns` are their places in the table."""

    laws: Matrix
    rows: Places
    columns: Places


def conditional_of(weights: Matrix) -> Conditional:
    """Of a table of two axes: what happens along the second given the first. Empty rows and columns are dropped."""
    rows, columns = np.flatnonzero(weights.any(axis=1)), np.flatnonzero(weights.any(axis=0))
    kept = weights[np.ix_(rows, columns)]
    # Each row by its own largest entry first, so that no sum overflows and no small row is lost.
    kept = kept / kept.max(axis=1, keepdims=True)
    return Conditional(kept / np.add.accumulate(kept, axis=1)[:, -1:], rows, columns)


def given(weights: Matrix, secret: int) -> Matrix:
    """P(all other attributes | secret) with one axis for the secret's values that occur, then the others in order."""
    turned = np.moveaxis(weights, secret, 0)
    possible = turned[turned.reshape(turned.shape[0], -1).any(axis=1)]
    flat = possible.reshape(possible.shape[0], -1)
    flat = flat / flat.max(axis=1, keepdims=True)
    laws: Matrix = (flat / np.add.accumulate(flat, axis=1)[:, -1:]).reshape(possible.shape)
    return laws


def margin(weights: Matrix, *axes: int) -> Matrix:
    """The table of some of the attributes, in the order asked for."""
    # By a power of two, so that no sum overflows and none of the least entries is lost.
    scaled = np.ldexp(weights, 980 - math.frexp(float(weights.max()))[1])
    others = tuple(axis for axis in range(weights.ndim) if axis not in axes)
    summed: Matrix = scaled.sum(axis=others)
    left = sorted(axes)
    return np.transpose(summed, [left.index(axis) for axis in axes])


def weights_of(entries: Matrix, field: str) -> Matrix:
    """A table of numbers that are 0 or more, and not all 0."""
    if not bool(np.isfinite(entries).all()):
        raise Invalid(field, "must hold finite numbers")
    if bool((entries < 0).any()):
        raise Invalid(field, "holds a negative number; weights are 0 or more")
    if not bool((entries > 0).any()):
        raise Invalid(field, "is 0 everywhere; a table needs a positive total")
    return entries + 0.0


@dataclass(frozen=True)
class JointTable:
    """Weights of every combination of values: axis i is the attribute names[i], entry j along it is labels[i][j]."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    weights: Matrix

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            raise Invalid("names", "name one attribute twice")
        if len(self.labels) != len(self.names):
            raise Invalid("labels", f"are given for {len(self.labels)} attributes, but there are {len(self.names)}")
        for name, labels in zip(self.names, self.labels, strict=True):
            if len(set(labels)) != len(labels):
                raise Invalid("labels", f"of {name} hold one value twice")
        declared = tuple(len(labels) for labels in self.labels)
        if self.weights.shape != declared:
            raise Invalid("weights", self._misfit(declared))
        weights_of(self.weights, "weights")

    def _misfit(self, declared: tuple[int, ...]) -> str:
        shape = self.weights.shape
        words = f"are {' x '.join(map(str, shape))}, but the labels are {' x '.join(map(str, declared))}"
        if sorted(shape) == sorted(declared):
            return f"{words}: the axes stand in another order (transposed); turn the table or reorder the names"
        return words

    @classmethod
    def from_records(cls, fields: Mapping[str, Sequence[str]], records: Iterable[Mapping[str, str]]) -> JointTable:
        """Counts records; each must have every field, with a value that the field declares."""
        names = tuple(fields)
        places = [{label: place for place, label in enumerate(fields[name])} for name in names]
        weights = np.zeros(tuple(len(fields[name]) for name in names))
        for number, record in enumerate(records):
            cell = []
            for name, known in zip(names, places, strict=True):
                if record.get(name) not in known:
                    raise Invalid("records", f"record {number} has no value of {name} that is declared for it")
                cell.append(known[record[name]])
            weights[tuple(cell)] += 1.0
        return cls(names, tuple(tuple(fields[name]) for name in names), weights)

    def matching(self, fields: Mapping[str, Sequence[str]]) -> JointTable:
        """This table if its names and labels are the declared ones, in their order; otherwise what is wrong."""
        if set(self.names) != set(fields):
            raise Invalid("names", f"are {', '.join(self.names)}, but the fields are {', '.join(fields)}")
        if self.names != tuple(fields):
            raise Invalid(
                "names", f"stand in the order {', '.join(self.names)}, not {', '.join(fields)}: the table is transposed"
            )
        for name, labels in zip(self.names, self.labels, strict=True):
            _require_labels(name, labels, fields)
        return self

    def reordered(self, names: Sequence[str]) -> JointTable:
        """The same table with its axes in another order, or fewer of them."""
        unknown = [name for name in names if name not in self.names]
        if unknown or len(set(names)) != len(names):
            raise Invalid("names", f"must be different ones of {', '.join(self.names)}")
        axes = [self.names.index(name) for name in names]
        return JointTable(tuple(names), tuple(self.labels[axis] for axis in axes), margin(self.weights, *axes))

    def smoothed(self, added: float = 0.5) -> JointTable:
        """As if each combination had been met by so much more: no chance is 0, and no loss without end."""
        if not 0.0 < added < math.inf:
            raise Invalid("added", "must be a number above 0")
        return JointTable(self.names, self.labels, self.weights + added)

    def conditional(self, secret: str, other: str) -> Conditional:
        """P(other | secret)."""
        return conditional_of(self.reordered([secret, other]).weights)


def labels_of(alphabet: Alphabet) -> tuple[str, ...]:
    """The labels of a field's values: texts as they are, numbers and places as JSON writes them."""
    values = (alphabet.value_at(index) for index in range(alphabet.size))
    return tuple(value if isinstance(value, str) else json_text.canonical(value).decode() for value in values)


def _require_labels(name: str, labels: tuple[str, ...], fields: Mapping[str, Sequence[str]]) -> None:
    declared = tuple(fields[name])
    if labels == declared:
        return
    if sorted(labels) == sorted(declared):
        raise Invalid("labels", f"of {name} stand in another order than declared: every row would be read as another's")
    owner = next((other for other in fields if other != name and sorted(fields[other]) == sorted(labels)), None)
    if owner is not None:
        raise Invalid("labels", f"of {name} are those of {owner}: the names of two axes are exchanged")
    strangers = sorted(set(labels) - set(declared)) or sorted(set(declared) - set(labels))
    raise Invalid("labels", f"of {name} do not fit the field: {', '.join(strangers)} stands on one side only")


class Correlation(NamedTuple):
    """How much two attributes tell of each other: nats, I/H(X, Y), and Pearson's of the places of the values."""

    mutual_information: float
    normalised: float
    pearson: float


def correlation_of(weights: Matrix) -> Correlation:
    """0 for each where one of the two attributes has one value only."""
    joint = weights / weights.max()
    joint = joint / joint.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    information = max(0.0, _entropy(rows) + _entropy(columns) - _entropy(joint.ravel()))
    whole = _entropy(joint.ravel())
    return Correlation(information, information / whole if whole > 0.0 else 0.0, _pearson(joint, rows, columns))


def _entropy(law: Vector) -> float:
    positive = law[law > 0.0]
    return max(0.0, -math.fsum((positive * np.log(positive)).tolist()))


def _pearson(joint: Matrix, rows: Vector, columns: Vector) -> float:
    down, along = np.arange(rows.size, dtype=np.float64), np.arange(columns.size, dtype=np.float64)
    down, along = down - (rows * down).sum(), along - (columns * along).sum()
    together = float((joint * down[:, None] * along).sum())
    spread = math.sqrt(float((rows * down**2).sum()) * float((columns * along**2).sum()))
    return max(-1.0, min(1.0, together / spread)) if spread > 0.0 else 0.0
