"""Budgets under caps, and the mechanism for each field that leaves the least noise within them.

All ways are compared at the same caps on the exact totals. What decides how much a field tells of the others is
whether its reports are randomised response, whose totals are exact, or of another kind, whose totals are the bound
for any mechanism; within a kind the least noise is best. Which fields are of which kind is searched for: all of the
one, all of the other, and from the better one field after the other, while the noise of all fields together falls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.account import AccountField, Totals
from beliefs.correlation.calibration import AccountMeter, GroupMeter, Meter, equal_budgets, unequal_budgets
from beliefs.rounding import nats, units_up
from beliefs.simplex import Vector
from mechanisms.local.registry import drawn, local
from mechanisms.local.units import EPSILON_MAX, EPSILON_MIN
from mechanisms.local.utility import noise_of
from stream.calibration.source import Sample, Told, cannot

MECHANISMS: Final = ("grr", "exp", "sue", "oue", "blh", "olh", "ss", "she")
"""Those that an epsilon alone describes."""
RESPONSES: Final = ("grr", "exp")
"""What randomised response goes by."""
ONE_KIND: Final = ("grr",)
EVERY_KIND: Final = ("grr", "oue", "sue", "olh", "ss")
"""What is chosen from: exp is grr at half its epsilon, blh is never better than olh, and she never better than oue."""
_SEARCHED: Final = 1 << 21
"""Cells times fields up to which single fields are tried in another kind."""

Kinds = tuple[bool, ...]
"""For each field whether its reports are randomised response."""


@dataclass(frozen=True)
class Asked:
    """A cap for each field, how many reports of each, the mechanisms that are given, and how many people report."""

    caps: tuple[float, ...]
    reports: int
    fixed: Mapping[str, str]
    people: int


@dataclass(frozen=True)
class Budget:
    """Of one field: the epsilon of a report and what all reports then tell in total; nats, and a standard error.

    `error` is that of one value's frequency, by the noise alone, on average over the values.
    """

    epsilon: float
    level: float
    total: float
    error: float


@dataclass(frozen=True)
class Choice:
    """`equal` and `unequal` budgets of the fields with the mechanisms chosen; `rules` say how totals were found."""

    mechanisms: tuple[str, ...]
    meter: Meter
    rules: tuple[str, ...]
    equal: tuple[Budget, ...]
    unequal: tuple[Budget, ...]
    tried: int
    searched: bool


class Chooser:
    def __init__(self, sample: Sample, asked: Asked, told: Told) -> None:
        self.sample, self.asked, self._told = sample, asked, told
        self.count = len(sample.names)
        self.caps = np.array(asked.caps)
        self.sizes = [len(each) for each in sample.labels]
        self.laws = [sample.law(place) for place in range(self.count)]
        self.given = [asked.fixed.get(name) for name in sample.names]
        self._of_records: GroupMeter | None = None
        self._levels: dict[Kinds, float] = {}
        self._scored: dict[Kinds, float] = {}

    def choose(self) -> Choice:
        """The kinds with the least noise at equal budgets; then both kinds of budgets for them."""
        kinds = min((self._kinds(True), self._kinds(self.sample.weights is None)), key=self._noise)
        searched = self.sample.weights is not None and self.sample.cells * self.count <= _SEARCHED
        while searched:
            better = min(self._turned(kinds), key=self._noise, default=kinds)
            if not self._noise(better) < self._noise(kinds):
                break
            kinds = better
        meter = self.meter(kinds)
        unequal = unequal_budgets(meter, self.caps)
        mechanisms = self._mechanisms(kinds, unequal)
        if self.sample.weights is not None and (found := tuple(name in RESPONSES for name in mechanisms)) != kinds:
            # Where it makes no difference, as between two values, randomised response is what tells least.
            kinds, meter = found, self.meter(found)
            unequal = unequal_budgets(meter, self.caps)
        level = np.full(self.count, self._level(kinds))
        return Choice(
            mechanisms,
            meter,
            self._rules(kinds),
            self._kept(kinds, level, mechanisms),
            self._kept(kinds, unequal, mechanisms),
            len(self._scored),
            searched,
        )

    def _kinds(self, responds: bool) -> Kinds:
        """All that are not given are of one kind."""
        return tuple(responds if given is None else given in RESPONSES for given in self.given)

    def _turned(self, kinds: Kinds) -> list[Kinds]:
        """Each field that is not given in the other kind, the rest as they are."""
        free = [place for place, given in enumerate(self.given) if given is None]
        return [(*kinds[:place], not kinds[place], *kinds[place + 1 :]) for place in free]

    def _noise(self, kinds: Kinds) -> float:
        """The product of all fields' noises, as a logarithm: how many times more people must report for the same."""
        if kinds not in self._scored:
            epsilon = self._level(kinds) / self.asked.reports
            found = [self._least_noise(place, kinds[place], epsilon) for place in range(self.count)]
            self._scored[kinds] = sum(math.log(noise) for noise, _ in found)
        return self._scored[kinds]

    def _level(self, kinds: Kinds) -> float:
        """The sum of all reports of a field, alike for all fields."""
        if kinds not in self._levels:
            self._levels[kinds] = equal_budgets(self.meter(kinds), self.caps)
            self._require_drawable(self._levels[kinds])
        return self._levels[kinds]

    def _require_drawable(self, level: float) -> None:
        if level < EPSILON_MIN * self.asked.reports:
            why = f"{self.asked.reports} reports would have {level / self.asked.reports:.3g} nats each"
            fix = f"a report needs {EPSILON_MIN:g} nats at least: raise --cap, or lower --reports"
            raise cannot("--cap", why, fix)

    def meter(self, kinds: Kinds) -> Meter:
        """Records alone have the bound only, whatever the kinds."""
        if self.sample.weights is not None:
            return _Watched(AccountMeter(self.totals(kinds)), self._told)
        if self._of_records is None:
            self._told("arranging records", 0, 1)
            self._of_records = GroupMeter.of_records(self.sample.records.astype(np.float64))
        return _Watched(self._of_records, self._told)

    def totals(self, kinds: Kinds) -> Totals:
        """What the stream sums up."""
        fields = [
            AccountField(name, place, tuple(range(size)) if responds else None)
            for place, (name, size, responds) in enumerate(zip(self.sample.names, self.sizes, kinds, strict=True))
        ]
        try:
            return Totals(fields, self.sample.weights, radii=self.sample.radii)
        except Invalid as problem:
            raise cannot(self.sample.file, f"the table {problem.reason}", "correct the table, or see --add") from None

    def _rules(self, kinds: Kinds) -> tuple[str, ...]:
        if self.sample.weights is None:
            return ("bounded",) * self.count
        return self.totals(kinds).rules

    def _mechanisms(self, kinds: Kinds, budgets: Vector) -> tuple[str, ...]:
        per_report = np.minimum(budgets / self.asked.reports, EPSILON_MAX).tolist()
        return tuple(self._least_noise(place, kinds[place], epsilon)[1] for place, epsilon in enumerate(per_report))

    def _least_noise(self, place: int, responds: bool, epsilon: float) -> tuple[float, str]:
        """The least noise of one report at this epsilon among the mechanisms of a kind, and whose it is."""
        given = self.given[place]
        names = (given,) if given is not None else ONE_KIND if responds else EVERY_KIND
        epsilon = min(epsilon, EPSILON_MAX)
        found = [
            (noise_of(local(name, self.sizes[place], epsilon), self.laws[place]), name)
            for name in names
            if _drawable(name, self.sizes[place], epsilon)
        ]
        if not found:
            why = f"no mechanism of {', '.join(names)} can be drawn at {epsilon:.3g} nats a report"
            raise cannot(self.sample.names[place], why, "raise --cap, lower --reports, or give another mechanism")
        least = min(noise for noise, _ in found)
        return next((noise, name) for noise, name in found if noise <= least * (1.0 + 1e-9))

    def _kept(self, kinds: Kinds, budgets: Vector, mechanisms: Sequence[str]) -> tuple[Budget, ...]:
        """The budgets as they are written, with the levels that are drawn, and the totals of just these."""
        epsilons = [_written(min(spent / self.asked.reports, EPSILON_MAX)) for spent in budgets.tolist()]
        while True:
            levels = [
                drawn(name, size, epsilon).level
                for name, size, epsilon in zip(mechanisms, self.sizes, epsilons, strict=True)
            ]
            totals = self._totals(kinds, levels)
            if all(total <= cap for total, cap in zip(totals, self.caps.tolist(), strict=True)):
                break
            # A unit of rounding may be too much; the next epsilon that six digits can write is not.
            epsilons = [_written(epsilon * (1.0 - 1e-6)) for epsilon in epsilons]
        return tuple(
            Budget(epsilon, level, total, self._error(place, mechanisms[place], epsilon))
            for place, (epsilon, level, total) in enumerate(zip(epsilons, levels, totals, strict=True))
        )

    def _totals(self, kinds: Kinds, levels: Sequence[float]) -> list[float]:
        if self.sample.weights is None:
            found: list[float] = self.meter(kinds).totals(np.array(levels) * self.asked.reports).tolist()
            return found
        told = tuple(units for level in levels for units in (units_up(level) * self.asked.reports, 0))
        return [nats(total) for total in self.totals(kinds).of(told)]

    def _error(self, place: int, name: str, epsilon: float) -> float:
        noise = noise_of(local(name, self.sizes[place], epsilon), self.laws[place])
        return math.sqrt(noise / self.sizes[place] / self.asked.people / self.asked.reports)


class _Watched:
    """A meter that says how often it was asked."""

    def __init__(self, meter: Meter, told: Told) -> None:
        self.meter, self._told, self._asked = meter, told, 0
        self.fields, self.guarantee, self.assumes = meter.fields, meter.guarantee, meter.assumes

    def totals(self, budgets: Vector) -> Vector:
        self._asked += 1
        self._told("measuring totals", self._asked, max(self._asked, 64 * self.fields))
        return self.meter.totals(budgets)


def _drawable(name: str, values: int, epsilon: float) -> bool:
    """Some mechanisms have narrower limits than others."""
    try:
        drawn(name, values, epsilon)
    except Invalid:
        return False
    return True


def _written(epsilon: float) -> float:
    """With six digits, rounded down: what people copy into their settings."""
    return float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal(Decimal(epsilon)))
