"""The part of the status page that speaks of windows of aggregates: what they tell, and how far they have come."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from beliefs.rounding import nats
from stream import names
from stream.metrics.aggregates import (
    AGGREGATE_TOPPED_UP,
    AGGREGATE_WAITING,
    AGGREGATE_WINDOWS,
    AggregateCounts,
)
from stream.metrics.rows import Row, card, duration, moment, nat, table, words

_WITHHELD = {
    names.WITHHELD_BUDGET: "they would have passed the target",
    names.WITHHELD_PARTIAL: "a partition's part of them was missing",
}


def aggregates_card(counts: AggregateCounts | None) -> str:
    """Nothing where no aggregates are released."""
    if counts is None:
        return ""
    told = table([*_windows(counts), *_told(counts), *_far(counts)])
    return card("Windows of aggregates", f"{told}{_noise(counts)}", wide=True)


def _windows(counts: AggregateCounts) -> Iterator[Row]:
    yield Row("windows released", f"{counts.released:,}", _series(names.RELEASED, ""))
    if counts.topped_up:
        note = "so that they fit the target"
        yield Row("of them with more noise", f"{counts.topped_up:,}", AGGREGATE_TOPPED_UP.name, note)
    for reason, note in _WITHHELD.items():
        label = f"withheld: {reason}"
        yield Row(label, f"{counts.withheld[reason]:,}", _series(names.WITHHELD, reason), note)


def _told(counts: AggregateCounts) -> Iterator[Row]:
    latest, promise = counts.latest, counts.promise
    target = "none" if promise.target is None else nat(nats(promise.target))
    if latest is None:
        yield Row("the most that may be told", target, note=f"of any {promise.horizon:,} windows in a row")
        return
    yield Row("the latest window changes by", nat(nats(latest.loss)), note="with one contribution")
    yield Row("it tells about one user, at most", nat(nats(latest.leak)))
    note = f"of a target of {target} for any {promise.horizon:,} windows in a row"
    yield Row("the latest windows together", nat(nats(latest.total)), note=note)


def _far(counts: AggregateCounts) -> Iterator[Row]:
    if counts.released_to is not None:
        note = f"ended {duration(1000 * (counts.released_lag() or 0.0))} ago"
        yield Row("released up to", words(moment(counts.released_to)), note=note)
        yield Row("parts that wait", f"{counts.waiting:,}", AGGREGATE_WAITING.name, "sealed, for other partitions")
    opened = counts.open_windows()
    for partition, lag in counts.closed_lags().items():
        closed_to = words(moment(counts.partitions[partition].closed_to))
        note = f"ended {duration(1000 * lag)} ago; {opened[partition]:,} windows open"
        yield Row(f"partition {partition} closed up to", closed_to, note=note)


def _noise(counts: AggregateCounts) -> str:
    head = (
        '<tr><th scope="col">aggregate</th><th scope="col">part</th><th scope="col" class="n">scale of noise</th></tr>'
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{part}</td><td class="n">{scale:,.6g}</td></tr>'
        for (name, part), scale in counts.scales().items()
    )
    return f"<table class=named>{head}{rows}</table>"


def _series(outcome: str, reason: str) -> str:
    """With its labels in the order of their names, as HTML."""
    return escape(f'{AGGREGATE_WINDOWS.name}{{outcome="{outcome}",reason="{reason}"}}')
