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
from stream.metrics.page_windows import far
from stream.metrics.rows import Row, card, nat, table

_WITHHELD = {
    names.WITHHELD_BUDGET: "they would have passed the target",
    names.WITHHELD_PARTIAL: "a partition's part of them was missing",
}


def aggregates_card(counts: AggregateCounts) -> str:
    told = table([*_windows(counts), *_told(counts), *far(counts.progress, AGGREGATE_WAITING.name)])
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
