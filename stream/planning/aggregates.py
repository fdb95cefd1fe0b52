"""What other epsilons would make of declared aggregates: how near their numbers come, and what windows tell.

No data is read: noise, losses, leaks and the gate are known in advance. Either widths are wanted, and the epsilons that
they take are found; or the target says how much may be told, and the epsilons with which it pays for every window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Final, Literal

from beliefs.checks import Invalid
from beliefs.dependence.budget import largest_loss
from beliefs.dependence.claim import Claim, claim_of
from beliefs.laws.dependence import Group, Independent
from beliefs.rounding import INFINITE, UNITS_PER_NAT, nats
from stream.aggregates.claims import WHOEVER, only_query
from stream.aggregates.compiled import query_of
from stream.aggregates.expected import fitting_windows, mean_within, right_within
from stream.aggregates.laws import said_by, together
from stream.aggregates.opening import OpenedAggregates
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.query import Query
from stream.errors import CannotPlan
from stream.settings.aggregate import LARGEST_EPSILON, LEAST_EPSILON, QuerySettings

FACTORS: Final = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
USUAL_GROUP: Final = 4
"""Where neither a group nor a law is declared: a household."""
_UP: Final = Context(prec=4, rounding=ROUND_CEILING)
_DOWN: Final = Context(prec=4, rounding=ROUND_FLOOR)
_LARGEST_FACTOR: Final = 64


@dataclass(frozen=True)
class QueryOutlook:
    """`within` is how far its number is from the truth at most, with 95 %; None where nothing is known of a mean over
    so few users.
    """

    name: str
    epsilon: float
    scale: float
    within: float | None


@dataclass(frozen=True)
class Outlook:
    """One choice of epsilons. `told` says of each kind of dependence what one window and what all windows of the target
    tell about one user; `fit` of how many windows in a row the target pays for as declared.
    """

    title: str
    queries: tuple[QueryOutlook, ...]
    told: Mapping[str, tuple[float, float]]
    fit: int


class AggregatePlans:
    """Of one pipeline, for means over so many users."""

    def __init__(self, opened: OpenedAggregates, users: int) -> None:
        self._opened, self._users = opened, users
        self.declared = opened.declared.each
        self._claims = claims_beside(opened)

    @property
    def promise(self) -> AggregatePromise:
        return self._opened.promise

    def scaled(self) -> Iterator[Outlook]:
        """The declared epsilons times each factor; those that would leave their limits are left out."""
        for factor in FACTORS:
            epsilons = {name: each.epsilon * float(factor) for name, each in self.declared.items()}
            if all(LEAST_EPSILON <= epsilon <= LARGEST_EPSILON for epsilon in epsilons.values()):
                yield self._outlook("as declared" if factor == 1 else f"x {factor}", epsilons)

    def fitting(self) -> Outlook | None:
        """The declared epsilons by one factor so that the target pays for every window; None without a target, or where
        they would be too small.
        """
        promise = self.promise
        if promise.target is None:
            return None
        loss, horizon = promise.window_loss, promise.horizon
        most = min(_LARGEST_FACTOR * loss, INFINITE - 1)
        fitting = largest_loss(lambda each: promise.claim.leak([each] * horizon), promise.target, most)
        epsilons = {name: rounded_down(each.epsilon * fitting / loss) for name, each in self.declared.items()}
        if not all(LEAST_EPSILON <= epsilon <= LARGEST_EPSILON for epsilon in epsilons.values()):
            return None
        return self._outlook("every window fits", epsilons)

    def wanted(self, widths: Mapping[str, float]) -> Outlook:
        """The least epsilons with which these aggregates are right to these widths; the others as declared."""
        epsilons = {name: each.epsilon for name, each in self.declared.items()}
        for name, width in widths.items():
            if name not in self.declared:
                fix = f"name one of {', '.join(self.declared)}"
                raise CannotPlan("What is asked for cannot be planned.", f"--within {name}", "there is none", fix)
            epsilons[name] = self._least(name, self.declared[name], width)
        return self._outlook("as wanted", epsilons)

    def _least(self, name: str, declared: QuerySettings, width: float) -> float:
        def near_enough(units: int) -> bool:
            within = self._within(_query(name, declared, units / UNITS_PER_NAT))
            return within is not None and within <= width

        low, high = math.ceil(LEAST_EPSILON * UNITS_PER_NAT), math.floor(LARGEST_EPSILON * UNITS_PER_NAT)
        if not near_enough(high):
            why = f"no epsilon up to {LARGEST_EPSILON:g} makes it right to {width:g} with 95 %"
            fix = "ask for less, over more users (--users), or declare a finer grid"
            raise CannotPlan("What is asked for cannot be planned.", f"--within {name}={width:g}", why, fix)
        while high - low > max(1, low >> 20):
            middle = (low + high) // 2
            low, high = (low, middle) if near_enough(middle) else (middle, high)
        return rounded_up(high / UNITS_PER_NAT)

    def _within(self, query: Query) -> float | None:
        return mean_within(query, self._users) if query.kind == "mean" else right_within(query)

    def _outlook(self, title: str, epsilons: Mapping[str, float]) -> Outlook:
        queries = tuple(_query(name, self.declared[name], epsilon) for name, epsilon in epsilons.items())
        promise = replace(self.promise, queries=queries)
        loss, horizon = promise.window_loss, promise.horizon
        told = {
            name: (nats(claim.leak([loss])), nats(claim.leak([loss] * horizon))) for name, claim in self._claims.items()
        }
        found = tuple(
            QueryOutlook(query.name, nats(query.loss), float(query.noise[0].scale * Fraction(query.grid)), within)
            for query, within in zip(queries, map(self._within, queries), strict=True)
        )
        return Outlook(title, found, told, fitting_windows(promise))


def claims_beside(opened: OpenedAggregates) -> dict[str, Claim]:
    """What would be claimed of independent users, of groups, and by the declared law."""
    declared, promise = opened.declared, opened.promise
    windows: Literal["any", "fresh"] = "fresh" if declared.dependence.windows.fresh else "any"
    size = declared.dependence.users.group or USUAL_GROUP
    if opened.laws.users is not None:
        size = max(2, together(said_by(opened.laws.users)))
    found: dict[str, Claim] = {}
    for name, users in (("independent", Independent()), (f"groups of {size}", Group(size, WHOEVER))):
        found[name] = claim_of(
            users,
            windows,
            protects=declared.protects,
            adversary=declared.adversary,
            horizon=promise.horizon,
            only=only_query(promise.queries),
        )
    if opened.laws.users is not None or opened.laws.windows is not None:
        found["by the law"] = promise.claim
    return found


def _query(name: str, declared: QuerySettings, epsilon: float) -> Query:
    try:
        return query_of(name, declared.model_copy(update={"epsilon": epsilon}))
    except Invalid as error:
        why = f"{error.field} {error.reason}"
        raise CannotPlan("What is asked for cannot be planned.", name, why, "declare a wider grid") from None


def rounded_up(value: float) -> float:
    """To four digits."""
    return float(_UP.create_decimal(repr(value)))


def rounded_down(value: float) -> float:
    return float(_DOWN.create_decimal(repr(value)))
