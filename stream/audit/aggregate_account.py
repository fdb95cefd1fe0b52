"""What the windows of aggregates tell about one user, and so which of them may be released: worked out a second time.

* What a window loses, it tells its user's group L times over; a user on his own once.
* Everything of a user: the windows of the horizon add up. One window of a user: where windows are fresh the largest
  counts, otherwise they add up as well.
* A window is released where the total with its planned loss keeps the target. Else it is withheld; or, where noise may
  be topped up, released at the largest loss that keeps the target, if that is an eighth of the planned one at least.
* A withheld window loses nothing. Nobody's data counts in this, so every user of one kind of group has one account.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

from stream import names
from stream.audit.aggregate_records import Said, nats_up, rounded_up
from stream.audit.aggregate_rules import Windows

MOST_TIMES = 8


class Judged(NamedTuple):
    """`finding` is what is wrong with the decision itself, `wrong` names the parts of the guarantee that are. `times`
    is by how much the scales were multiplied; None where that is not known to the last digit.
    """

    finding: str | None
    wrong: tuple[str, ...]
    times: Fraction | None


class Account(Protocol):
    """The windows of the horizon, one after the other."""

    all_losses: list[int | None]
    """None where the records do not say it to the last unit."""
    largest_total: int

    def judge(self, said: Said) -> Judged: ...

    def skip(self) -> None:
        """A window without its record; it is taken for one that was released as planned."""


@dataclass(frozen=True)
class People:
    """How many users may depend on one another, and whether windows add up."""

    group: int
    adds_up: bool
    methods: frozenset[str]
    adversary: str

    def leak(self, loss: int) -> int:
        return self.group * loss

    def total(self, losses: list[int]) -> int:
        leaks = [self.leak(loss) for loss in losses]
        return sum(leaks) if self.adds_up else max(leaks, default=0)

    def most(self, before: list[int], target: int) -> int:
        """The largest loss that still fits behind these."""
        if self.adds_up:
            return max(0, (target - self.total(before)) // self.group)
        return target // self.group if self.total(before) <= target else 0


class _Ruled(NamedTuple):
    """What must become of a window; amounts in units."""

    released: bool
    loss: int
    leak: int
    total: int
    times: Fraction = Fraction(1)


class GroupAccount:
    """Where users are independent, or depend on one another in groups: everything follows."""

    def __init__(self, windows: Windows, people: People) -> None:
        self._windows, self._people = windows, people
        self._losses: deque[int] = deque(maxlen=windows.horizon - 1)
        self.all_losses: list[int | None] = []
        self.largest_total = 0

    def judge(self, said: Said) -> Judged:
        ruled = self._next(missing=said.reason == names.WITHHELD_PARTIAL)
        if said.released != ruled.released:
            return Judged("aggregate_needless" if ruled.released else "aggregate_beyond_target", (), None)
        wanted = {
            "loss": nats_up(ruled.loss),
            "leak": nats_up(ruled.leak),
            "total": nats_up(ruled.total),
            "adversary": self._people.adversary,
            "more_noise": rounded_up(ruled.times),
            **said_of(self._windows),
        }
        wrong = [name for name, value in wanted.items() if said.guarantee.get(name) != value]
        if said.guarantee.get("method") not in self._people.methods:
            wrong.append("method")
        return Judged(None, tuple(wrong), ruled.times)

    def skip(self) -> None:
        self._next(missing=False)

    def _next(self, *, missing: bool) -> _Ruled:
        ruled = self._withheld() if missing else self._ruled()
        self._losses.append(ruled.loss)
        self.all_losses.append(ruled.loss)
        self.largest_total = max(self.largest_total, ruled.total)
        return ruled

    def _ruled(self) -> _Ruled:
        planned, target, before = self._windows.loss, self._windows.target, list(self._losses)
        total = self._people.total([*before, planned])
        if target is None or total <= target:
            return _Ruled(True, planned, self._people.leak(planned), total)
        left = min(planned, self._people.most(before, target))
        if self._windows.tops_up and left * MOST_TIMES >= planned:
            total = self._people.total([*before, left])
            return _Ruled(True, left, self._people.leak(left), total, Fraction(planned, left))
        return self._withheld()

    def _withheld(self) -> _Ruled:
        return _Ruled(False, 0, 0, self._people.total([*self._losses, 0]))


def said_of(windows: Windows) -> dict[str, object]:
    """What every record says alike."""
    return {
        "windows": windows.horizon,
        "target": None if windows.target is None else nats_up(windows.target),
        "protects": windows.protects,
    }
