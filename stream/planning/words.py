"""A plan in words and as a table, for the terminal and for the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from stream.planning.frontier import Nearest, frontier, nearest, rule_of
from stream.planning.points import NO_WINDOW, Point
from stream.planning.target import OPTIONS, Target, gaps
from stream.settings.kinds import write_duration

HEADS: Final = (
    "", "mechanism", "promise", "window", "budget", "kept", "delay", "worst/day", "mean/event", "mean/day", "us/event"
)  # fmt: skip
_NOTES: Final = """\
kept: the share of events whose released value is the true one (or the mean distance), with the half-width of an
 interval of 95 %, simulated with the pipeline's own step and fixed public coins; = marks what is exact
promise: SIP e holds at e against readers who know the model, and at 2 e against everybody; LDP e holds at e against
 everybody. The same number means more in LDP than in SIP
of windows the promise is for all values of the window together; one of its values by itself may tell up to 2 e
worst/day: nats promised for any 24 hours at the assumed rate of evenly spaced events; b marks what a budget keeps
 whatever the rate, and only that counts for --leakage-per-day
mean: what the counters of such users added up to, the larger side, on average
us/event: the release path alone, without Kafka and JSON, measured on this machine during this run, beside whatever
 else it did; the half-width of 95 % behind it. It differs from run to run and decides nothing
* marks points that no other beats in what is kept, delay, promised worst (at the rate and by the budget) and kind of
 promise at once; > is the chosen one"""
NOTES: Final = tuple(_NOTES.replace("\n ", " ").splitlines())


@dataclass(frozen=True)
class Plan:
    """Everything that a plan found."""

    model: str
    values: int
    target: Target
    per_day: int
    points: tuple[Point, ...]
    chosen: Point | None
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def by_distance(self) -> bool:
        return self.target.distance is not None

    @property
    def best(self) -> list[Point]:
        return frontier(self.points, self.by_distance)

    @property
    def missed(self) -> Nearest | None:
        """Where nothing meets what is asked: the part that is nearest to being met."""
        return nearest(self.points, self.target) if self.target.asked and self.chosen is None else None


def figures(plan: Plan) -> dict[str, Any]:
    """Everything as plain values."""
    best, missed = set(map(id, plan.best)), plan.missed
    return {
        "model": plan.model,
        "values": plan.values,
        "events_per_day": plan.per_day,
        "target": plan.target.asked,
        "rule": rule_of(plan.target),
        "points": [
            {**asdict(point), "on_frontier": id(point) in best, "misses": gaps(point, plan.target)}
            for point in plan.points
        ],
        "chosen": None if plan.chosen is None else asdict(plan.chosen),
        "nearest": None if missed is None else {**missed._asdict(), "point": asdict(missed.point)},
        "left_out": plan.left_out,
    }


def told(plan: Plan, *, everything: bool = False) -> str:
    """The whole answer for a terminal."""
    shown = list(plan.points) if everything else plan.best
    head = f"{len(plan.points)} ways to run model {plan.model} ({plan.values} values) at {plan.per_day} events a day"
    parts = [head + ("" if everything else "; those that no other beats:"), table(plan, shown)]
    parts += ["\n".join(f"  {note}" for note in NOTES)]
    if plan.left_out:
        parts.append("Left out, because settings of that kind are refused:\n" + "\n".join(_left_out(plan)))
    return "\n\n".join([*parts, "\n".join(verdict(plan))])


def _left_out(plan: Plan) -> Iterator[str]:
    for reason, count in plan.left_out.items():
        yield f"  {count} x {reason}"


def verdict(plan: Plan) -> Iterator[str]:
    """What was chosen and by which rule; or what is missing."""
    if not plan.target.asked:
        yield "Nothing is asked for, so nothing is chosen: give --agreement, --distance, --leakage-per-day or --delay."
        return
    asked = ", ".join(_asked(name, wanted) for name, wanted in plan.target.asked.items())
    if plan.chosen is not None:
        yield f"Asked: {asked}."
        yield f"Chosen: {name_of(plan.chosen)}: {_sums(plan, plan.chosen)}."
        yield f"The rule: {rule_of(plan.target)}."
        return
    missed = plan.missed
    assert missed is not None, "what is asked and not chosen is missed"
    yield f"Nothing that was tried meets: {asked}."
    others = "" if len(plan.target.asked) == 1 else " with all others kept" if missed.others_kept else " by itself"
    yield (
        f"Nearest to being met{others} is {_asked(missed.name, missed.wanted)}: the best is "
        f"{_amount(missed.name, missed.best)}, by {name_of(missed.point)} ({_sums(plan, missed.point)})."
    )
    wants = [f"{OPTIONS[name]} {_loose(name, missed.point)}" for name in gaps(missed.point, plan.target)]
    yield f"That point would meet {' and '.join(wants)}; other windows, epsilons or a better model may do more."


def _loose(name: str, point: Point) -> str:
    """A number that this point meets, rounded to the side where it still does."""
    from stream.planning.target import shown_by

    found = shown_by(point, name)
    if name == "agreement":
        return f"{math.floor(found * 1000) / 1000:g}"
    if name == "delay":
        return write_duration(math.ceil(found / 1000) * 1000)
    return f"{math.ceil(found * 1000) / 1000:g}"


def _asked(name: str, wanted: float) -> str:
    words = {
        "agreement": "agreement of at least",
        "distance": "a mean distance of at most",
        "leakage": "a promise for any 24 hours of at most",
        "delay": "a mean delay of at most",
    }
    return f"{words[name]} {_amount(name, wanted)}"


def _amount(name: str, amount: float) -> str:
    if name == "agreement":
        return f"{100 * amount:.1f} %"
    return f"{amount:.4g} nats" if name == "leakage" else duration(amount) if name == "delay" else f"{amount:.4g}"


def _sums(plan: Plan, point: Point) -> str:
    return (
        f"{kept(plan, point)} kept, mean delay {duration(point.delay_ms)}, at worst {point.worst_per_day:.4g} nats a "
        f"day, {point.mean_per_day:.4g} on average, {100 * point.forecast:.1f} % forecast"
    )


def name_of(point: Point) -> str:
    mine = point.candidate
    window = "" if mine.order == NO_WINDOW else f", {mine.order} windows of {mine.events}"
    return f"{mine.mechanism}, {point.notion}{window}, budget {budget_of(point)}"


def budget_of(point: Point) -> str:
    mine = point.candidate
    if math.isinf(mine.nats):
        return "none"
    return f"{mine.nats:g}/{'ever' if mine.length is None else write_duration(mine.length)}"


def kept(plan: Plan, point: Point) -> str:
    """What is kept, with its error."""
    if plan.by_distance:
        assert point.distance is not None, "a distance is asked only where there is one"
        return f"{point.distance:.4g} =" if point.exact else f"{point.distance:.4g} +- {point.distance_error:.2g}"
    share = f"{100 * point.agreement:.1f} %"
    return f"{share} =" if point.exact else f"{share} +- {100 * point.agreement_error:.1f}"


def duration(milliseconds: float) -> str:
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        if milliseconds >= size:
            return f"{milliseconds / size:.3g}{unit}"
    return f"{milliseconds:.3g}ms" if milliseconds else "0"


def cells(plan: Plan, point: Point, best: set[int]) -> tuple[str, ...]:
    mine = point.candidate
    mark = ">" if point is plan.chosen else "*" if id(point) in best else ""
    return (
        mark,
        mine.mechanism,
        point.notion,
        "none" if mine.order == NO_WINDOW else f"{mine.order} {mine.events}",
        budget_of(point),
        kept(plan, point),
        duration(point.delay_ms),
        f"{point.worst_per_day:.4g}" + (" b" if point.kept_per_day <= point.worst_per_day else ""),
        f"{point.mean_per_event:.3g}",
        f"{point.mean_per_day:.3g}",
        f"{point.cost_us:.3g} +- {point.cost_error:.2g}",
    )


def sorted_points(points: Sequence[Point]) -> list[Point]:
    return sorted(points, key=lambda point: (point.worst_per_day, -point.agreement))


def table(plan: Plan, points: Sequence[Point]) -> str:
    best = set(map(id, plan.best))
    rows = [HEADS, *(cells(plan, point, best) for point in sorted_points(points))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)
