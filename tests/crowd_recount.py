"""What must come of windows of a crowd, from the raw events and the rules as they are written down, without any code of
the stages. What a window tells is asked of the account, whose own tests say whether it is right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from aggregate_recount import Recount, chosen
from crowd_lives import Walk

from beliefs.crowd.account import Present
from beliefs.crowd.noise import LADDER
from beliefs.crowd.total import Total
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric
from stream.crowds.promise import CrowdPromise

REMEMBERED = 64
GRID = Fraction(1, 2)


class Person(NamedTuple):
    """What one user gives to one window."""

    cell: int
    kind: str
    home: str | int | None


def steps(value: float) -> int:
    return max(-4, min(16, round(value / 0.5)))


def cell_of(promise: CrowdPromise, event: Walk) -> int:
    kind = promise.release.kind
    if kind == "count":
        return int(event.job in "ab")
    return "abc".index(event.job) if kind == "histogram" else steps(event.value)


def people_of(promise: CrowdPromise, recounts: Sequence[Recount], number: int) -> dict[bytes, Person]:
    """Everybody who is in this window of these partitions, given by partition."""
    events: dict[bytes, list[Walk]] = {}
    for recount in recounts:
        for (window, user), some in recount.counted.items():
            if window == number:
                events.setdefault(user, []).extend(some)
    take, found = promise.release.take, {}
    for user, mine in events.items():
        whose: Any = chosen("first" if take == "first" else "last", mine)
        cells = [cell_of(promise, event) for event in mine]
        cell = {"largest": max(cells), "smallest": min(cells)}.get(take, cell_of(promise, whose))
        found[user] = Person(cell, whose.kind, whose.home)
    return found


def present_of(promise: CrowdPromise, people: Mapping[bytes, Person]) -> Present | None:
    """None where a household is larger than the law knows. Whoever has no household is one of his own."""
    if promise.household_most is None:
        kinds = Counter(each.kind if promise.type_form is not None else "default" for each in people.values())
        return Present(tuple(kinds[name] for name in promise.types))
    homes = Counter((user, "alone") if each.home is None else (b"", each.home) for user, each in people.items())
    sizes = Counter(homes.values())
    if max(sizes) > promise.household_most:
        return None
    return Present((), tuple(sizes[size] for size in range(1, promise.household_most + 1)))


@dataclass
class Expected:
    """The decision on each window in turn, of one stream of windows."""

    promise: CrowdPromise
    items: list[bytes] = field(default_factory=list)
    groups: deque[frozenset[bytes]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def __post_init__(self) -> None:
        account, horizon = self.promise.account, self.promise.horizon
        self.total = None if account is None or horizon == 1 else Total(account, horizon)
        self._allowed = 0.0 if self.promise.target is None else self.promise.target.delta

    def _delta(self, present: Present, scale: Fraction | None) -> float:
        """Of this window, or of it and those before that are composed with it, whichever is worse."""
        account = self.promise.account
        worst = 0.0 if account is None else account.worst(present, scale)
        if self.total is None or worst > self._allowed:
            return worst
        return max(worst, self.total.delta_with(self.items[:-1], self.total.item(present, scale)))

    def _noise(self, present: Present) -> Fraction | None:
        """From what one window lacks on, the place where it begins to be enough, found by halves."""
        account = self.promise.account
        least = None if account is None or not self.promise.tops_up else account.noise_for(present)
        if least is None or self.total is None:
            return least
        enough = LADDER[LADDER.index(least) :]
        place = bisect_left(enough, True, key=lambda each: self._delta(present, each) <= self._allowed)
        return enough[place] if place < len(enough) else None

    def reason(self, people: Mapping[bytes, Person]) -> tuple[str | None, Fraction | None]:
        """Why the window is withheld, or None; and the scale of its noise."""
        promise, everybody = self.promise, frozenset(people)
        self.items.append(b"")
        if len(people) < promise.k:
            return "too_few", None
        present = present_of(promise, people)
        if present is None:
            return "household_too_large", None
        if not promise.fresh and any(0 < len(everybody ^ each) < promise.k for each in self.groups):
            return "differencing", None
        scale = None
        if self._delta(present, None) > self._allowed:
            scale = self._noise(present)
            if scale is None:
                return "delta", None
        if self.total is not None:
            self.items[-1] = self.total.item(present, scale)
        if not promise.fresh and (not self.groups or self.groups[-1] != everybody):
            self.groups.append(everybody)
        return None, scale

    def check(self, said: Mapping[str, Any], people: Mapping[bytes, Person], key: bytes) -> None:
        reason, scale = self.reason(people)
        assert (said["reason"], said["users"]) == (reason, len(people)), said["window"]
        assert said["outcome"] == ("released" if reason is None else "withheld")
        if reason is not None:
            assert said["release"] is None
            return
        assert said["users"] >= self.promise.k
        noise = (
            None
            if scale is None
            else (Geometric(scale.numerator, scale.denominator), CoinStream(key, said["window"]["number"], 0))
        )
        check_value(self.promise, said["release"], [each.cell for each in people.values()], noise)


def check_value(promise: CrowdPromise, said: Mapping[str, Any], cells: Sequence[int], noise: Any) -> None:
    """What is released is that of these people, with this noise on it."""
    kind = promise.release.kind
    assert said["kind"] == kind
    if kind != "range":
        grid = GRID if kind in ("sum", "mean") else Fraction(1)
        scale = Fraction(0) if noise is None else noise[0].scale * grid
        assert 0 <= Fraction(said["noise_scale"] or 0) - scale <= scale / 10**8
    drawn = (lambda: 0) if noise is None else (lambda: noise[0].draw(noise[1]))
    if kind == "range":
        assert (said["low"], said["high"]) == (Decimal("0.5") * min(cells), Decimal("0.5") * max(cells))
    elif kind == "histogram":
        counts = Counter(cells)
        assert said["cells"] == [{"value": "abc"[place], "count": counts[place] + drawn()} for place in range(3)]
    else:
        total = (sum(cells) + drawn()) * (1 if kind == "count" else GRID)
        if kind == "mean":
            assert (Fraction(said["sum"]), said["users"]) == (total, len(cells))
            mean = total / len(cells)
            assert abs(Fraction(said["value"]) - mean) <= abs(mean) * Fraction(1, 10**11)
        else:
            assert Fraction(said["value"]) == total
