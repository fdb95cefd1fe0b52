"""From reports to frequencies: what an analyst calls. What the numbers mean: frequencies.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from beliefs.checks import Invalid
from beliefs.simplex import on_the_simplex
from mechanisms.contract import Floats, Integers
from mechanisms.local.contract import Drawn
from mechanisms.local.estimate import Estimate
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import DrawnHashing, HashReports
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.inverted import reports_in, sums_of
from mechanisms.local.registry import drawn
from mechanisms.local.top_k import DrawnTop
from mechanisms.local.wire import read, shape_of

_BLOCK_CELLS, _BLOCK_MOST = 1 << 20, 1 << 12
"""Reports are read in blocks of at most so many cells, 8 MiB, and so many reports."""


class Frequencies(NamedTuple):
    """Of each value of the field, in its order, among the people whose reports were counted.

    Of top-k reports: of each named value, and behind them, as None, of all others together.
    """

    values: tuple[object, ...]
    reports: int
    estimate: Estimate

    def projected(self) -> Floats:
        """The nearest law: nothing below 0, 1 in all, and biased."""
        return on_the_simplex(self.estimate.frequencies)

    def to_table(self, confidence: float = 0.95, *, projected: bool = False) -> dict[str, list[object]]:
        """Columns of equal length, as pandas.DataFrame and pyarrow.table take them."""
        low, high = self.estimate.interval(confidence)
        columns = {
            "frequency": self.estimate.frequencies,
            "variance": self.estimate.variances,
            "low": low,
            "high": high,
        }
        if projected:
            columns["projected"] = self.projected()
        return {"value": list(self.values), **{name: column.tolist() for name, column in columns.items()}}


class Tally:
    """Whole numbers, one for each value: however many reports are added, by whom and in which order, they are equal."""

    def __init__(self, found: Drawn, alphabet: Alphabet) -> None:
        self.drawn, self.alphabet = found, alphabet
        self.shape = shape_of(found, alphabet)
        self.reports = 0
        self.values = _counted_values(found, alphabet)
        self.sums: Integers = np.zeros(len(self.values), dtype=np.int64)

    def add(self, reports: Any) -> None:
        """Reports in the mechanism's own form, many at once."""
        self.shape.check(reports)
        self.sums = self.sums + sums_of(self.drawn, reports)
        self.reports += reports_in(reports)

    def read(self, documents: Iterable[object]) -> None:
        """Reports as they stand on the wire; if one is refused, none of these is added."""
        # A value or a hash is one number whatever the field; counting hashes is a pass over all values for each block.
        row = 1 if isinstance(self.drawn, DrawnResponse | DrawnHashing | DrawnTop) else self.drawn.values
        most = max(1, min(_BLOCK_MOST, _BLOCK_CELLS // row))
        whole, block, before = Tally(self.drawn, self.alphabet), [], 0
        for document in documents:
            block.append(document)
            if len(block) == most:
                whole.add(read(self.shape, block, before))
                before += len(block)
                block = []
        whole.add(read(self.shape, block, before))
        self.merge(whole)

    def merge(self, other: Tally) -> None:
        """Add what another tally of the same mechanism and field has counted."""
        if (other.drawn, other.alphabet) != (self.drawn, self.alphabet):
            raise Invalid("tally", "is of another mechanism, epsilon or field; only reports of one kind add up")
        self.sums = self.sums + other.sums
        self.reports += other.reports

    def frequencies(self) -> Frequencies:
        if self.reports == 0:
            raise Invalid("reports", "are none, so there is nothing to estimate from")
        found, counts = self.drawn, self.sums.astype(np.float64)
        if isinstance(found, DrawnHistogram):
            counts = found.put_right(self.sums, self.reports)
        return Frequencies(self.values, self.reports, found.estimate(counts, self.reports))


def tally(mechanism: str, values: Alphabet | Sequence[str] | int, epsilon: float, **options: Any) -> Tally:
    """An empty one; `values` are the field's in their order, or their number if they are 0, 1, 2 and so on.

    `options` are the mechanism's own: `top` for top_k, `threshold` for the, and so on (registry.py).
    """
    alphabet = _alphabet(values)
    return Tally(drawn(mechanism, alphabet.size, epsilon, **options), alphabet)


def _counted_values(found: Drawn, alphabet: Alphabet) -> tuple[object, ...]:
    if isinstance(found, DrawnTop):
        return (*(alphabet.value_at(index) for index in found.top), None)
    return tuple(alphabet.value_at(index) for index in range(alphabet.size))


def _alphabet(values: Alphabet | Sequence[str] | int) -> Alphabet:
    if isinstance(values, int | np.integer):
        return IntegerRange(0, int(values) - 1)
    return Categories(values) if isinstance(values, Sequence) else values


def estimate(
    reports: Any, mechanism: str, values: Alphabet | Sequence[str] | int, epsilon: float, **options: Any
) -> Frequencies:
    """Of the mechanism's own arrays, or of any iterable of reports as they stand on the wire, in constant memory."""
    found = tally(mechanism, values, epsilon, **options)
    if isinstance(reports, np.ndarray | HashReports):
        found.add(reports)
    else:
        found.read(reports)
    return found.frequencies()
