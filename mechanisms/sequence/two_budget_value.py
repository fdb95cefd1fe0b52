"""One step of a filter with two budgets: what is kept, and exactly what each release takes of either. Proof:
two_budget_value.md.

The lower budget of the step decides how often anything is revealed; everything that is left of the upper one may be
spent by a single rare value. The channel is the optimal one for these two bounds, in the whole units that would be
sampled; all leaks are those of the units.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid, require
from beliefs.leakage.sequence import exact_law, log_up
from beliefs.rounding import UNITS_PER_NAT
from beliefs.simplex import Vector, normalised
from mechanisms.contract import SHAVE_UNITS, TOTAL, Floats, Workspace, new_workspace
from mechanisms.sequence import optimal

_SHAVE = SHAVE_UNITS / UNITS_PER_NAT
_LARGEST = 600.0
"""e^600 is still a double, and so is its quotient by the smallest share that is revealed."""


class Told(NamedTuple):
    """One release: how likely it is, and what it tells, in nats, rounded up."""

    value: int
    chance: float
    upper: float
    lower: float
    likelihood: list[float]


class TwoBudgetValue(NamedTuple):
    accuracy: float
    reveal: float
    """c: how often K is used rather than a draw from the release's own law"""
    cap: float
    """M: what K(y|x)/p(y) may reach"""
    releases: list[Told]

    @property
    def upper(self) -> float:
        return max(told.upper for told in self.releases)

    @property
    def lower(self) -> float:
        return max(told.lower for told in self.releases)


def two_budget_value(prior: Vector, lower: float, upper: float) -> TwoBudgetValue:
    """For a step that may tell `lower` nats downwards, while `upper` nats are left upwards."""
    for field, nats in (("lower", lower), ("upper", upper)):
        if not nats >= 0.0:
            raise Invalid(field, "is negative; it must be 0 or more nats")
    belief, work = normalised(prior), new_workspace(prior.size)
    constants = _constants(lower - _SHAVE, min(upper, _LARGEST) - _SHAVE)
    optimal.prepare(belief, constants, work)
    law = exact_law(belief.tolist())
    columns = _columns(belief, work)
    releases = [_told(value, column, law) for value, column in columns.items()]
    kept = sum((law[value] * column[value] for value, column in columns.items()), Fraction(0)) / TOTAL
    for told in releases:
        require(told.upper <= upper, "a release stays within the upper budget")
        require(told.lower <= lower, "a release stays within the lower budget")
    reveal, cap = float(constants[optimal.REVEAL]), float(constants[optimal.CAP])
    return TwoBudgetValue(float(kept), reveal, cap, releases)


def _constants(lower: float, upper: float) -> Floats:
    """The mechanism's constants for bounds that are not alike: U = e^upper, M = (U - e)/c."""
    if lower <= 0.0 or upper <= 0.0:
        return np.array([1.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    covered, reveal = math.exp(-lower), -math.expm1(-lower)
    ceiling, growth = math.exp(upper), math.expm1(upper)
    cap = growth / reveal + 1.0  # (U - e)/c = (U - 1)/c + 1
    pad = math.ceil((2.0 * ceiling + 1.0) / growth) + 1.0
    return np.array([covered, reveal, ceiling, cap, 1.0 / cap, pad])


def _columns(belief: Floats, work: Workspace) -> dict[int, list[int]]:
    """For each value that may be released the units that each row gives it."""
    released = work.head[: int(work.size[optimal.COUNT])].tolist()
    rows = []
    for x in range(belief.size):
        optimal.row(x, belief, work)
        rows.append(work.row[: len(released)].tolist())
    return {value: [row[i] for row in rows] for i, value in enumerate(released)}


def _told(value: int, column: list[int], law: list[Fraction]) -> Told:
    marginal = sum((mass * units for mass, units in zip(law, column, strict=True)), Fraction(0))
    return Told(
        value,
        float(marginal / TOTAL),
        log_up(max(column) / marginal),
        log_up(marginal / min(column)) if min(column) else math.inf,
        [units / TOTAL for units in column],
    )
