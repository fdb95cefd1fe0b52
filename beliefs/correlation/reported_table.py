"""A labelled joint table from pairs of private reports, with radii for the rows of both fields. Proof: reported.md."""

from __future__ import annotations

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.correlation.joint_file import JointModel
from beliefs.correlation.reported import Learnt, Reading, Told, learn
from beliefs.correlation.tables import JointTable
from beliefs.simplex import Vector

_UP = 1.0 + 2.0**-40


def reported_table(
    names: tuple[str, str],
    labels: tuple[tuple[str, ...], tuple[str, ...]],
    told: tuple[Told, Told],
    readings: tuple[Reading, Reading],
    failure: float,
) -> JointModel:
    """`told`: the sums with the first field first, and with the second first. All radii hold but for `failure`."""
    if told[0].users != told[1].users or told[0].pairs.shape != told[1].pairs.T.shape:
        raise Invalid("told", "must be the same reports twice, once with each field first")
    forth = learn(told[0], readings[0], readings[1], failure / 2.0)
    back = learn(told[1], readings[1], readings[0], failure / 2.0)
    table = JointTable(names, labels, forth.table)
    radius = {names[0]: _of_table(forth, forth.table), names[1]: _of_table(back, forth.table.T)}
    return JointModel(table, radius=radius, learnt_from={"users": told[0].users, "failure": failure})


def _of_table(learnt: Learnt, table: Matrix) -> Vector:
    """The table's own rows are this far from the learnt ones, which are that far from the truth."""
    sums = np.add.accumulate(table, axis=1)[:, -1:]
    seen = sums[:, 0] > 0.0
    radii = np.ones(table.shape[0])
    apart = np.abs(table[seen] / sums[seen] - learnt.rows[seen]).sum(axis=1) / 2.0
    radii[seen] = np.minimum(1.0, (learnt.radii[seen] + apart) * _UP)
    return radii
