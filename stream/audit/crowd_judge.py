"""Which windows may be released, and what they tell: worked out from who was there, a second time.

    too many, too few, too many of one household, nearly the people of an earlier window, more told than is allowed

in this order; the first that holds is the reason. Whether all partitions have sent their people is not seen here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

from stream import names
from stream.audit.crowd_guarantee import declared, not_following
from stream.audit.crowd_numbers import number, up
from stream.audit.crowd_present import People
from stream.audit.crowd_records import Said
from stream.audit.crowd_rules import MOST_PEOPLE, Crowds, Goal
from stream.audit.crowd_there import Guarded, there_of
from stream.audit.crowd_total import Shown, Total
from stream.audit.crowd_truth import SUMS, There, Truth

ABOVE: Final = 1.01
"""So many times an own computation a guarantee that calls itself exact may say, beside what doubles cannot tell."""

LARGEST: Final = Fraction(64)
"""A larger epsilon is not told."""

_NEARLY: Final = 1.0 - 1e-6
_UNSEEN: Final = 1e-40
"""Deltas below this are not told from 0."""
_FAR: Final = 1e-12
"""What an account may add for noise that lies beyond its places."""
_FOURTHS: Final = (Fraction(1), Fraction(1189, 1000), Fraction(707, 500), Fraction(841, 500))
LADDER: Final = tuple(_FOURTHS[step % 4] * Fraction(2) ** (step // 4) for step in range(-16, 121))
"""The scales that noise may have: four in every doubling, from 1/16 to 2^30 steps."""

Found = Iterator[tuple[str, str]]
"""Codes of findings, and their details."""


class Judged(NamedTuple):
    """`reason` is why the window must be withheld before its law is looked at; None where nothing speaks against it."""

    there: There | None
    reason: str | None


class Judge:
    """The windows of one stream, in their order."""

    def __init__(self, crowds: Crowds) -> None:
        self._crowds, self._guarded = crowds, Guarded(crowds.k)
        self.largest_delta = Fraction(0)
        goal, believed = crowds.goal, crowds.believed
        self._law = None if goal is None or believed is None else _Law(crowds, Truth(crowds.asked, believed), goal)

    def judge(self, people: People) -> Judged:
        crowds, there = self._crowds, there_of(self._crowds.believed, people)
        if len(people) > MOST_PEOPLE:
            return Judged(there, names.WITHHELD_MANY)
        if len(people) < crowds.k:
            return Judged(there, names.WITHHELD_FEW)
        if there is None:
            return Judged(None, names.WITHHELD_HOUSEHOLD)
        if crowds.guards and not self._guarded.allows(people):
            return Judged(there, names.WITHHELD_DIFFERENCING)
        return Judged(there, None)

    def withheld(self, judged: Judged, said: Said) -> Found:
        """What is wrong with withholding a window for this reason."""
        if self._law is not None:
            self._law.before.append(None)
        yield from (("crowd_guarantee", name) for name in not_following(self._crowds, said.guarantee, released=False))
        if said.reason != names.WITHHELD_DELTA:
            if said.reason != judged.reason:
                yield "crowd_needless", str(said.reason)
        elif judged.reason is not None or self._law is None or self._law.fits(judged.there):
            yield "crowd_needless", str(said.reason)

    def released(self, judged: Judged, said: Said, people: People) -> Found:
        """What is wrong with a window that was released, and with what it says that it tells."""
        if self._crowds.guards:
            self._guarded.remember(people)
        if judged.reason is not None:
            yield ("crowd_small" if judged.reason == names.WITHHELD_FEW else "crowd_wrongly_released"), judged.reason
        scale = scale_of(self._crowds, said)
        if scale is not None and scale not in LADDER:
            yield "crowd_noise", "scale"
            scale = None
        yield from (("crowd_guarantee", name) for name in not_following(self._crowds, said.guarantee, released=True))
        if self._law is not None and judged.there is not None:
            self.largest_delta = max(self.largest_delta, number(said.guarantee.get("delta")) or Fraction(0))
            yield from self._law.released(judged.there, said, scale)


class _Law:
    """What windows tell, by the law that is declared."""

    def __init__(self, crowds: Crowds, truth: Truth, goal: Goal) -> None:
        self._crowds, self._truth, self._goal = crowds, truth, goal
        self._noisy = goal.tops_up and crowds.asked.kind in (*SUMS, "histogram")
        self._worst = declared(crowds)[-1][1]
        self._total = Total(truth, goal.epsilon, informed=self._worst) if goal.windows > 1 else None
        self.before: deque[Shown | None] = deque(maxlen=goal.windows)

    def fits(self, there: There | None) -> bool:
        """Whether it is clear that the window could have been released."""
        if there is None or self._total is not None:
            return there is None
        return (self._noisy and self._goal.epsilon > 0.0) or self._clearly_fits(there, None)

    def _clearly_fits(self, there: There, scale: Fraction | None) -> bool:
        """By the adversary who knows most."""
        whole = self._truth.whole(there, informed=self._worst, noisy=scale is not None)
        least = self._truth.delta(there, self._goal.epsilon, self._worst, scale)
        return whole and least * ABOVE + _room(scale) < self._goal.delta

    def released(self, there: There, said: Said, scale: Fraction | None) -> Found:
        self.before.append(Shown(there, scale))
        told = said.guarantee.get("adversaries")
        methods = set[str]()
        for name, informed in declared(self._crowds):
            its = told.get(name) if isinstance(told, dict) else None
            if not isinstance(its, dict):
                continue  # it is missing, which is found where parts are looked at
            methods.add(str(its.get("method")))
            exact = its.get("method") == "exact" and self._truth.whole(
                there, informed=informed, noisy=scale is not None
            )
            for code, part in self._of_delta(there, number(its.get("delta")), informed, scale, exact=exact):
                yield code, f"{part}, {name}"
            for code, part in self._of_epsilon(
                there, number(its.get("epsilon_at_target")), informed, scale, exact=exact
            ):
                yield code, f"{part}, {name}"
        if scale is not None:
            yield from self._noise(there, scale, exact=methods == {"exact"})
        if self._total is not None:
            yield from self._together(self._total, said.guarantee.get("total"))

    def _of_delta(
        self, there: There, told: Fraction | None, informed: bool, scale: Fraction | None, *, exact: bool
    ) -> Found:
        """Never below the truth, and where that is known, hardly above."""
        least = self._truth.delta(there, self._goal.epsilon, informed, scale)
        if told is None:
            return
        if told < least * _NEARLY - _UNSEEN:
            yield "crowd_below_truth", "delta"
        elif exact and told > least * ABOVE + _room(scale):
            yield "crowd_above_truth", "delta"
        if max(float(told), least * _NEARLY) > self._goal.delta:
            yield "crowd_beyond_target", "delta"

    def _of_epsilon(
        self, there: There, told: Fraction | None, informed: bool, scale: Fraction | None, *, exact: bool
    ) -> Found:
        """With this epsilon the delta of the target holds, and with a hundredth less clearly not."""
        if told is None:
            told = LARGEST  # so it is said to be larger than that
        elif self._truth.quick(there, float(told), informed, scale) * _NEARLY > self._goal.delta:
            yield "crowd_below_truth", "epsilon"
            return
        if exact and told > 0:
            most = (self._goal.delta - _room(scale)) * _NEARLY
            less = there, float(told) / ABOVE, informed, scale
            if self._truth.quick(*less) < most and self._truth.delta(*less) < most:
                yield "crowd_above_truth", "epsilon"

    def _noise(self, there: There, scale: Fraction, *, exact: bool) -> Found:
        """The least that is enough, where that is known, and only where it is asked for."""
        if not self._noisy:
            yield "crowd_noise", "not asked for"
        elif exact and self._total is None:
            place = LADDER.index(scale)
            if self._clearly_fits(there, LADDER[place - 1] if place else None):
                yield "crowd_noise", "more than asked for"

    def _together(self, total: Total, told: object) -> Found:
        delta = number(told.get("delta")) if isinstance(told, dict) else None
        if delta is None:
            return  # it is missing, which is found where parts are looked at
        least = total.least([each for each in self.before if each is not None])
        if delta < least * _NEARLY - _FAR:
            yield "crowd_below_truth", f"total of {self._goal.windows} windows"
        if max(float(delta), least * _NEARLY) > self._goal.delta:
            yield "crowd_beyond_target", "total"


def _room(scale: Fraction | None) -> float:
    return _UNSEEN if scale is None else _FAR


def scale_of(crowds: Crowds, said: Said) -> Fraction | None:
    """The scale of the noise that a record tells of, in steps: the one of the ladder that is written so; one that is
    not of the ladder as it is.
    """
    release = said.parts.get("release")
    told = release.get("noise_scale") if isinstance(release, dict) else None
    found = number(told)
    if found is None:
        return None
    grid = Fraction(1) if crowds.asked.steps is None else Fraction(crowds.asked.steps.grid)
    return next((scale for scale in LADDER if up(scale * grid) == Decimal(str(told))), found / grid)
