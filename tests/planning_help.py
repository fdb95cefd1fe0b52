"""Points and settings for the tests of plans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from beliefs.chain import Chain
from beliefs.rounding import INFINITE, budget_units
from mechanisms.contract import constants_table
from mechanisms.registry import MECHANISMS
from stream.commands.expectation import Promised
from stream.planning.points import Candidate, Point
from stream.policy import Policy

POINT = Point(
    candidate=Candidate("optimal", 1.0),
    notion="SIP 1",
    agreement=0.5,
    agreement_error=0.0,
    exact=None,
    distance=None,
    distance_error=0.0,
    delay_ms=0.0,
    worst_per_release=1.0,
    worst_per_event=1.0,
    worst_for_anyone=2.0,
    worst_per_day=10.0,
    kept_per_day=float("inf"),
    mean_per_event=0.5,
    mean_per_day=5.0,
    values_per_release=1.0,
    forecast=0.0,
    suppressed=0.0,
    cost_us=1.0,
    cost_error=0.1,
    work=4,
    users=100,
    steps=10,
)


def point(mechanism: str = "optimal", epsilon: float = 1.0, **changes: Any) -> Point:
    return replace(POINT, candidate=Candidate(mechanism, epsilon), **changes)


def promised(name: str, epsilon: float, budget: float | None = None) -> Promised:
    mechanism, units = MECHANISMS[name], budget_units(epsilon)
    most = INFINITE if budget is None else budget_units(budget)
    return Promised(Policy(mechanism.code, mechanism.holds_epsilon, constants_table(units), units, most, 0, 0, 1))


def chain_of(rows: list[list[float]], start: list[float] | None = None) -> Chain:
    return Chain.from_dense(start or [1 / len(rows)] * len(rows), np.array(rows).tolist())
