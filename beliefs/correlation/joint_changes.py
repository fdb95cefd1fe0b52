"""Joint tables made of others, and how well these are then known. Proof: joint_file.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.correlation.joint_file import JointModel
from beliefs.correlation.table_radii import known_within
from beliefs.correlation.tables import given
from beliefs.simplex import Vector

_UP = 1.0 + 2.0**-40


def some_fields(model: JointModel, names: Sequence[str]) -> JointModel:
    """The table of some of the names, in this order. Counts stay counts; stated radii hold for fewer fields, too."""
    table = model.table.reordered(names)
    # A margin is made larger by a power of two, which is taken back.
    larger = round(math.log2(float(table.weights.sum())) - math.log2(float(model.table.weights.sum())))
    radius = None if model.radius is None else {name: model.radius[name] for name in names}
    return replace(model, table=replace(table, weights=np.ldexp(table.weights, -larger)), radius=radius, digest="")


def with_more(model: JointModel, added: float) -> JointModel:
    """Every combination with so much more weight. A table that was known within radii is as much farther from the truth
    as its laws have moved; one that was exact is what somebody says it is.
    """
    table, known = model.table.smoothed(added), known_within(model)
    if known is None:
        return replace(model, table=table, digest="")
    radius = {
        name: np.minimum(1.0, (known[name] + _moved(model.table.weights, table.weights, axis)) * _UP)
        for axis, name in enumerate(table.names)
    }
    return JointModel(table, radius=radius, learnt_from=dict(model.learnt_from) | _failure_of(model))


def as_exact(model: JointModel) -> JointModel:
    """The same weights as the truth itself."""
    return JointModel(model.table, learnt_from=dict(model.learnt_from))


def _moved(before: Matrix, after: Matrix, secret: int) -> Vector:
    """The total variation between what two tables say of the others, given each value; 1 where one says nothing."""
    size = before.shape[secret]
    seen = np.moveaxis(before, secret, 0).reshape(size, -1).any(axis=1)
    old, new = given(before, secret), given(after, secret)[seen]
    moved = np.ones(size)
    moved[seen] = np.abs(old - new).reshape(len(old), -1).sum(axis=1) / 2.0
    return moved


def _failure_of(model: JointModel) -> dict[str, object]:
    return {} if model.failure is None else {"failure": model.failure}
