"""What a release over a window's people tells about one of them, before every adversary that is declared. Proof:
account.md.

Who is there is known to everybody; what is protected is each person's value. So every number here is a function of
how many people of each type, and households of each size, are there: a `Present`.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from beliefs.checks import Invalid
from beliefs.crowd.counted import Counted
from beliefs.crowd.informed import Others, covering, worst_known
from beliefs.crowd.noise import LADDER
from beliefs.crowd.ranges import Ranged
from beliefs.crowd.seen import EXACT, METHODS, NONE, SOUND, Nothing, Seen, Target
from beliefs.crowd.summed import Summed
from beliefs.simplex import Vector

INDEPENDENT: Final = "independent"
DEPENDENT: Final = "dependent"
INDEPENDENT_INFORMED: Final = "independent_informed"
DEPENDENT_INFORMED: Final = "dependent_informed"
ADVERSARIES: Final = (INDEPENDENT, DEPENDENT, INDEPENDENT_INFORMED, DEPENDENT_INFORMED)

SUMS: Final = ("count", "sum", "mean")
RELEASES: Final = (*SUMS, "range", "histogram", "records", "none")

KEPT: Final = 4_096
_FINE: Final = 2.0**-16
_BOXES: Final = 16
_SLIGHTLY: Final = (0.0, 2.0**-12, 2.0**-9, 2.0**-6)
_LARGEST: Final = 64.0
"""Nobody declares more; a larger epsilon is told as infinite."""


@dataclass(frozen=True)
class Present:
    """Single people of each type, and households with 1, 2, ... of their members there."""

    types: tuple[int, ...]
    households: tuple[int, ...] = ()

    @property
    def users(self) -> int:
        return sum(self.types) + sum(size * count for size, count in enumerate(self.households, start=1))


@dataclass(frozen=True)
class Told:
    """delta at the epsilon that is declared, epsilon at the delta that is declared; both rounded up."""

    adversary: str
    delta: float
    epsilon: float
    method: str


class _Worst(NamedTuple):
    delta: float
    method: str
    hidden: tuple[tuple[Target, Others], ...]
    """For everybody who may be asked about, who is hidden beside him where most is told of him."""


class CrowdAccount:
    """One release, the laws that are believed, and what is aimed at. All answers are kept, as windows are alike."""

    def __init__(
        self,
        release: str,
        laws: Sequence[Vector],
        *,
        epsilon: float,
        delta: float,
        known: Fraction = Fraction(0),
        household: Vector | None = None,
    ) -> None:
        if not 0 <= known < 1:
            raise Invalid("known", "must be a fraction from 0 to below 1")
        self.epsilon, self.delta, self.known = epsilon, delta, known
        self.dependent = household is not None
        different = {each.tobytes(): each for each in laws}
        self._kind_of = [list(different).index(each.tobytes()) for each in laws]
        self.types = len(different)
        self.kinds = self.types + (0 if household is None else household.ndim)
        self._seen = _seen(release, list(different.values()), household)
        self._found: OrderedDict[tuple[object, ...], _Worst] = OrderedDict()

    def told(self, present: Present, scale: Fraction | None = None) -> tuple[Told, ...]:
        """Before each adversary that is declared."""
        found = []
        for adversary, informed in self._adversaries():
            if isinstance(self._seen, Nothing):
                found.append(Told(adversary, 1.0, math.inf, NONE))
                continue
            worst, method, _ = self._delta(present, scale, self.epsilon, informed=informed)
            found.append(Told(adversary, worst, self._epsilon(present, scale, informed=informed), method))
        return tuple(found)

    def worst(self, present: Present, scale: Fraction | None = None) -> float:
        """The largest delta of all adversaries: who knows more is told more."""
        return self.delta_at(self.epsilon, present, scale)

    def delta_at(self, epsilon: float, present: Present, scale: Fraction | None = None) -> float:
        if isinstance(self._seen, Nothing):
            return 1.0
        return max(self._delta(present, scale, epsilon, informed=each)[0] for _, each in self._adversaries())

    def noise_for(self, present: Present) -> Fraction | None:
        """The least scale of the ladder with which crowd and noise together meet what is aimed at."""

        def holds(scale: Fraction) -> bool:
            return all(self._holds(present, scale, self.epsilon, informed=each) for _, each in self._adversaries())

        if not self._seen.noisy or not holds(LADDER[-1]):
            return None
        low, high = -1, len(LADDER) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(LADDER[middle]) else (middle, high)
        return LADDER[high]

    def _adversaries(self) -> list[tuple[str, bool]]:
        names = (DEPENDENT, DEPENDENT_INFORMED) if self.dependent else (INDEPENDENT, INDEPENDENT_INFORMED)
        return [(names[0], False), (names[1], True)][: 2 if self.known else 1]

    def counts(self, present: Present) -> Others:
        """How many there are of each kind: of types by their law, and then of households by their size."""
        if len(present.types) > len(self._kind_of) or len(present.households) > self.kinds - self.types:
            raise Invalid("present", "holds people of a type, or a household of a size, of which no law is given")
        types = [0] * self.types
        for kind, count in zip(self._kind_of, present.types, strict=False):
            types[kind] += count
        return (*types, *present.households, *(0,) * (self.kinds - self.types - len(present.households)))

    def _delta(self, present: Present, scale: Fraction | None, epsilon: float, *, informed: bool) -> _Worst:
        key = (present, scale, epsilon, informed)
        if key in self._found:
            self._found.move_to_end(key)
            return self._found[key]
        found, method, hidden = 0.0, EXACT, []
        for target, others, known in self._targets(self.counts(present), self._known(present, informed=informed)):
            worst, exact, least = worst_known(others, known, self._asking(target, epsilon, scale), above=found)
            found = max(found, worst)
            hidden.append((target, least))
            method = max(method, self._seen.method(others), EXACT if exact else SOUND, key=METHODS.index)
        if informed and method == EXACT and (self._seen.blurs_known or any(present.households[1:])):
            method = SOUND
        self._found[key] = _Worst(found, method, tuple(hidden))
        if len(self._found) > KEPT:
            self._found.popitem(last=False)
        return self._found[key]

    def curve(self, counts: Others, known: int, scale: Fraction | None, at: float) -> Callable[[float], float]:
        """delta over epsilon, or above it, for so many of each kind of whom so many are known; closest about `at`."""
        if isinstance(self._seen, Nothing):
            return lambda _: 1.0
        asked = [
            (target, hidden)
            for target, others, left in self._targets(counts, known)
            for hidden in covering(others, left, self._asking(target, at, scale), _BOXES)
        ]
        return lambda epsilon: max(
            (self._seen.told(target, hidden, epsilon, scale) for target, hidden in asked), default=0.0
        )

    def _holds(self, present: Present, scale: Fraction | None, epsilon: float, *, informed: bool) -> bool:
        known = self._known(present, informed=informed)
        return all(
            worst_known(others, left, self._asking(target, epsilon, scale), above=self.delta, enough=self.delta)[0]
            <= self.delta
            for target, others, left in self._targets(self.counts(present), known)
        )

    def _asking(self, target: Target, epsilon: float, scale: Fraction | None) -> Callable[[Others], float]:
        return lambda hidden: self._seen.told(target, hidden, epsilon, scale)

    def _known(self, present: Present, *, informed: bool) -> int:
        return min(math.ceil(self.known * present.users), present.users - 1) if informed else 0

    def _targets(self, counts: Others, known: int) -> list[tuple[Target, Others, int]]:
        """Everybody who may be asked about, with those beside him and how many of these are known."""
        found: list[tuple[Target, Others, int]] = []
        for kind, count in enumerate(counts):
            if not count:
                continue
            others = tuple(each - (place == kind) for place, each in enumerate(counts))
            beside = max(0, kind - self.types)
            found += [(Target(kind, own), others, known - own) for own in range(min(known, beside) + 1)]
        return found

    def _epsilon(self, present: Present, scale: Fraction | None, *, informed: bool) -> float:
        """The smallest epsilon at which the declared delta holds, up to 1 in 50,000 above, or up to 1 in 64
        where it is not decided who is worst.

        First for those of whom most was told at the declared epsilon, then from there on for everybody.
        """
        few = self._delta(present, scale, self.epsilon, informed=informed).hidden

        def nearly(at: float) -> bool:
            return all(self._seen.told(target, hidden, at, scale, roughly=True) <= self.delta for target, hidden in few)

        def holds(at: float) -> bool:
            return self._holds(present, scale, at, informed=informed)

        found = _least(nearly, 0.0, self.epsilon)
        near = (found * (1.0 + more) for more in _SLIGHTLY)
        return next((each for each in near if each > _LARGEST or holds(each)), None) or _least(
            holds, found, 2.0 * found
        )


def _least(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest epsilon from `low` on that holds, rounded up."""
    high = max(high, 2.0**-10)
    if holds(low):
        return low
    while not holds(high):
        low, high = high, 2.0 * high
        if high > _LARGEST:
            return math.inf
    while high - low > _FINE * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _seen(release: str, laws: Sequence[Vector], household: Vector | None) -> Seen:
    if release not in RELEASES:
        raise Invalid("release", f"is not known; there are {', '.join(RELEASES)}")
    if release in SUMS:
        return Summed(laws, household)
    if release == "range":
        return Ranged(laws, household)
    if release in {"histogram", "records"} and household is None:
        return Counted(laws, lattice=release == "records")
    return Nothing()
