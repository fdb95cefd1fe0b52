"""Runs with four kinds of local fields for tests that falsify them, and what an audit finds then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from field_audit_world import FieldRun, events_of, settings_with, written

SEX = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 0.5, cap: 30}"
WAY = "way: {path: $.way, values: [bus, car, tram, bike], mechanism: olh, epsilon: 2, cap: 40, beyond: lower}"
JOB = (
    "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: grr, epsilon: 1, cap: 35, beyond: coarsen, "
    "coarser: {ground: [clerk, nurse], air: [pilot]}}"
)
BITS = "bits: {path: $.bits, values: [a, b, c], mechanism: oue, epsilon: 1}"
FEW, SOME = SEX.replace("cap: 30", "cap: 3"), WAY.replace("cap: 40", "cap: 5")
"""Caps that are reached soon: two events of FEW with BITS, and three of SOME, the last of them lowered."""
USERS = 4


def inputs(count: int = 48) -> list[Any]:
    source = np.random.default_rng(5)
    documents = []
    for _ in range(count):
        sex, way, job, bits = (int(source.integers(most)) for most in (2, 4, 3, 3))
        documents.append(
            {
                "sex": "fm"[sex],
                "way": ["bus", "car", "tram", "bike"][way],
                "job": ["clerk", "nurse", "pilot"][job],
                "bits": "abc"[bits],
            }
        )
    return events_of(documents, USERS)


def world(*fields: str, **how: Any) -> FieldRun:
    more = how.pop("more", ())
    return written(settings_with(fields, more), inputs(), **how)


def found(finished: FieldRun) -> dict[tuple[str, str], int]:
    """Codes and details with their counts."""
    report = finished.report()
    assert report.exit_status == (1 if len(report.findings) else 0)
    return {(finding.code, finding.detail): finding.count for finding in report.findings}


def codes(finished: FieldRun) -> set[str]:
    return {code for code, _ in found(finished)}


def last_of(finished: FieldRun, sign: str, field: int) -> int:
    """The last record in which a field has this sign."""
    places = range(len(finished.released()))
    return max(place for place in places if finished.signs(place)[field] == sign)


def at(place: int, signs: str) -> Callable[[int, str], str]:
    return lambda number, should: signs if number == place else should
