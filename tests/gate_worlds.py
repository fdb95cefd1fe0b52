"""Gates of all kinds for tests: fields in and outside of a table, every way to go on at a cap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.correlation.account import AccountField, Totals
from beliefs.rounding import units_up
from stream.fields.gate import Beyond, Gate, GateField

BEYOND: tuple[Beyond, ...] = ("withhold", "lower", "coarsen")


class Drawn(NamedTuple):
    """One field as a test draws it; a cap of 0 is none, and so is a longitudinal level of 0."""

    size: int
    inside: bool
    responds: bool
    epsilon: float
    beyond: int
    cap: float
    longitudinal: float


def levels_of(epsilon: float) -> tuple[int, int, int, int, int]:
    full, half, quarter, eighth = (units_up(epsilon / 2**halvings) for halvings in range(4))
    return full, half, quarter, eighth, full


def gate_of(drawn: Sequence[Drawn], seed: int, budget: float = 0.0, protected_cap: float = 0.0) -> Gate:
    """The table is drawn from the seed; a budget of 0 is no protected field."""
    inside = [place for place, each in enumerate(drawn) if each.inside]
    shape = tuple(drawn[place].size for place in inside)
    weights = np.random.default_rng(seed).gamma(0.4, size=shape) + 1e-6 if inside else None
    summed, gated = [], []
    for place, each in enumerate(drawn):
        groups = (0, *[1] * (each.size - 1))
        axis, classes = (inside.index(place), tuple(range(each.size))) if each.inside else (None, None)
        summed.append(AccountField(f"field {place}", axis, classes if each.responds else None, groups))
        limit, cap = units_up(each.longitudinal) or None, units_up(each.cap) or None
        beyond = BEYOND[each.beyond]
        gated.append(GateField(f"field {place}", levels_of(each.epsilon), beyond, cap, limit, limit))
    reserved = units_up(budget) or None
    return Gate(gated, Totals(summed, weights, reserved), units_up(protected_cap) or None if reserved else None)
