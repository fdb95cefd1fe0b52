"""What was estimated, as plain columns: for programs, files, data frames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from stream.audit.amounts import Floats

VERSION: Final = 1
NUMBERS: Final = ("estimate", "variance", "low", "high", "projected", "told")
COLUMNS: Final = (
    "window_start", "window_end", "complete", "field", "table", "value", "other", *NUMBERS, "reports",
)  # fmt: skip
"""Of the long form: one row for each number that was estimated."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length: `value`, in some tables `other` (the second field's, or the next, value), and numbers,
    made of so many `reports`.
    """

    columns: Mapping[str, Sequence[Any]]
    reports: int

    def __len__(self) -> int:
        return len(self.columns["estimate"])


def table_of(
    values: Mapping[str, Sequence[Any]],
    estimates: Floats,
    variances: Floats | None,
    reach: float,
    reports: int,
    more: Mapping[str, Floats] | None = None,
) -> Table:
    """With intervals of so many standard errors either way; what is not known is None."""
    columns: dict[str, Sequence[Any]] = {name: list(column) for name, column in values.items()}
    columns["estimate"] = _plain(estimates)
    if variances is None:
        return Table({**columns, **{name: [None] * estimates.size for name in ("variance", "low", "high")}}, reports)
    errors = reach * np.sqrt(variances)
    columns |= {"variance": _plain(variances), "low": _plain(estimates - errors), "high": _plain(estimates + errors)}
    return Table({**columns, **{name: _plain(column) for name, column in (more or {}).items()}}, reports)


def _plain(numbers: Floats) -> list[float | None]:
    return [None if np.isnan(number) else float(number) for number in numbers.ravel()]


@dataclass(frozen=True)
class FieldResult:
    """One field, or the pair of two, in one window. Where `too_few` users are behind it, nothing is told of it."""

    name: str
    reports: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    too_few: bool = False
    why_nothing: str = ""
    notes: Sequence[str] = ()
    """What cannot be told of it, each with why, and what to do."""

    @property
    def is_unanswered(self) -> bool:
        """Whether there are reports, and nothing can be made of them."""
        return bool(self.why_nothing)


@dataclass(frozen=True)
class WindowResult:
    """Of one window of event time, in milliseconds, the end excluded. It is `complete` once nothing more may come."""

    pipeline: str
    policy: str
    start: int
    end: int
    complete: bool
    confidence: float
    fields: Sequence[FieldResult]

    def documents(self) -> list[dict[str, Any]]:
        """One JSON object for each field."""
        window = {"start": self.start, "end": self.end, "complete": self.complete}
        head = {"version": VERSION, "pipeline": self.pipeline, "policy": self.policy, "window": window}
        return [
            {
                **head,
                "field": one.name,
                "confidence": self.confidence,
                "reports": one.reports,
                **one.facts,
                **({"too_few": True} if one.too_few else {}),
                **({"why_nothing": one.why_nothing} if one.why_nothing else {}),
                **({"notes": list(one.notes)} if one.notes else {}),
                "tables": {name: {**table.columns, "reports": table.reports} for name, table in one.tables.items()},
            }
            for one in self.fields
        ]


def columns_of(windows: Iterable[WindowResult]) -> dict[str, list[Any]]:
    """The long form, as pandas.DataFrame and pyarrow.table take it; values are texts, those that are none in JSON."""
    found: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for window in windows:
        for one in window.fields:
            for name, table in one.tables.items():
                rows = len(table)
                head = (window.start, window.end, window.complete, one.name, name)
                for column, value in zip(COLUMNS, head, strict=False):
                    found[column] += [value] * rows
                for column in ("value", "other"):
                    found[column] += [text_of(value) for value in table.columns.get(column, [None] * rows)]
                for column in NUMBERS:
                    found[column] += table.columns.get(column, [None] * rows)
                found["reports"] += [table.reports] * rows
    return found


def text_of(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
