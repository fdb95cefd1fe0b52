"""What is kept, exactly: by going through everything that may be released, with the product's own step.

A user's stored row is a function of what was released, so the rows that a user may have after t events, each with its
probability, are all that matters. A row's channel is read off the step itself: once it has described the channel, it
says for each value how many of the 2^62 coins lead to which release, and one of these coins leads on to the next row.
What the value is, given everything released, follows from the model by Bayes' rule over whole numbers of coins, beside
the belief that the row holds. Nothing is drawn, so nothing is left out but the rounding of doubles.

The number of rows grows with each event. It is followed to the end where that stays below ROWS_MAX; and where values
are independent of each other, the channel is the same from the second event on as long as no budget ends, so three
events say all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.chain import Chain
from beliefs.forward import chain_arrays
from beliefs.rounding import INFINITE
from mechanisms import registry
from mechanisms.contract import TOTAL
from stream.commands.expectation import Promised
from stream.policy import RELEASED, SPENT_DRAW, Events, Releases, new_bench
from stream.state import Codes, Word, new_users
from stream.step import advance

ROWS_MAX: Final = 600
SYMBOLS_MAX: Final = 32
_SETTLED: Final = 2
Floats = npt.NDArray[np.float64]


class Exact(NamedTuple):
    """Means over the events, and why they are exact."""

    agreement: float
    distance: float | None
    why: str


@dataclass
class _Row:
    """A row that a user may have: `joint` is the probability that they have it and their last value was each one."""

    head: npt.NDArray[np.int64]
    codes: Codes
    joint: Floats


def exactly(promised: Promised, chain: Chain, costs: Floats | None, steps: int, spacing: int) -> Exact | None:
    """What so many events of a user keep on average; nothing where that cannot be followed."""
    policy = promised.policy
    plain = chain.size == chain.symbols and not chain.has_tail and chain.phases == 1 and policy.interval == 0
    if promised.windows is not None or not plain or chain.size > SYMBOLS_MAX or policy.when_spent == SPENT_DRAW:
        return None
    tree = _Tree(promised, chain, costs, spacing)
    alone = independent(tree.dense) and policy.budget >= INFINITE
    agreement = distance = 0.0
    heads, codes = new_users(1, chain.size)
    rows = [_Row(heads[0], codes[0], chain.start / chain.start.sum())]
    for event in range(steps):
        same, far, rows = tree.event(event, rows)
        last = alone and event == _SETTLED
        times = steps - event if last else 1
        agreement, distance = agreement + times * same, distance + times * far
        if last:
            break
        if len(rows) > ROWS_MAX and not alone:
            return None
    why = "values are independent of each other" if alone else f"all that {steps} events may release was followed"
    return Exact(agreement / steps, None if costs is None else distance / steps, why)


def independent(dense: Floats) -> bool:
    return bool((dense == dense[0]).all())


class _Tree:
    def __init__(self, promised: Promised, chain: Chain, costs: Floats | None, spacing: int) -> None:
        self._policy, self._arrays, self._spacing, self._costs = promised.policy, chain_arrays(chain), spacing, costs
        self._bench = new_bench(chain.size, chain.symbols, promised.distance)
        self.dense = np.zeros((chain.size, chain.size))
        for state in range(chain.size):
            following, chances = chain.row(state)
            self.dense[state, following] = chances / chances.sum()

    def event(self, number: int, rows: list[_Row]) -> tuple[float, float, list[_Row]]:
        """The chance that this event's value is the one that is shown, the mean distance, and the rows after it."""
        same = far = 0.0
        merged: dict[bytes, _Row] = {}
        for row in rows:
            joint = row.joint if number == 0 else row.joint @ self.dense
            for shown, share, child in self._shown(number, row, joint):
                if shown >= 0:
                    same += float(share[shown])
                far += self._far(shown, share)
                known = merged.setdefault(self._key(child), child)
                if known is not child:
                    known.joint = known.joint + child.joint
        return same, far, list(merged.values())

    def _far(self, shown: int, share: Floats) -> float:
        if self._costs is None:
            return 0.0
        return float(share @ self._costs[:, shown]) if shown >= 0 else float(share.sum() * self._costs.max())

    def _key(self, row: _Row) -> bytes:
        """Two rows with the same key go on alike."""
        words = [Word.WINDOW_AND_DRIFT]
        if self._policy.budget < INFINITE:
            words += [Word.WINDOW_UPPER, Word.WINDOW_LOWER, Word.MARKS]
        return row.codes.tobytes() + row.head[[int(word) for word in words]].tobytes()

    def _shown(self, number: int, row: _Row, joint: Floats) -> list[tuple[int, Floats, _Row]]:
        """What may be shown, with the probability of it beside each value."""
        possible = np.flatnonzero(joint > 0).tolist()
        first, head, codes = self._step(number, row, possible[0], 0)
        if int(first.outcome[0]) != RELEASED:
            return [(int(first.symbol[0]), joint, _Row(head, codes, joint))]
        work = self._bench.work
        count, places = int(work.size[0]), work.head.copy()
        weights = np.zeros((joint.shape[0], count), dtype=np.int64)
        for value in possible:
            registry.row(self._policy.mechanism, value, self._bench.belief, work)
            weights[value] = work.row[:count]
        found = []
        for place in np.flatnonzero(weights.any(axis=0)).tolist():
            value = int(np.flatnonzero(weights[:, place])[0])
            coin = int(weights[value, :place].sum()) << 2
            _, head, codes = self._step(number, row, value, coin)
            share = joint * (weights[:, place] / TOTAL)
            found.append((int(places[place]), share, _Row(head, codes, share)))
        return found

    def _step(self, number: int, row: _Row, value: int, coin: int) -> tuple[Releases, npt.NDArray[np.int64], Codes]:
        head, codes = row.head[None].copy(), row.codes[None].copy()
        here, time = np.zeros(1, dtype=np.int64), np.array([number * self._spacing])
        events = Events(here, np.array([number]), time, np.array([value]))
        coins = np.full((1, 8), coin, dtype=np.uint64)
        return advance(self._policy, self._arrays, self._bench, head, codes, events, coins), head[0], codes[0]
