"""Reports that are values of the field: their JSON is the value itself. The format, and what is refused: wire.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid, kind_of
from mechanisms.contract import Integers
from mechanisms.local.slots import Values


@dataclass(frozen=True)
class Labels:
    """One of the field's values, as itself."""

    alphabet: Values

    @property
    def size(self) -> int:
        return self.alphabet.size

    def check(self, reports: Integers) -> None:
        require_array(reports, "values", None, 0, self.size - 1)

    def documents(self, reports: Integers) -> list[object]:
        return [self.alphabet.value_at(index) for index in reports.tolist()]

    def row(self, document: object) -> int:
        index = self.alphabet.released_index(document)
        if index is None:
            raise Invalid("report", f"must be one of the {self.alphabet.size} values, found {kind_of(document)}")
        return index

    def stack(self, rows: Sequence[int]) -> Integers:
        return np.array(rows, dtype=np.int64)


@dataclass(frozen=True)
class TopLabels:
    """One of the named values, as itself, or null for any other."""

    alphabet: Values
    top: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.top) + 1

    def check(self, reports: Integers) -> None:
        require_array(reports, "cells", None, 0, self.size - 1)

    def documents(self, reports: Integers) -> list[object]:
        named = [*(self.alphabet.value_at(index) for index in self.top), None]
        return [named[cell] for cell in reports.tolist()]

    def row(self, document: object) -> int:
        index = self.alphabet.released_index(document)
        if document is None:
            return len(self.top)
        if index not in self.top:
            wanted = f"one of the {len(self.top)} named values, or null for the others"
            raise Invalid("report", f"must be {wanted}, found {kind_of(document)}")
        return self.top.index(index)

    def stack(self, rows: Sequence[int]) -> Integers:
        return np.array(rows, dtype=np.int64)


def require_array(reports: object, what: str, width: int | None, low: int, high: int) -> None:
    shape = "a list" if width is None else f"rows of {width}"
    wrong = Invalid("reports", f"must be {shape} of whole numbers, {what} of {low} to {high}")
    if not isinstance(reports, np.ndarray) or reports.dtype.kind not in "iu":
        raise wrong
    if not np.can_cast(reports.dtype, np.int64):
        raise Invalid("reports", "must be of a type whose numbers all fit into int64")
    if reports.ndim != (1 if width is None else 2) or (width is not None and reports.shape[1] != width):
        raise wrong
    if bool(((reports < low) | (reports > high)).any()):
        raise wrong
