"""Rows, amounts and times of the status page, as HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from typing import Final, NamedTuple

from beliefs.rounding import nats
from stream.metrics.bins import Tally

_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_LAST_YEAR: Final = 9999


class Row(NamedTuple):
    """All of it is HTML already. `metric` names the series whose value this is, where it is one."""

    label: str
    value: str
    metric: str = ""
    note: str = ""


def card(title: str, body: str, *, wide: bool = False) -> str:
    return f"<section{' class=wide' if wide else ''}><h2>{title}</h2>{body}</section>"


def table(rows: Iterable[Row]) -> str:
    return f"<table>{''.join(map(_row, rows))}</table>"


def _row(row: Row) -> str:
    note = f"<small>{row.note}</small>" if row.note else ""
    metric = f' data-metric="{row.metric}"' if row.metric else ""
    return f'<tr><th scope="row">{row.label}{note}</th><td class="n"{metric}>{row.value}</td></tr>'


def words(text: str, kind: str = "") -> str:
    """A value that may be broken into lines."""
    return f'<span class="words {kind}">{escape(text)}</span>'


def budget(units: int) -> str:
    amount = nats(units)
    return "none" if math.isinf(amount) else f"{amount:,.6g} nat"


def share(value: float) -> str:
    return "over" if math.isinf(value) else f"{value:.1%}"


def whole_share(value: float) -> str:
    return f"{value:.0%}"


def nat(value: float) -> str:
    return rounded_up(value) + ("" if math.isinf(value) else " nat")


def rounded_up(value: float) -> str:
    """Three digits, rounded up: an upper bound stays one."""
    if math.isinf(value):
        return "infinite"
    scale = 10.0 ** max(0, 2 - math.floor(math.log10(value))) if value > 0 else 1.0
    return f"{math.ceil(value * scale) / scale:,.12g}"


def octave(value: float) -> str:
    """A power of two."""
    return f"{value:,.0f}" if value >= 1 else f"1/{1 / value:,.0f}"


def rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def within(tally: Tally, part: float) -> str:
    """A time that this part of what was counted did not exceed: the upper edge of a bin."""
    for bucket in tally.buckets():
        if bucket.cumulative >= part * tally.count:
            return _seconds(bucket.upper_edge)
    raise AssertionError("the last bucket holds everything")


def _seconds(value: float) -> str:
    if math.isinf(value):
        return "more than 60 s"
    return f"{value:g} s" if value >= 1 else f"{1000 * value:g} ms"


def duration(milliseconds: float) -> str:
    """To the second below an hour, to the minute below a day."""
    left = int(milliseconds)
    parts = [(left // _DAY, "d"), (left % _DAY // _HOUR, "h"), (left % _HOUR // _MINUTE, "min")]
    if left < _HOUR:
        parts.append((left % _MINUTE // _SECOND, "s"))
    return " ".join(f"{amount} {unit}" for amount, unit in parts if amount) or "less than a second"


def moment(milliseconds: int) -> str:
    """Since 1970, in UTC."""
    try:
        return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError):
        return f"after the year {_LAST_YEAR}"
