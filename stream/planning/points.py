"""One way to run a pipeline, and what it gives: what is promised, what is told, what is kept, how long values wait."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Final

import numpy as np
import numpy.typing as npt

from beliefs.chain import Chain
from beliefs.distance import EQUAL, Distance, cost
from beliefs.rounding import UNITS_PER_NAT
from mechanisms.registry import MECHANISMS, Mechanism
from stream.commands.expectation import DAY_MS, Drawn, Promised, carry_out
from stream.planning.exact import Exact
from stream.policy import FORECAST, RELEASED

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

NO_WINDOW: Final = "none"
_Z: Final = 1.959964
"""Of a normal law, 95 % lie within so many standard deviations."""


@dataclass(frozen=True, order=True)
class Candidate:
    """What is varied. `events` is 1 without a window; `length` of a budget in milliseconds, None for ever."""

    mechanism: str
    epsilon: float
    order: str = NO_WINDOW
    events: int = 1
    nats: float = math.inf
    length: int | None = None


@dataclass(frozen=True)
class Point:
    """Leakage in nats, times in milliseconds; errors are half-widths of intervals of 95 %, 0 where `exact` says why."""

    candidate: Candidate
    notion: str
    agreement: float
    agreement_error: float
    exact: str | None
    distance: float | None
    distance_error: float
    delay_ms: float
    worst_per_release: float
    worst_per_event: float
    worst_for_anyone: float
    worst_per_day: float
    kept_per_day: float
    mean_per_event: float
    mean_per_day: float
    values_per_release: float
    forecast: float
    suppressed: float
    cost_us: float
    cost_error: float
    work: int
    users: int
    steps: int


def notion_of(mechanism: Mechanism, epsilon: float) -> str:
    """What kind of promise an epsilon is; two epsilons of different kinds are not the same thing."""
    if mechanism.holds_epsilon:
        return f"LDP {epsilon:g}" if mechanism.row_epsilons <= 1 else f"SIP {epsilon:g}"
    return f"LDP {mechanism.row_epsilons * epsilon:g}" if mechanism.row_epsilons < math.inf else "no bound"


@dataclass
class Trial:
    """A candidate that is being tried out on one batch of users after the other."""

    candidate: Candidate
    promised: Promised
    chain: Chain
    distance: Distance | None
    exact: Exact | None = None
    users: int = 0
    steps: int = 0
    _agreements: list[float] = field(default_factory=list)
    _distances: list[float] = field(default_factory=list)
    _costs: list[float] = field(default_factory=list)
    _told: list[tuple[float, float]] = field(default_factory=list)
    _counts: list[tuple[float, float, float, float]] = field(default_factory=list)

    def add(self, drawn: Drawn, clock: Callable[[], float]) -> None:
        began = clock()
        rehearsed = carry_out(self.promised, self.chain, drawn)
        count = drawn.users * drawn.steps
        self._costs.append((clock() - began) * 1e6 / count)
        releases, symbols = rehearsed.releases, drawn.events.symbol
        by_user = (releases.symbol == symbols).reshape(drawn.steps, drawn.users)
        self._agreements += by_user.mean(axis=0).tolist()
        if self.distance is not None:
            self._distances += self._far(symbols, releases.symbol, drawn)
        told = releases.outcome == RELEASED
        self._told.append((float(releases.upper[told].sum()), float(releases.lower[told].sum())))
        forecast, gone = (releases.outcome == FORECAST).mean(), (releases.symbol < 0).mean()
        self._counts.append((count / rehearsed.windows, float(rehearsed.waits.mean()), float(forecast), float(gone)))
        self.users, self.steps = self.users + drawn.users, drawn.steps

    def _far(self, true: Integers, shown: Integers, drawn: Drawn) -> list[float]:
        """Each user's mean distance; an event that shows nothing is as far as two values can be."""
        assert self.distance is not None
        table = costs_of(self.distance, self.chain.symbols)
        far = np.where(shown >= 0, table[true, np.maximum(shown, 0)], table.max())
        return [float(mean) for mean in far.reshape(drawn.steps, drawn.users).mean(axis=0)]

    @property
    def batches(self) -> int:
        """How many were tried; each has users of its own."""
        return len(self._costs)

    @property
    def spread(self) -> float:
        """The standard deviation of one user's share."""
        return stdev(self._agreements)

    @property
    def agreement_error(self) -> float:
        return 0.0 if self.exact is not None else half_width(self._agreements)

    @property
    def distance_error(self) -> float:
        return 0.0 if self.exact is not None or not self._distances else half_width(self._distances)

    def point(self, per_day: int) -> Point:
        mechanism, policy = MECHANISMS[self.candidate.mechanism], self.promised.policy
        exact, epsilon = self.exact, self.candidate.epsilon
        built = epsilon - policy.shift / UNITS_PER_NAT
        in_window = self.promised.windows is not None
        upper, lower = (sum(side) / UNITS_PER_NAT / (self.users * self.steps) for side in zip(*self._told, strict=True))
        length, wait, forecast, gone = (fmean(column) for column in zip(*self._counts, strict=True))
        worst = epsilon if mechanism.holds_epsilon else mechanism.row_epsilons * epsilon
        kept = kept_per_day(self.candidate.nats, self.candidate.length)
        by_rate = self._releases_per_day(per_day) * worst
        costs = self._costs[1:] or self._costs
        distance = fmean(self._distances) if self._distances else None
        return Point(
            candidate=self.candidate,
            notion=notion_of(mechanism, epsilon),
            agreement=fmean(self._agreements) if exact is None else exact.agreement,
            agreement_error=self.agreement_error,
            exact=None if exact is None else exact.why,
            distance=distance if exact is None or exact.distance is None else exact.distance,
            distance_error=self.distance_error,
            delay_ms=wait,
            worst_per_release=worst,
            worst_per_event=mechanism.row_epsilons * built if in_window else worst,
            worst_for_anyone=mechanism.row_epsilons * built,
            worst_per_day=min(kept, by_rate),
            kept_per_day=kept,
            mean_per_event=max(upper, lower),
            mean_per_day=max(upper, lower) * per_day,
            values_per_release=length,
            forecast=forecast,
            suppressed=gone,
            cost_us=fmean(costs),
            cost_error=half_width(costs),
            work=int(self.chain.data.shape[0]) * (window_passes(self.candidate) if in_window else 1),
            users=self.users,
            steps=self.steps,
        )

    def _releases_per_day(self, per_day: int) -> int:
        rules = self.promised.windows
        return per_day if rules is None else releases_per_day(per_day, rules.events, rules.stretch)


def window_passes(candidate: Candidate) -> int:
    """How often each value of a window passes over the transitions: bisect goes over the window for each value."""
    return 1 if candidate.order == "natural" else candidate.events


def releases_per_day(per_day: int, events: int, stretch: int = 0) -> int:
    """So many evenly spaced events touch at most so many windows of this many events; each stretch that begins among
    them ends one window early.
    """
    if events == 1 or per_day == 1:
        return per_day
    begun = -(-DAY_MS // stretch) if stretch > 0 else 0
    return min(per_day, (per_day - 2) // events + 2 + begun)


def kept_per_day(nats: float, length: int | None) -> float:
    """What a budget keeps for any 24 hours: they meet one budget window more than fit into them."""
    return nats if length is None else nats * (-(-DAY_MS // length) + 1)


def costs_of(distance: Distance, symbols: int) -> Floats:
    """What each error costs, in the distance's own measure."""
    if distance.costs.shape[0] == symbols:
        costs = distance.costs
    else:
        costs = np.array([[cost(distance, x, y) for y in range(symbols)] for x in range(symbols)])
    return costs.astype(np.float64) * distance.unit


def is_measured(distance: Distance) -> bool:
    return distance.kind != EQUAL


def half_width(values: list[float]) -> float:
    """Of Student's interval of 95 % for a mean, by the expansion of its quantile in 1/n; infinite for fewer than 3."""
    freedom = len(values) - 1
    if freedom < 2:
        return math.inf
    quantile = _Z + (_Z**3 + _Z) / (4 * freedom) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
    return quantile * stdev(values) / math.sqrt(len(values))
