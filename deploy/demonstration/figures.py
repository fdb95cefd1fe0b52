"""The figures of the view: what one second brought, and what has come together so far."""

from __future__ import annotations

from dataclasses import dataclass

from record_of_truth import Agreement
from worker import Metrics

SIDES = ("upper", "lower")
PERCENTILES = ("50", "99")


@dataclass(frozen=True)
class Leakage:
    """Nats an event in the last interval; nats a user so far; the share of the budget that the users have spent."""

    an_event: dict[str, float]
    a_user: dict[str, float]
    budget_median: float
    budget_most: float


@dataclass(frozen=True)
class Beside:
    """The same events, released in windows by a second pipeline."""

    events: int
    leakage: Leakage
    wait_p50: float
    now: Agreement
    so_far: Agreement


@dataclass(frozen=True)
class Figures:
    seconds: float
    fed: int
    seen: int
    events_a_second: float
    outcomes: dict[str, int]
    dead_letters: int
    latency_p50: float
    latency_p99: float
    leakage: Leakage
    now: Agreement
    so_far: Agreement
    beside: Beside | None = None


def quantile(before: Metrics, after: Metrics, name: str, share: float) -> float:
    """A quantile of what a histogram gained between two scrapes, taken at the upper edge of its bucket."""
    earlier = dict(before.buckets(name))
    gained = [(edge, count - earlier.get(edge, 0.0)) for edge, count in after.buckets(name)]
    total = gained[-1][1] if gained else 0.0
    return next((edge for edge, count in gained if total and count >= share * total), 0.0)


def leakage(before: Metrics, after: Metrics) -> Leakage:
    name = "sottovoce_release_leakage_nats"
    told = after.value("sottovoce_events_total", outcome="released")
    events = told - before.value("sottovoce_events_total", outcome="released")
    an_event = {}
    for side in SIDES:
        gained = after.value(f"{name}_sum", side=side) - before.value(f"{name}_sum", side=side)
        an_event[side] = gained / events if events else 0.0
    a_user = {
        side: after.value("sottovoce_lifetime_leakage_percentile_nats", side=side, percentile="50") for side in SIDES
    }
    return Leakage(
        an_event,
        a_user,
        after.value("sottovoce_budget_spent_percentile_ratio", percentile="50"),
        after.value("sottovoce_budget_spent_max_ratio"),
    )


@dataclass(frozen=True)
class Look:
    """One pipeline at one moment: its own page, and what came back from it."""

    page: Metrics
    seen: int
    agreement: Agreement


def beside(before: Look, after: Look, events: int) -> Beside:
    return Beside(
        events,
        leakage(before.page, after.page),
        quantile(before.page, after.page, "sottovoce_event_latency_seconds", 0.5),
        after.agreement.since(before.agreement),
        after.agreement,
    )


def figures(began: float, fed: int, before: Look, after: Look, windows: Beside | None) -> Figures:
    outcomes = {
        outcome: int(after.page.value("sottovoce_events_total", outcome=outcome))
        for outcome in ("released", "forecast", "suppressed", "dead_lettered", "replayed")
    }
    return Figures(
        seconds=after.page.when - began,
        fed=fed,
        seen=after.seen,
        events_a_second=(after.seen - before.seen) / (after.page.when - before.page.when),
        outcomes=outcomes,
        dead_letters=outcomes["dead_lettered"],
        latency_p50=quantile(before.page, after.page, "sottovoce_event_latency_seconds", 0.5),
        latency_p99=quantile(before.page, after.page, "sottovoce_event_latency_seconds", 0.99),
        leakage=leakage(before.page, after.page),
        now=after.agreement.since(before.agreement),
        so_far=after.agreement,
        beside=windows,
    )
