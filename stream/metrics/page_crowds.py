"""The part of the status page that speaks of crowds: how many come out, what they tell, and how far they have come."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from stream import names
from stream.metrics import crowd_table as metrics
from stream.metrics.bins import Tally
from stream.metrics.crowds import REUSED, CrowdCounts, FlowCounts
from stream.metrics.gathered import Labels
from stream.metrics.page_windows import far
from stream.metrics.rows import Row, card, duration, nat, rounded_up, share, table, words

_WINDOWS: Final = {
    names.WITHHELD_FEW: "fewer users than k",
    names.WITHHELD_DELTA: "they would have told more than the target",
    names.WITHHELD_DIFFERENCING: "their users differ by fewer than k from those of a released one",
    names.WITHHELD_HOUSEHOLD: "a household had more people than its law",
    names.WITHHELD_PARTIAL: "a partition's part of them was missing",
    names.WITHHELD_MANY: "more users than can be held",
}
_FLOWS: Final = {
    names.WITHHELD_FEW: "no k users in time",
    names.WITHHELD_DIVERSE: "sensitive values too much alike",
    names.WITHHELD_LOSS: "the box would have lost too much",
}
_METHODS: Final = {
    "exact": "exact",
    "sound": "a bound that is never too low",
    "lattice": "by each person's cell: a bound, often 1",
    "none": "no bound is known",
}


def crowds_card(counts: CrowdCounts) -> str:
    rows = [*_windows(counts), *_groups(counts), *_told(counts), *far(counts.progress, metrics.CROWD_PARTS.name)]
    return card("Windows of crowds", f"{table(rows)}{_before(counts)}", wide=True)


def _windows(counts: CrowdCounts) -> Iterator[Row]:
    yield Row("windows released", f"{counts.released:,}", _series(metrics.CROWD_WINDOWS.name, (names.RELEASED, "")))
    if counts.promise.tops_up:
        note = "so that they fit the target"
        yield Row("of them with noise", f"{counts.topped_up:,}", metrics.CROWD_TOPPED_UP.name, note)
    for reason, note in _WINDOWS.items():
        series = _series(metrics.CROWD_WINDOWS.name, (names.WITHHELD, reason))
        yield Row(f"withheld: {reason}", f"{counts.withheld[reason]:,}", series, note)


def _groups(counts: CrowdCounts) -> Iterator[Row]:
    yield Row("users of a released window", _about_half(counts.groups.sizes), note=f"at least {counts.promise.k:,}")
    if counts.promise.release.kind == "records":
        series = _series(metrics.CROWD_CROWDS.name, (names.RELEASED, ""))
        yield Row("crowds in them", f"{counts.crowds:,}", series)
        yield Row("users in no crowd", f"{counts.suppressed:,}", metrics.CROWD_SUPPRESSED.name)
        yield Row("information loss of a window", _loss(counts.losses), note="mean of its crowds, and over windows")


def _told(counts: CrowdCounts) -> Iterator[Row]:
    target = counts.promise.target
    if target is None:
        yield Row("promised", words(f"{counts.promise.k:,} users a crowd, and no more"), note="delta is 1")
        return
    horizon = "one window" if target.horizon == 1 else f"any {target.horizon:,} windows in a row"
    most = words(f"epsilon {nat(target.epsilon)}, delta {rounded_up(target.delta)}")
    yield Row("the most that may be told", most, note=f"of {horizon}, about one person's value")
    total = counts.total()
    if total is not None and target.horizon > 1:
        yield Row("the latest windows together", f"delta {rounded_up(total)}", note=f"of {horizon}")
    if counts.worst is not None:
        yield Row("the worst window so far", f"delta {rounded_up(counts.worst)}", note="before any adversary")


def _before(counts: CrowdCounts) -> str:
    """What the latest window tells each adversary."""
    deltas, epsilons, methods = counts.deltas(), counts.epsilons(), counts.methods()
    if not deltas:
        return ""
    head = (
        '<tr><th scope="col">adversary</th><th scope="col">how it is known</th>'
        '<th scope="col" class="n">delta of the latest window</th><th scope="col" class="n">epsilon</th></tr>'
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(_METHODS[methods[name]])}</td>'
        f'<td class="n">{rounded_up(delta)}</td><td class="n">{nat(epsilons[name])}</td></tr>'
        for name, delta in deltas.items()
    )
    return f"<table class=named>{head}{rows}</table>"


def flows_card(counts: FlowCounts) -> str:
    rows = [*_came_out(counts), *_delays(counts)]
    return card("Crowds of a stream", f"{table(rows)}{_kept_back(counts)}", wide=True)


def _came_out(counts: FlowCounts) -> Iterator[Row]:
    for kind, label, note in (
        (names.RELEASED, "crowds released", f"of at least {counts.promise.k:,} users"),
        (REUSED, "reused", "events in the box of an earlier crowd"),
    ):
        series = _series(metrics.CROWD_CROWDS.name, (kind, ""))
        yield Row(label, f"{counts.crowds[kind, '']:,}", series, note)
    yield Row("merged", f"{counts.merged:,}", metrics.CROWD_MERGED.name, "clusters, for somebody who was due")
    yield Row("users of a crowd", _about_half(counts.groups.sizes), note="for half of them, at most")
    yield Row("information loss of a crowd", _loss(counts.losses), note="mean")
    yield Row(
        "promised", words(f"{counts.promise.k:,} users a crowd, and no more"), note="delta is 1: no bound is known"
    )


def _delays(counts: FlowCounts) -> Iterator[Row]:
    limit = counts.promise.flowing
    yield Row("events that wait", f"{sum(counts.waiting.values()):,}", metrics.CROWD_WAITING.name, "sealed")
    if counts.delays.count:
        half, most = (_edge(counts.delays, part) for part in (0.5, 0.99))
        late = words(f"{half}, {most}")
        yield Row("from an event's coming to its crowd", late, note="for half and for 99 % of events, at most")
    yield Row("the longest delay", words(f"{limit.events:,} events or {duration(limit.time)}"), note="declared")


def _kept_back(counts: FlowCounts) -> str:
    """What came out without a box."""
    head = (
        '<tr><th scope="col">withheld</th><th scope="col" class="n">records</th>'
        '<th scope="col" class="n">events</th></tr>'
    )
    counted = ((metrics.CROWD_CROWDS.name, counts.crowds), (metrics.CROWD_EVENTS.name, counts.events))
    rows = "".join(
        f'<tr><th scope="row">{escape(reason)}<small>{note}</small></th>'
        f"{''.join(_figure(name, (names.WITHHELD, reason), each) for name, each in counted)}</tr>"
        for reason, note in _FLOWS.items()
    )
    return f"<table class=named>{head}{rows}</table>"


def _figure(name: str, kind: tuple[str, str], counted: Mapping[Labels, int]) -> str:
    return f'<td class="n" data-metric="{_series(name, kind)}">{counted[kind]:,}</td>'


def _about_half(sizes: Tally) -> str:
    """The upper edge of the bin with the middle one."""
    if not sizes.count:
        return "none yet"
    middle = next(bucket.upper_edge for bucket in sizes.buckets() if 2 * bucket.cumulative >= sizes.count)
    return f"up to {middle:,.0f}" if middle < math.inf else "more than 200,000"


def _loss(losses: Tally) -> str:
    return share(losses.sum / losses.count) if losses.count else "none yet"


def _edge(delays: Tally, part: float) -> str:
    edge = next(bucket.upper_edge for bucket in delays.buckets() if bucket.cumulative >= part * delays.count)
    return duration(1_000 * math.ceil(edge)) if edge < math.inf else "far beyond the limit"


def _series(name: str, kind: tuple[str, str]) -> str:
    """With its labels in the order of their names, as HTML."""
    outcome, reason = kind
    return escape(f'{name}{{outcome="{outcome}",reason="{reason}"}}')
