"""Where users or windows have a law: what they tell at least, and at most, worked out a second time.

What a law lets a window tell is not worked out to the last digit again; the records say it, and here it is held
against bounds from a reading of its own, and against the records before it.

* At most what a group of all users who hang together is told; at least what one adversary learns who knows nobody:
  of one count or sum with a table the noisy sum's largest ratio at its atoms, of a chain the influence from both sides.
* Where windows add up, the total is the sum of what the windows of the horizon say that they tell. It keeps the target.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

import numpy as np

from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from stream import names
from stream.audit.aggregate_account import MOST_TIMES, Judged, said_of
from stream.audit.aggregate_records import Said, nats_up
from stream.audit.aggregate_rules import Windows
from stream.audit.amounts import UNITS

ADDED, LARGEST, CHAIN = "added", "largest", "chain"
_PRINTED: Final = Decimal("1.00000003")
"""Amounts are written with nine digits, rounded up."""
_NEARLY: Final = 1.0 - 1e-7

Least = Callable[[Sequence[float]], float]
"""What losses in nats, the oldest first, tell at least about one user."""


@dataclass(frozen=True)
class Law:
    """How the windows of the horizon go together, how many users hang together at most, and what is told at least."""

    way: str
    together: int
    least: Least
    adversary: str
    methods: frozenset[str]


class LawAccount:
    """The records say what a law lets them tell; each is held against the bounds and against those before it."""

    def __init__(self, windows: Windows, law: Law) -> None:
        self._windows, self._law = windows, law
        self._before: deque[tuple[Decimal, Decimal]] = deque(maxlen=windows.horizon - 1)
        self._planned_leak: Decimal | None = None
        self.all_losses: list[int | None] = []
        self.largest_total = 0

    def judge(self, said: Said) -> Judged:
        told = [said.guarantee.get(name) for name in ("loss", "leak", "total", "more_noise")]
        if not all(isinstance(each, Decimal | int) and not isinstance(each, bool) for each in told):
            return Judged(None, ("loss", "leak", "total"), None)
        loss, leak, total, more = (Decimal(each) for each in told)  # type: ignore[arg-type]
        wanted = said_of(self._windows) | {"adversary": self._law.adversary}
        wrong = [name for name, value in wanted.items() if said.guarantee.get(name) != value]
        if said.guarantee.get("method") not in self._law.methods:
            wrong.append("method")
        planned = nats_up(self._windows.loss)
        wrong += self._of_loss(said, loss, more, planned)
        before = list(self._before)
        self._before.append((loss, leak))
        self.all_losses.append(self._units(said, more))
        wrong += [
            name for name, fits in self._fits(before, loss, leak, total, said.guarantee.get("method")) if not fits
        ]
        self.largest_total = max(self.largest_total, math.floor(total * UNITS))
        finding = self._decision(said, before, total)
        if said.released and more == 1:
            self._planned_leak = leak
        return Judged(finding, tuple(dict.fromkeys(wrong)), Fraction(1) if more == 1 else None)

    def skip(self) -> None:
        loss = nats_up(self._windows.loss)
        self._before.append((loss, self._planned_leak or loss * self._law.together))
        self.all_losses.append(None)

    def _units(self, said: Said, more: Decimal) -> int | None:
        """The loss to the last unit, where the record says it."""
        return (self._windows.loss if more == 1 else None) if said.released else 0

    def _of_loss(self, said: Said, loss: Decimal, more: Decimal, planned: Decimal) -> list[str]:
        if not said.released:
            return ["loss"] if loss != 0 or more != 1 else []
        if more == 1:
            return ["loss"] if loss != planned else []
        fits = self._windows.tops_up and 1 < more <= MOST_TIMES * _PRINTED
        return [] if fits and planned <= loss * more <= planned * _PRINTED * _PRINTED else ["more_noise"]

    def _fits(
        self, before: list[tuple[Decimal, Decimal]], loss: Decimal, leak: Decimal, total: Decimal, method: object
    ) -> list[tuple[str, bool]]:
        law, losses = self._law, [float(each) for each, _ in before] + [float(loss)]
        most = sum(each for each, _ in before) + loss
        told = [each for _, each in before] + [leak]
        if law.way == CHAIN:
            alone = loss <= leak * _PRINTED <= loss * _PRINTED * _PRINTED
            together = law.least(losses) * _NEARLY <= float(total) and max(told) <= total * _PRINTED
            return [("leak", alone), ("total", together and total <= most)]
        own = loss if method != "exact" else Decimal(0)  # any bound but an exact leak holds at least one's own loss
        bounds = max(Decimal(law.least(losses[-1:]) * _NEARLY), own) <= leak <= loss * law.together * _PRINTED
        if law.way == LARGEST:
            return [("leak", bounds), ("total", total == max(told))]
        return [("leak", bounds), ("total", total <= sum(told) <= total * _PRINTED)]

    def _decision(self, said: Said, before: list[tuple[Decimal, Decimal]], total: Decimal) -> str | None:
        target = self._windows.target
        if target is None:
            return "aggregate_needless" if said.reason == names.WITHHELD_BUDGET else None
        if said.released:
            return "aggregate_beyond_target" if total > nats_up(target) else None
        if said.reason != names.WITHHELD_BUDGET or self._planned_leak is None or self._law.way != ADDED:
            return None
        room = nats_up(target) - sum(leak for _, leak in before)
        return "aggregate_needless" if self._planned_leak * _PRINTED < room else None


def least_of_sum(law: TableLaw, reach: Fraction) -> Least:
    """What one sum over such users tells about one of them who knows nobody, with the noise that hides `reach`.

    The ratio of two of its densities is largest at a sum that may come about.
    """
    cells = [
        (place, float(sum(domain[each] for domain, each in zip(law.domains, place, strict=True))), float(chance))
        for place, chance in np.ndenumerate(law.joint)
        if chance > 0.0
    ]
    points = sorted({total for _, total, _ in cells})

    def least(losses: Sequence[float]) -> float:
        (loss,) = losses
        if loss == 0.0:
            return 0.0
        scale, largest = float(reach) / loss, 0.0
        for user in range(law.size):
            given: dict[int, list[tuple[float, float]]] = {}
            for place, total, chance in cells:
                given.setdefault(place[user], []).append((total, chance))
            for point in points:
                logs = [_density(its, point, scale) for its in given.values()]
                largest = max(largest, max(logs) - min(logs))
        return largest

    return least


def _density(cells: list[tuple[float, float]], point: float, scale: float) -> float:
    whole = math.fsum(chance for _, chance in cells)
    nearest = min(abs(point - total) for total, _ in cells) / scale
    shown = math.fsum(chance * math.exp(nearest - abs(point - total) / scale) for total, chance in cells)
    return math.log(shown / whole) - nearest


def least_of_chain(law: MarkovLaw) -> Least:
    """What the windows of a user tell about one of them: its own loss, and what both sides pass on."""
    ahead = law.rows
    kept = law.start / law.start.sum()
    back = (ahead * kept[:, None]).T / np.maximum(kept, 1e-300)[:, None]

    def least(losses: Sequence[float]) -> float:
        left, right = [0.0], [0.0]
        for loss in losses[:-1]:
            left.append(_passed(back, loss + left[-1]))
        for loss in reversed(losses[1:]):
            right.append(_passed(ahead, loss + right[-1]))
        return max(
            (own + before + after for own, before, after in zip(losses, left, reversed(right), strict=True)),
            default=0.0,
        )

    return least


def _passed(rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]], told: float) -> float:
    """The most that what is told of a window tells of its neighbour: over pairs of rows, and sets of values that the
    first makes likelier than the second.
    """
    found = 0.0
    raised = math.expm1(min(told, 600.0))
    for one, two in itertools.permutations(rows, 2):
        order = np.argsort(-(one / np.maximum(two, 1e-300)), kind="stable")
        for high, low in zip(np.cumsum(one[order]), np.cumsum(two[order]), strict=True):
            found = max(found, math.log1p(raised * min(high, 1.0)) - math.log1p(raised * min(low, 1.0)))
    return found
