"""What each field of a joint table loses through all the others of it, by what was told of them. Proof: account.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from beliefs.checks import Invalid, require
from beliefs.correlation.bound import Matrix
from beliefs.correlation.moved_nested import moved_bound
from beliefs.correlation.moved_rows import cells_of, moved_leak, patterns_of
from beliefs.correlation.nested import FAR, Grouped, grouped, nested_bound
from beliefs.correlation.response_units import Axis, Responses, summed
from beliefs.correlation.table_radii import raised
from beliefs.correlation.tables import weights_of
from beliefs.rounding import INFINITE, sum_units
from beliefs.simplex import Vector

COLUMNS_MAX = 1 << 20
_KEPT = 1 << 13
_KEPT_CELLS = 1 << 23

Told = tuple[tuple[int, int], ...]
"""For each field the units of its reports, and those of the reports of its groups."""


@dataclass(frozen=True)
class TableField:
    """`classes`: the number of the class that a report names for each value, where reports are randomised response
    over classes (all values apart, with `grr` and `exp`); None where reports are of another kind. `groups`: the group
    of each value, where there are coarser reports, which are then of the same kind.
    """

    name: str
    classes: tuple[int, ...] | None
    groups: tuple[int, ...] | None = None


class TableLeaks:
    """One field for each axis of the table. `radii` are those of the laws of all others given each value of a field,
    where the table is not exact: then what is lost is the most under any table within them.
    """

    def __init__(self, weights: Matrix, fields: Sequence[TableField], radii: Sequence[Vector] | None = None) -> None:
        self.fields = tuple(fields)
        self.responses = Responses(weights_of(weights, "joint"), self._moving(weights.shape, radii))
        self._check()
        self.far = self.responses.far if all(field.classes for field in fields) else FAR
        self._kept = lru_cache(maxsize=_KEPT)(self._leaks)
        self._grouped = lru_cache(maxsize=max(1, _KEPT_CELLS // weights.size))(self._arranged)

    def of(self, told: Told) -> tuple[int, ...]:
        """Of each field; never above the plain sum of what was told of the others."""
        for field, (_, coarse) in zip(self.fields, told, strict=True):
            require(coarse == 0 or field.groups is not None, "a field whose group was reported has groups")
        clipped = tuple((self._clip(fine), self._clip(coarse)) for fine, coarse in told)
        plain = [_others(told, secret) for secret in range(len(told))]
        return tuple(min(leak, most) for leak, most in zip(self._kept(clipped), plain, strict=True))

    def exact(self, secret: int) -> bool:
        """Whether the others' reports are all randomised response, so that what is lost through them is exact: of a
        table that is known roughly, where there are not too many patterns to be looked at.
        """
        told = [(1, int(field.groups is not None)) for field in self.fields]
        axes = [self._axis(place, *each) for place, each in enumerate(told)]
        return self._responding(secret) and (self.responses.radii[secret] is None or self._few(secret, axes))

    def _responding(self, secret: int, told: Told | None = None) -> bool:
        return all(
            field.classes is not None or (told is not None and told[place] == (0, 0))
            for place, field in enumerate(self.fields)
            if place != secret
        )

    def _few(self, secret: int, axes: Sequence[Axis]) -> bool:
        """Whether all patterns of all outputs can be looked at under every value of the secret."""
        others = math.prod(cells_of(axis) for place, axis in enumerate(axes) if place != secret)
        return bool(others * self.responses.shape[secret] <= COLUMNS_MAX)

    def _clip(self, units: int) -> int:
        """Above some amount all count as everything: the leaks of an endless stream are worked out once."""
        return units if units <= self.far else INFINITE

    def _leaks(self, told: Told) -> tuple[int, ...]:
        axes = [self._axis(place, fine, coarse) for place, (fine, coarse) in enumerate(told)]
        secrets = range(len(told))
        responding = [self._responding(secret, told) for secret in secrets]
        found = [self._moved(secret, axes) if responding[secret] else None for secret in secrets]
        open_to = [secret for secret in secrets if responding[secret] and found[secret] is None]
        few = self.responses.columns(axes) <= COLUMNS_MAX
        leaks = self.responses.leaks(axes if few else [axis._replace(coarse=0) for axis in axes]) if open_to else []
        for secret in open_to:
            if few:
                found[secret] = leaks[secret]
            else:
                coarsely = _others([(0, coarse) for _, coarse in told], secret)
                found[secret] = min(sum_units([leaks[secret], coarsely]), self._bounded(secret, told))
        return tuple(self._bounded(secret, told) if leak is None else leak for secret, leak in enumerate(found))

    def _moved(self, secret: int, axes: Sequence[Axis]) -> int | None:
        """Exactly through randomised responses under any law within the radii; None where that is not worked out."""
        radii = self.responses.radii[secret]
        if radii is None or not self._few(secret, axes):
            return None
        neighbours = [
            patterns_of(axis, *self.responses.powers(axis)) for place, axis in enumerate(axes) if place != secret
        ]
        return moved_leak(self.responses.weights, self.responses.margins[secret], secret, neighbours, radii)

    def _axis(self, place: int, fine: int, coarse: int) -> Axis:
        field, apart = self.fields[place], tuple(range(self.responses.shape[place]))
        return Axis(fine, coarse, field.classes or apart, field.groups or apart)

    def _bounded(self, secret: int, told: Told) -> int:
        """Through any reports of those amounts in sum: all of whom anything was told count as one neighbour."""
        others = [each for place, each in enumerate(told) if place != secret]
        laws, edges = self._grouped(secret, tuple(min(fine, 1) + 2 * min(coarse, 1) for fine, coarse in others))
        fine, coarse = (sum_units(amounts) for amounts in zip(*others, strict=True))
        radii = self.responses.radii[secret]
        if radii is None:
            return nested_bound(laws, edges, fine, coarse)
        return moved_bound(laws, edges, fine, coarse, radii)

    def _arranged(self, secret: int, told: tuple[int, ...]) -> Grouped:
        """`told` of each other field: 0 nothing, 1 fine reports, 2 coarse ones, 3 both."""
        weights, groups = self.responses.weights, []
        for place, which in zip((place for place in range(weights.ndim) if place != secret), told, strict=True):
            weights = weights if which else summed(weights, place)
            groups.append(self.fields[place].groups if which >= 2 else None)
        return grouped(weights, self.responses.margins[secret], secret, groups)

    def _moving(self, shape: tuple[int, ...], radii: Sequence[Vector] | None) -> list[Vector | None]:
        """Of each axis; None where its laws are exact."""
        if radii is None:
            return [None] * len(shape)
        if len(radii) != len(shape) or len(self.fields) != len(shape):
            raise Invalid("radius", f"must be given for each of {len(shape)} fields")
        named = zip(radii, self.fields, shape, strict=True)
        return [raised(each, field.name, size) for each, field, size in named]

    def _check(self) -> None:
        shape = self.responses.shape
        if len(shape) != len(self.fields):
            raise Invalid("joint", f"has {len(shape)} axes, but there are {len(self.fields)} fields in it")
        for field, size, margin in zip(self.fields, shape, self.responses.margins, strict=True):
            for named in (field.classes, field.groups):
                if named is not None and len(named) != size:
                    raise Invalid("joint", f"has {size} values of {field.name}, but the field has {len(named)}")
            empty = [str(place) for place in range(size) if margin[place] == 0.0]
            if empty:
                raise Invalid(
                    "joint",
                    f"holds no weight for value {', '.join(empty)} (counted from 0) of {field.name}, so that nothing "
                    "is known of those who have it; give it some weight, or leave the field out of the table",
                )


def _others(told: Sequence[tuple[int, int]], secret: int) -> int:
    return sum_units([units for place, each in enumerate(told) if place != secret for units in each])
