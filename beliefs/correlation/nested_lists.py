"""Nested lists as a table, and the place of an entry that is none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from beliefs.checks import Invalid, kind_of
from beliefs.correlation.bound import Matrix

CELLS_MAX, AXES_MAX = 1 << 20, 32


def nested_entries(
    value: object, path: str, read: Callable[[object, str], float], cells_max: int = CELLS_MAX
) -> Matrix:
    """`read` makes a number of each innermost entry, or refuses it by its place, such as counts[1][0]."""
    shape = _shape(value, path, cells_max)
    entries: list[float] = []
    _collect(value, path, shape, read, entries)
    return np.array(entries).reshape(shape)


def _shape(value: object, path: str, cells_max: int) -> tuple[int, ...]:
    """The lengths along the first entries; `_collect` compares all others with them."""
    shape: tuple[int, ...] = ()
    cells, inner = 1, path
    while isinstance(value, list):
        if not value:
            raise Invalid(inner, "is empty")
        cells *= len(value)
        if cells > cells_max:
            raise Invalid(path, f"has more than {cells_max:,} cells: leave fields out, or join their rare values")
        shape, value, inner = (*shape, len(value)), value[0], f"{inner}[0]"
    if len(shape) > AXES_MAX:
        raise Invalid(path, f"has {len(shape)} axes, more than {AXES_MAX}")
    if not shape:
        raise Invalid(path, f"must be lists within lists, one level for each field, found {kind_of(value)}")
    return shape


def _collect(
    value: object, path: str, shape: tuple[int, ...], read: Callable[[object, str], float], entries: list[float]
) -> None:
    if not shape:
        entries.append(read(value, path))
        return
    if not isinstance(value, list):
        raise Invalid(path, f"must be a list of {shape[0]}, as the first one at its depth is, found {kind_of(value)}")
    if len(value) != shape[0]:
        raise Invalid(path, f"has {len(value)} entries, but the first list at its depth has {shape[0]}")
    for place, each in enumerate(value):
        _collect(each, f"{path}[{place}]", shape[1:], read, entries)
