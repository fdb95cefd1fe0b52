"""The value of a window, worked out from the people who were there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from stream.audit.aggregate_noise import Draws
from stream.audit.crowd_numbers import alike, near, number
from stream.audit.crowd_present import People
from stream.audit.crowd_rules import Asked

FARTHEST = 60
"""Noise beyond so many of its scales comes about once in 10^26."""


class Values:
    """Of a released window whose noise has this scale; `draws` gives the noise, where it may be known."""

    def __init__(self, asked: Asked, scale: Fraction | None, draws: Callable[[], Draws] | None) -> None:
        self._asked, self._scale, self._draws = asked, scale, draws

    def wrong(self, told: Any, people: People) -> str | None:
        """The code of what is wrong with it; None where nothing is."""
        if not isinstance(told, dict) or told.get("kind") != self._asked.kind:
            return "crowd_value"
        if told.keys() != _PARTS[self._asked.kind]:
            return "crowd_strange"
        if told.get("noise_scale") is not None and number(told["noise_scale"]) is None:
            return "crowd_noise"
        values = [each.values[0] for each in people.values()]
        if self._asked.kind == "range":
            return None if self._range(told, values) else "crowd_value"
        if self._asked.kind == "histogram":
            return self._histogram(told["cells"], Counter(values))
        return self._sum(told, values)

    def _range(self, told: Mapping[str, Any], values: Sequence[int]) -> bool:
        ends = min(values, default=0), max(values, default=0)
        return [number(told["low"]), number(told["high"])] == [end * self._grid for end in ends]

    def _sum(self, told: Mapping[str, Any], values: Sequence[int]) -> str | None:
        is_mean, grid = self._asked.kind == "mean", self._grid
        amount = number(told["sum" if is_mean else "value"])
        if amount is None or (amount / grid).denominator != 1 or not values:
            return "crowd_value"
        if is_mean and not (alike(told["users"]) == alike(len(values)) and near(told["value"], amount / len(values))):
            return "crowd_value"
        if "grid" in told and number(told["grid"]) != grid:
            return "crowd_value"
        return self._noisy([int(amount / grid)], [sum(values)])

    def _histogram(self, told: Any, counts: Mapping[int, int]) -> str | None:
        labels = list(self._asked.labels)
        if not isinstance(told, list) or not all(isinstance(cell, dict) for cell in told):
            return "crowd_strange"
        if any(cell.keys() != {"value", "count"} or type(cell["count"]) is not int for cell in told):
            return "crowd_strange"
        if [alike(cell["value"]) for cell in told] != list(map(alike, labels)):
            return "crowd_value"
        return self._noisy([cell["count"] for cell in told], [counts.get(place, 0) for place in range(len(labels))])

    def _noisy(self, told: Sequence[int], exact: Sequence[int]) -> str | None:
        if self._scale is None:
            return None if list(told) == list(exact) else "crowd_value"
        if self._draws is not None:
            draws, scale = self._draws(), self._scale
            return None if list(told) == [each + draws.one(scale) for each in exact] else "wrong_noise"
        far = FARTHEST * self._scale + 1
        return "crowd_value" if any(abs(one - two) > far for one, two in zip(told, exact, strict=True)) else None

    @property
    def _grid(self) -> Fraction:
        return Fraction(1) if self._asked.steps is None else Fraction(self._asked.steps.grid)


_PARTS: dict[str, frozenset[str]] = {
    "count": frozenset(["kind", "value", "noise_scale"]),
    "sum": frozenset(["kind", "value", "grid", "noise_scale"]),
    "mean": frozenset(["kind", "value", "sum", "users", "grid", "noise_scale"]),
    "range": frozenset(["kind", "low", "high"]),
    "histogram": frozenset(["kind", "cells", "noise_scale"]),
    "records": frozenset(["kind", "loss"]),
}
