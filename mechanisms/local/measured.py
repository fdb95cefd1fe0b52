"""The scatter of weighted sums of a report's row, measured: for reports whose features hang together in an unknown way,
such as hashes, whose functions are independent in pairs only. Why: pooled.md.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mechanisms.contract import Floats
from mechanisms.local.contract import Drawn
from mechanisms.local.inverted import features_of, inverted, part_of, reports_in

_BLOCK: Final = 1 << 20
"""So many numbers at a time, 8 MiB."""


class Measured:
    """`squares[r]` is the sum over reports of the square of their sum with the coefficients of row r."""

    def __init__(self, found: Drawn, coefficients: Floats) -> None:
        self._drawn, self._of, self._coefficients = found, inverted(found), coefficients
        self.squares: Floats = np.zeros(coefficients.shape[0])

    def add(self, reports: Any) -> None:
        """In the mechanism's own form."""
        block = max(1, _BLOCK // max(self._coefficients.shape))
        for start in range(0, reports_in(reports), block):
            rows = self._of.rows(features_of(self._drawn, part_of(reports, slice(start, start + block))))
            sums = np.zeros((rows.shape[0], self.squares.size))
            for value, column in enumerate(rows.T):
                sums += column[:, None] * self._coefficients[:, value]
            self.squares = self.squares + (sums * sums).sum(axis=0)
