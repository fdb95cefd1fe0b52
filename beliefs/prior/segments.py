"""What unknown values beside an attacked one of a chain do to the leak: both tails, and a bound. Proof: segments.md.

A segment is a number of unknown values on one side of the attacked one, ended by a known value or by the end of the
chain. All here is logarithms of matrices over the states; the laws of sums are in segment_laws.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from beliefs.correlation.bound import Matrix
from beliefs.laws.markov import MarkovLaw
from beliefs.prior.influence import passed_on_by

Flags = npt.NDArray[np.bool_]
FREE = -1


@dataclass(frozen=True)
class Side:
    """Segments of one side, one a row: how many are unknown, and the state of the known value that ends them, or FREE.

    `steps[k][a]` is the log law of the nearest unknown value when the attacked one is a, `possible[k, a]` whether a can
    be beside that end at all. `tails[k, end, a]` are logarithms of the means of e^-+(sum in scales), up to a common
    term; `passed[k, a, b]` bounds by how much the density of any noisy sum given a may be above that given b.
    """

    length: npt.NDArray[np.int64]
    ended: npt.NDArray[np.int64]
    possible: Flags
    steps: Matrix
    tails: Matrix
    passed: Matrix


def sides(law: MarkovLaw, scale: float, longest: int) -> tuple[Side, Side]:
    """Left and right; segments with a known end have at most `longest` unknown values, free ones any number."""
    rows, moves = logarithms_of(law.rows), (law.domain - law.domain[0]) / scale
    count, longest = law.start.size, min(longest, law.length - 2)
    left, right, free_left, free_right = (_Growth(moves) for _ in range(4))
    left.begin(rows)
    right.begin(rows.T)
    # behind[u, y]: the chance of y so many steps after u; ahead[v, y]: of v so many steps after y.
    behind, ahead = rows, rows.T
    for _ in range(longest):
        left.grow(rows.T + behind[:, None, :])
        right.grow(rows + ahead[:, None, :])
        behind, ahead = after(behind, rows), after(ahead, rows.T)
    free_right.begin(np.zeros((1, count)))
    margins = log_margins(law)
    free_left.begin(margins[:1])
    for time in range(1, law.length):
        free_left.grow(rows.T[None] + margins[time - 1])
        free_right.grow(rows[None])
    return _joined(left.side(count), free_left.side(0)), _joined(right.side(count), free_right.side(0))


def log_margins(law: MarkovLaw) -> Matrix:
    """margins[t, v]: the log chance of the value v at time t, up to a term of t."""
    rows, margins = logarithms_of(law.rows), [logarithms_of(law.start)[None]]
    for _ in range(1, law.length):
        margins.append(after(margins[-1], rows))
    return np.concatenate(margins)


def logarithms_of(chances: Matrix) -> Matrix:
    with np.errstate(divide="ignore"):
        logs: Matrix = np.log(chances)
    return logs


def odds_after(law: MarkovLaw, share: float) -> list[float]:
    """odds[m]: the largest log odds ratio of two values of the chain with m values between them.

    It ends with the first that is at most `share`, or with the length of the chain.
    """
    rows = logarithms_of(law.rows)
    reach, odds = rows, [_diameter(rows)]
    while odds[-1] > share and len(odds) < law.length:
        reach = after(reach, rows)
        odds.append(_diameter(reach))
    return odds


class _Growth:
    """Segments that grow by one value at a time, for all ends at once."""

    def __init__(self, moves: Matrix) -> None:
        self.moves, self.apart = moves, np.abs(moves[:, None] - moves)
        self.rows: list[tuple[Flags, Matrix, Matrix, Matrix]] = []

    def begin(self, reach: Matrix) -> None:
        """`reach[e, a]`: the log chance of the end e directly beside the value a, up to a factor of e."""
        ends, count = reach.shape
        nothing = np.zeros((ends, count, count))
        self.rows.append((np.isfinite(reach), nothing - math.inf, np.zeros((ends, 2, count)), nothing))

    def grow(self, weights: Matrix) -> None:
        """`weights[e, a, y]`: log weights of the new nearest value y."""
        _, _, tails, passed = self.rows[-1]
        with np.errstate(invalid="ignore"):
            totals = np.logaddexp.reduce(weights, axis=2)
            possible = np.isfinite(totals)
            laws = np.where(possible[:, :, None], weights - totals[:, :, None], -math.inf)
        ends = np.stack([tails[:, 0] - self.moves, tails[:, 1] + self.moves], axis=1)
        grown = np.logaddexp.reduce(laws[:, None] + ends[:, :, None, :], axis=3)
        top = np.where(possible[:, None], grown, -math.inf).max(axis=2, keepdims=True)
        grown = np.where(possible[:, None] & np.isfinite(top), grown - np.where(np.isfinite(top), top, 0.0), 0.0)
        met = np.logical_or.reduce(np.isfinite(laws), axis=1)
        both = met[:, :, None] & met[:, None, :]
        loss = np.where(both, self.apart + passed, 0.0).max(axis=(1, 2))
        self.rows.append((possible, laws, grown, passed_on_by(laws, loss)))

    def side(self, ends: int) -> Side:
        each = max(ends, 1)
        lengths = np.repeat(np.arange(len(self.rows)), each)
        ended = np.tile(np.arange(ends), len(self.rows)) if ends else np.full(lengths.size, FREE)
        return Side(lengths, ended, *(np.concatenate([row[part] for row in self.rows]) for part in range(4)))


def after(reach: Matrix, rows: Matrix) -> Matrix:
    """One step more: the product of two matrices of logarithms, each row up to a term."""
    product: Matrix = np.logaddexp.reduce(reach[:, :, None] + rows[None], axis=1)
    top = product.max(axis=1, keepdims=True)
    return product - np.where(np.isfinite(top), top, 0.0)


def _diameter(reach: Matrix) -> float:
    """The largest log odds ratio of two rows and two columns."""
    if not bool(np.isfinite(reach).all()):
        return math.inf
    apart = reach[:, None, :] - reach[None, :, :]
    return float((apart.max(axis=2) - apart.min(axis=2)).max())


def _joined(known: Side, free: Side) -> Side:
    pairs = zip(vars(known).values(), vars(free).values(), strict=True)
    return Side(*(np.concatenate(pair) for pair in pairs))
