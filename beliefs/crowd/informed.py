"""The worst people that an adversary may know. Proof: account.md."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Final

Others = tuple[int, ...]
"""How many people or households of each kind there are beside the target."""

ASKED_MAX: Final = 64
"""Questions about one target; then what is not decided stays an upper bound."""

CLOSE: Final = 1.0 + 2.0**-10


def worst_known(
    others: Others,
    known: int,
    told: Callable[[Others], float],
    *,
    above: float = 0.0,
    enough: float = math.inf,
) -> tuple[float, bool, Others]:
    """The largest `told` with so many of the others known, whether it is attained, and with whom hidden it nearly is;
    at most CLOSE times as large.

    What is not above `above` is not worked out further, nor what is above `enough`. `told` never falls when more is
    known, so what a box of choices holds is bounded by all that may be known in it.
    """
    known = min(known, sum(others))
    asked: dict[Others, float] = {}
    kept = sum(others) - known

    def without(taken: Others) -> float:
        hidden = _without(others, taken)
        if hidden not in asked:
            asked[hidden] = told(hidden)
        return asked[hidden]

    least, most = _tightened((0,) * len(others), others, known)
    best = without(_some(least, most, known))
    boxes = [(-without(most), least, most)]
    while True:
        bound = -boxes[0][0]
        if bound <= best or best > enough:
            return best, bound <= best, max(asked, key=lambda hidden: (sum(hidden) == kept, asked[hidden]))
        if bound <= max(best * CLOSE, above) or len(asked) >= ASKED_MAX:
            return bound, False, max(asked, key=lambda hidden: (sum(hidden) == kept, asked[hidden]))
        _, least, most = heapq.heappop(boxes)
        for box in _halves(least, most, known):
            best = max(best, without(_some(*box, known)))
            heapq.heappush(boxes, (-without(box[1]), *box))


def covering(others: Others, known: int, told: Callable[[Others], float], boxes: int) -> list[Others]:
    """Who is hidden at least, whoever so many known people are: one of these few, none of which is worse than `told`
    says where it can be helped.
    """
    known = min(known, sum(others))
    least, most = _tightened((0,) * len(others), others, known)
    found = [(-told(_without(others, most)), least, most)]
    while len(found) < boxes and sum(found[0][2]) > known:
        _, least, most = heapq.heappop(found)
        for box in _halves(least, most, known):
            heapq.heappush(found, (-told(_without(others, box[1])), *box))
    return [_without(others, most) for _, _, most in found]


def _without(others: Others, taken: Others) -> Others:
    return tuple(each - its for each, its in zip(others, taken, strict=True))


def _halves(least: Others, most: Others, known: int) -> list[tuple[Others, Others]]:
    widest = max(range(len(most)), key=lambda kind: most[kind] - least[kind])
    middle = (least[widest] + most[widest]) // 2
    fewer = tuple(middle if kind == widest else its for kind, its in enumerate(most))
    more = tuple(middle + 1 if kind == widest else its for kind, its in enumerate(least))
    return [_tightened(least, fewer, known), _tightened(more, most, known)]


def _tightened(least: Others, most: Others, known: int) -> tuple[Others, Others]:
    """Without what no choice of exactly so many can be."""
    few, many = sum(least), sum(most)
    return (
        tuple(max(low, known - (many - high)) for low, high in zip(least, most, strict=True)),
        tuple(min(high, known - (few - low)) for low, high in zip(least, most, strict=True)),
    )


def _some(least: Others, most: Others, known: int) -> Others:
    """One choice out of the box."""
    left, chosen = known - sum(least), []
    for low, high in zip(least, most, strict=True):
        more = min(left, high - low)
        chosen.append(low + more)
        left -= more
    return tuple(chosen)
