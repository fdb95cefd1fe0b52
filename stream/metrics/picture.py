"""Pictures of the status page, as inline SVG without a scale of its own: bars are shares of the width that there is, so
letters keep their size on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from stream.metrics.bins import Bucket

_BAR_HEIGHT: Final = 12
_PACE_HEIGHT: Final = 64


def over_users(
    name: str, metric: str, buckets: Sequence[Bucket], what: str, shown: Callable[[float], str], colour: str
) -> str:
    """Users by how much was told about them, a bar for each bucket; empty ones at both ends are left out. `buckets` are
    those of the metric, in which no group is smaller than the floor; its name is HTML already.
    """
    lows = [None, *(bucket.upper_edge for bucket in buckets)]
    counts = [bucket.cumulative - before for bucket, before in zip(buckets, _before(buckets), strict=True)]
    held = [place for place, count in enumerate(counts) if count]
    if not held:
        return ""
    most = max(counts)
    rows = []
    for place in range(held[0], held[-1] + 1):
        low, high, count = lows[place], buckets[place].upper_edge, counts[place]
        bar = f'<rect width="{100 * count / most:.2f}%" height="{_BAR_HEIGHT}" rx="2" fill="var(--{colour})"/>'
        rows.append(
            f'<tr data-le="{high!r}" data-users="{count}"><th scope="row">{_between(low, high, shown)}</th>'
            f'<td class="picture"><svg width="100%" height="{_BAR_HEIGHT}" aria-hidden="true">{bar}</svg></td>'
            f'<td class="n">{count:,}</td></tr>'
        )
    return (
        f'<table class="bars" data-histogram="{metric}"><caption>{escape(name)}</caption>'
        f'<tr><th scope="col">{what}</th><td></td><th scope="col" class="n">users</th></tr>{"".join(rows)}</table>'
    )


def pace(counts: Sequence[int], seconds: int) -> str:
    """Events of equal stretches of time, the latest at the right; that one is not over yet, and paler."""
    most, wide = max(*counts, 1), 100 / len(counts)
    bars = []
    for place, count in enumerate(counts):
        high = math.ceil((_PACE_HEIGHT - 2) * count / most)
        paler = ' opacity="0.5"' if place == len(counts) - 1 else ""
        bars.append(
            f'<rect x="{wide * place:.2f}%" y="{_PACE_HEIGHT - high}" width="{0.8 * wide:.2f}%" height="{high}" '
            f'fill="var(--bar)"{paler}/>'
        )
    ground = f'<rect y="{_PACE_HEIGHT - 1}" width="100%" height="1" fill="var(--dot)"/>'
    told = f"events in each {seconds} s of the last {seconds * len(counts) // 60} minutes"
    highest = f"; the highest bar is {most / seconds:,.3g} a second" if any(counts) else "; none so far"
    return (
        f'<figure><svg width="100%" height="{_PACE_HEIGHT}" role="img" aria-label="{told}">{ground}{"".join(bars)}'
        f"</svg><figcaption>{told}{highest}</figcaption></figure>"
    )


def _before(buckets: Sequence[Bucket]) -> list[int]:
    return [0, *(bucket.cumulative for bucket in buckets[:-1])]


def _between(low: float | None, high: float, shown: Callable[[float], str]) -> str:
    if low is None:
        return "nothing" if high == 0 else f"below {shown(high)}"
    return f"over {shown(low)}" if math.isinf(high) else f"{shown(low)} to {shown(high)}"
