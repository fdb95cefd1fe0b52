"""How much each attribute may spend so that none loses more than its cap in total. Proof: calibration.md.

A meter says what every attribute loses in total, by its own report and through all others, at given budgets; it never
falls when a budget rises. Budgets are found from below: every one that is returned was measured to keep the caps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.account import Totals
from beliefs.correlation.bound import Matrix, sum_of
from beliefs.correlation.frontier import Frontier
from beliefs.correlation.joint import in_total, joint_leak
from beliefs.correlation.tables import conditional_of, given, margin
from beliefs.rounding import nats, units_up
from beliefs.simplex import Vector

_HALVINGS = 60
_SHARE = 2.0**-20
"""A budget counts as free to rise while it may rise by this share of the largest cap."""


class Meter(Protocol):
    """`guarantee`: whether the totals hold for every joint law; otherwise `assumes` says what they need."""

    fields: int
    guarantee: bool
    assumes: str

    def totals(self, budgets: Vector) -> Vector: ...


class ExactMeter:
    """Randomised response in every field: the exact joint leak."""

    guarantee, assumes = True, ""

    def __init__(self, weights: Matrix) -> None:
        self.fields = weights.ndim
        self.laws = [given(weights, secret) for secret in range(self.fields)]

    def totals(self, budgets: Vector) -> Vector:
        spent = budgets.tolist()
        others = [spent[:secret] + spent[secret + 1 :] for secret in range(self.fields)]
        pairs = zip(spent, self.laws, others, strict=True)
        return np.array([in_total(own, joint_leak(laws, rest) if rest else 0.0) for own, laws, rest in pairs])


class GroupMeter:
    """Any mechanisms: all neighbours of a secret count as one attribute with the sum of their budgets."""

    guarantee, assumes = True, ""

    def __init__(self, conditionals: Sequence[Matrix]) -> None:
        self.fields = len(conditionals)
        self.frontiers = [Frontier(laws) for laws in conditionals]

    @classmethod
    def of_table(cls, weights: Matrix) -> GroupMeter:
        laws = [given(weights, secret) for secret in range(weights.ndim)]
        return cls([each.reshape(each.shape[0], -1) for each in laws])

    @classmethod
    def of_records(cls, records: Matrix) -> GroupMeter:
        """Rows are records of value numbers; only combinations that occur have a chance, so no table is needed."""
        conditionals = []
        for secret in range(records.shape[1]):
            rest = np.delete(records, secret, axis=1)
            _, cells = np.unique(rest, axis=0, return_inverse=True)
            values, places = np.unique(records[:, secret], return_inverse=True)
            counts = np.zeros((values.size, int(cells.max()) + 1))
            np.add.at(counts, (places.ravel(), cells.ravel()), 1.0)
            # Combinations with equal counts under every secret are one to the best set: it holds all or none of them.
            different, times = np.unique(counts, axis=1, return_counts=True)
            conditionals.append(conditional_of(different * times).laws)
        return cls(conditionals)

    def totals(self, budgets: Vector) -> Vector:
        spent = budgets.tolist()
        rest = [math.nextafter(sum_of(spent[:secret] + spent[secret + 1 :]), math.inf) for secret in range(len(spent))]
        told = [min(level, each.bound(level)) for each, level in zip(self.frontiers, rest, strict=True)]
        return np.array([in_total(own, leak) for own, leak in zip(spent, told, strict=True)])


class PairwiseMeter:
    """Adds what each neighbour may tell by itself."""

    guarantee, assumes = False, "neighbours are independent of each other given the secret"

    def __init__(self, weights: Matrix) -> None:
        self.fields = weights.ndim
        self.frontiers = {
            (secret, other): Frontier(conditional_of(margin(weights, secret, other)).laws)
            for secret in range(self.fields)
            for other in range(self.fields)
            if other != secret
        }

    def totals(self, budgets: Vector) -> Vector:
        totals = budgets.copy()
        for (secret, other), frontier in self.frontiers.items():
            totals[secret] += frontier.bound(float(budgets[other]))
        return totals


class AccountMeter:
    """What the stream itself sums up, to the last unit: each field by the rule that serves it."""

    guarantee, assumes = True, ""

    def __init__(self, totals: Totals) -> None:
        self.fields = len(totals.fields)
        self.account = totals

    def totals(self, budgets: Vector) -> Vector:
        told = tuple(units for spent in budgets.tolist() for units in (units_up(spent), 0))
        return np.array([nats(total) for total in self.account.of(told)[: self.fields]])


def equal_budgets(meter: Meter, cap: float | Vector) -> float:
    """The largest budget that all fields may have alike while no total is above the cap, or above its own."""
    caps = _caps_of(meter, np.full(meter.fields, cap) if isinstance(cap, float) else cap)
    return _raised(meter, np.zeros(meter.fields), np.ones(meter.fields, dtype=np.bool_), caps)


def unequal_budgets(meter: Meter, caps: Vector) -> Vector:
    """Raises all budgets alike until a cap stops some; those that can still rise go on, until none can."""
    caps = _caps_of(meter, caps)
    budgets, rising = np.zeros(meter.fields), np.ones(meter.fields, dtype=np.bool_)
    while rising.any():
        budgets[rising] = _raised(meter, budgets, rising, caps)
        free = [place for place in np.flatnonzero(rising).tolist() if _may_rise(meter, budgets, place, caps)]
        still = np.zeros(meter.fields, dtype=np.bool_)
        still[free] = True
        if bool((still == rising).all()):  # each could rise by itself, but not all together: this is where they stop
            break
        rising = still
    return budgets


def _raised(meter: Meter, budgets: Vector, rising: np.typing.NDArray[np.bool_], caps: Vector) -> float:
    """The highest common budget of those that rise that was found to keep all caps."""

    def kept(level: float) -> bool:
        return bool((meter.totals(np.where(rising, level, budgets)) <= caps).all())

    low, high = float(budgets[rising].max()), float(caps.max())
    if kept(high):
        return high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


def _may_rise(meter: Meter, budgets: Vector, place: int, caps: Vector) -> bool:
    tried = budgets.copy()
    tried[place] += _SHARE * float(caps.max())
    return bool((meter.totals(tried) <= caps).all())


def _caps_of(meter: Meter, caps: Vector) -> Vector:
    if caps.size != meter.fields:
        raise Invalid("caps", f"are given for {caps.size} fields, but there are {meter.fields}")
    if not bool((caps > 0.0).all()):
        raise Invalid("total", "must be above 0 nats")
    return caps
