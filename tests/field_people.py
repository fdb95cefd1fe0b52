"""People with sexes, jobs, ranks, apps and ages: fields, joint tables of those that last, and whole runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from audit_memory import Kept
from field_audit_world import FieldRun, events_of, settings_with, written

from beliefs.correlation.tables import JointTable

SEXES, JOBS, RANKS = ("f", "m"), ("clerk", "nurse", "pilot"), ("0", "1")
SEX = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 0.5, lasting: true, cap: 3}"
JOB = "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: grr, epsilon: 0.25, lasting: true, cap: 4}"
RANK = (
    "rank: {path: $.rank, values: {kind: integers, low: 0, high: 1}, mechanism: exp, epsilon: 1, lasting: true, cap: 5}"
)
APPS = "apps: {path: $.in.apps, values: [a, b, c, d], mechanism: olh, epsilon: 2, at_most: 3, cap: 9, beyond: lower}"
AGE = "age: {path: $.in.age, values: {kind: bins, low: 0, high: 100, cells: 10}, mechanism: oue, epsilon: 1, cap: 7}"
COARSER = "coarser: {ground: [clerk, nurse], air: [pilot]}"
BESIDE = {"nats": 1.5, "window": "forever", "epsilon": 0.5}
COARSE = JOB.replace("cap: 4", f"cap: 20, beyond: coarsen, {COARSER}").replace("epsilon: 0.25", "epsilon: 1")
LOWER, COARSEN = (
    JOB.replace("cap: 4", "cap: 4, beyond: lower"),
    JOB.replace("cap: 4", f"cap: 4, beyond: coarsen, {COARSER}"),
)


def table(*names: str) -> JointTable:
    """Of sex, job and rank, or of some of them."""
    labels = {"sex": SEXES, "job": JOBS, "rank": RANKS}
    weights = np.random.default_rng(7).dirichlet(np.full(12, 0.7)).reshape(2, 3, 2) + 0.01
    whole = JointTable(tuple(labels), tuple(labels.values()), weights)
    return whole.reordered(names)


def apart() -> JointTable:
    """What tells clerks from nurses tells women from men, and from one rank to the other; who is a pilot does not."""
    weights = np.array([[[1.0, 1.2], [8.0, 7.0], [1.0, 1.1]], [[8.0, 7.5], [1.0, 1.3], [1.0, 0.9]]])
    return JointTable(("sex", "job", "rank"), (SEXES, JOBS, RANKS), weights)


def people(count: int, users: int = 6, step_ms: int = 1000) -> list[Kept]:
    """A user's sex, job and rank last, apps and age do not."""
    source = np.random.default_rng(3)
    documents = [
        {
            "activity": f"act{i // users % 4}",
            "sex": SEXES[i % users % 2],
            "job": JOBS[i % users % 3],
            "rank": i % users // 3 % 2,
            "app": "abcd"[i % users % 4],
            "in": {"apps": ["a", "c", "d"][: int(source.integers(4))], "age": float(source.integers(100))},
            "secret": "canary",
        }
        for i in range(count)
    ]
    return events_of(documents, users, step_ms)


def world(
    *fields: str,
    more: Sequence[str] = (),
    joint: JointTable | None = None,
    protect: Mapping[str, Any] | None = None,
    count: int = 120,
    **how: Any,
) -> FieldRun:
    lines = [*more, *(["joint: joint.json"] if joint is not None else [])]
    settings = settings_with(fields, lines, protect)
    return written(settings, people(count), joint, protect=protect, **how)
