"""What every attribute of a data set loses through every other one, one number for each ordered pair.

Pairs are (secret, neighbour), the secret running slowest; all vectors keep that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from cpl_data import Data

from beliefs.correlation.bound import Matrix
from beliefs.correlation.frontier import Frontier
from beliefs.correlation.outputs import response_leak, sets_leak
from beliefs.correlation.tables import Correlation, conditional_of, correlation_of
from beliefs.simplex import Vector
from mechanisms.contract import Floats
from mechanisms.local.registry import local

MECHANISMS: Final = ("grr", "sue", "exp", "oue", "blh", "olh", "ss", "she")
"""The eight of the paper, its RAPPOR being `sue`."""
SHOWN: Final = {
    "grr": "GRR",
    "sue": "RAPPOR (SUE)",
    "exp": "EXP",
    "oue": "OUE",
    "blh": "BLH",
    "olh": "OLH",
    "ss": "SS",
    "she": "SHE",
}
COPIES: Final = 50


class Pairs:
    def __init__(self, data: Data) -> None:
        self.data = data
        count = len(data.names)
        self.pairs = [(secret, other) for secret in range(count) for other in range(count) if other != secret]
        counts = dict(zip(self.pairs, _counts(data, self.pairs), strict=True))
        self.counts = [counts[pair] for pair in self.pairs]
        self.laws = [conditional_of(each).laws for each in self.counts]
        self._frontiers: list[Frontier] = []

    def place(self, secret: str, other: str) -> int:
        return self.pairs.index((self.data.axis(secret), self.data.axis(other)))

    def bound(self, epsilon: float) -> Vector:
        """Algorithm 2."""
        if not self._frontiers:
            self._frontiers = [Frontier(laws) for laws in self.laws]
        return np.array([min(epsilon, each.bound(epsilon)) for each in self._frontiers])

    def exact(self, mechanism: str, epsilon: float) -> Vector:
        """Over the outputs that the mechanism really has."""
        return self._each(lambda laws: exact_leak(laws, mechanism, epsilon))

    def attacked(self, mechanism: str, epsilon: float) -> Vector:
        """Of the guess that Appendix B makes of each report."""
        return self._each(lambda laws: attacked_leak(laws, mechanism, epsilon))

    def sampled(self, mechanism: str, epsilon: float, source: np.random.Generator, copies: int = COPIES) -> Vector:
        """What the paper measures: every record `copies` times, each neighbour reported and guessed, shares "
        "compared."""
        rows = [guess_rows(mechanism, table.shape[1], epsilon) for table in self.counts]
        tables = [perturbed(table, row, copies, source) for table, row in zip(self.counts, rows, strict=True)]
        return np.array([leak_of_counts(table) for table in tables])

    def correlations(self) -> list[Correlation]:
        return [correlation_of(table) for table in self.counts]

    def _each(self, leak: Callable[[Matrix], float]) -> Vector:
        return np.array([leak(laws) for laws in self.laws])


def exact_leak(laws: Matrix, mechanism: str, epsilon: float) -> float:
    chosen = local(mechanism, laws.shape[1], epsilon)
    return sets_leak(laws, chosen.worst_sets(), chosen.level)


def attacked_leak(laws: Matrix, mechanism: str, epsilon: float) -> float:
    return response_leak(laws, local(mechanism, laws.shape[1], epsilon).guess().effective)


def guess_rows(mechanism: str, values: int, epsilon: float) -> Floats:
    """Row: value; column: guess. All wrong guesses are alike."""
    guess = local(mechanism, values, epsilon).guess()
    rows = np.full((values, values), guess.wrong / (values - 1))
    np.fill_diagonal(rows, guess.correct)
    chances: Floats = rows / rows.sum(axis=1, keepdims=True)
    return chances


def perturbed(counts: Matrix, rows: Floats, copies: int, source: np.random.Generator) -> Matrix:
    """How often each secret goes with each output: records with the same two values are drawn together."""
    repeated = (counts * copies).astype(np.int64)
    drawn = [source.multinomial(repeated[:, value], rows[value]) for value in range(len(rows))]
    table: Matrix = np.sum(drawn, axis=0).astype(np.float64)
    return table


def leak_of_counts(table: Matrix) -> float:
    """With half a report more in each cell, so that one that was never seen does not make the estimate infinite."""
    shares = (table + 0.5) / (table + 0.5).sum(axis=1, keepdims=True)
    return float(np.log(shares.max(axis=0) / shares.min(axis=0)).max())


def _counts(data: Data, pairs: list[tuple[int, int]]) -> Iterator[Matrix]:
    """All tables of two attributes at once: a product of columns that say whether a record has a value."""
    starts = np.cumsum([0, *data.sizes])
    whole = np.zeros((starts[-1], starts[-1]))
    for part in np.array_split(data.records, -(-len(data.records) // 20_000)):
        flags = np.zeros((len(part), starts[-1]))
        flags[np.arange(len(part))[:, None], part + starts[:-1]] = 1.0
        whole += flags.T @ flags
    for secret, other in pairs:
        yield whole[starts[secret] : starts[secret + 1], starts[other] : starts[other + 1]]
