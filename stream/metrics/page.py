"""The status page: one plain HTML page for people, without scripts, outside assets or anything about one user."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final
from urllib.parse import quote

from stream.metrics.learning import learning_card
from stream.metrics.meter import Meter
from stream.metrics.page_budgets import budgets
from stream.metrics.page_fields import fields_card
from stream.metrics.page_gathered import gathered_card
from stream.metrics.page_health import DOUBTFUL_FROM, model_card
from stream.metrics.page_parts import leakage, outcomes, partitions, policy, promise, throughput
from stream.metrics.standing import Standing, standing
from stream.page_frame import framed
from stream.protocol.limits import wall_clock_ms

REFRESH_SECONDS: Final = 5
_REASONS_MOST: Final = 4

_STYLE: Final = """
main { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(27rem, 100%), 1fr)); }
header, footer, .wide { grid-column: 1 / -1; } header p { margin: .25rem 0 0; }
header .state { font-size: 1.1rem; font-weight: 600; }
.stack { display: grid; gap: 1rem; min-width: 0; grid-template-rows: auto 1fr; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.15rem;
  overflow-x: auto; min-width: 0; }
h2 { margin: 0 0 .6rem; } h3 { font-size: .95rem; margin: 1rem 0 .2rem; } ul { margin: 0; padding-left: 1.1rem; }
p, figcaption, caption { color: var(--soft); margin: .4rem 0 0; font-size: .9rem; }
table { width: 100%; } section > table:not(:first-of-type), .pictures + table, p + table { margin-top: .9rem; }
th, td { padding: .28rem .7rem .28rem 0; border-top: 1px solid var(--line); }
tr:first-child > * { border-top: 0; } td:last-child, th:last-child { padding-right: 0; } th.n { white-space: normal; }
.words { white-space: normal; display: inline-block; min-width: min(9rem, 28vw);
  overflow-wrap: anywhere; text-align: right; }
tr > th[scope=row] { min-width: 6.5rem; }
.named th[scope=row] { overflow-wrap: anywhere; min-width: 4.5rem; } .bars tr > th[scope=row] { min-width: 0; }
td small { display: block; color: var(--soft); }
figure { margin: .8rem 0 0; } caption { text-align: left; margin: 0; padding-bottom: .2rem; }
.pictures { display: grid; gap: 1rem 2rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }
.bars th, .bars td { border-top: 0; padding-block: .1rem; white-space: nowrap; vertical-align: middle; }
.bars .picture { width: 100%; } .bar { display: block; height: .5rem; border-radius: .25rem; margin-top: .3rem;
  background: var(--line); } .bar i { display: block; height: 100%; border-radius: .25rem; background: var(--bar); }
"""
_ICON: Final = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='{}'/></svg>"


def status_page(meter: Meter, stalled_after_seconds: float = 60.0, now_ms: int | None = None) -> str:
    """`now_ms` is the wall clock, which says when a budget window ends."""
    now = standing(meter)
    state, reasons = _state(meter, now, stalled_after_seconds)
    good = not reasons
    body = "".join(
        (
            _header(meter, state, reasons),
            throughput(meter),
            outcomes(meter),
            fields_card(meter.fields, now.tracked),
            gathered_card(meter.gathered),
            _followed(meter, now, wall_clock_ms() if now_ms is None else now_ms),
            learning_card(meter.learners),
            promise(meter.settings),
            partitions(meter),
            _footer(meter),
        )
    )
    icon = quote(_ICON.format("#1a7f4b" if good else "#c2372e"))
    head = (
        f'<meta http-equiv="refresh" content="{REFRESH_SECONDS}">\n<link rel="icon" href="data:image/svg+xml,{icon}">\n'
    )
    return framed(f"{state} · {meter.settings.pipeline} · Sottovoce", body, style=_STYLE, head=head)


def _followed(meter: Meter, now: Standing, now_ms: int) -> str:
    """What there is to say of the field whose values follow one another."""
    if not meter.settings.follows:
        return ""
    stack = f'<div class="stack">{model_card(meter, now)}{policy(meter.settings)}</div>'
    return leakage(meter, now) + budgets(meter, now, now_ms) + stack


def _state(meter: Meter, now: Standing, stalled_after_seconds: float) -> tuple[str, list[str]]:
    """In a few words, and why it is not simply ready."""
    if reasons := meter.progress.not_ready():
        return "not ready", reasons
    stalls = [stall for stall in meter.progress.stalls() if stall.seconds > stalled_after_seconds]
    if stalls:
        return "standing still", [
            f"{stall.where} has had {stall.lag_records:,} records waiting and no commit for {stall.seconds:,.0f} s"
            for stall in stalls
        ]
    if now.monitor is not None and now.monitor.evidence >= DOUBTFUL_FROM:
        return "ready, model doubtful", ["the releases do not look like the model's: see below"]
    return "ready", []


def _first(reasons: Sequence[str]) -> list[str]:
    more = len(reasons) - _REASONS_MOST
    return [*reasons] if more <= 0 else [*reasons[:_REASONS_MOST], f"and {more:,} more of the kind"]


def _header(meter: Meter, state: str, reasons: Sequence[str]) -> str:
    lines = "".join(f"<p>{escape(reason)}</p>" for reason in _first(reasons))
    kind = "bad" if reasons else "good"
    return f'<header><h1>{escape(meter.settings.pipeline)}</h1><p class="state {kind}">{state}</p>{lines}</header>'


def _footer(meter: Meter) -> str:
    settings = meter.settings
    restarts = f", started again {settings.restarts:,} times" if settings.restarts else ""
    return (
        f"<footer><p>Sottovoce {escape(settings.version)}{restarts}. All of it is of this worker alone, since it "
        f"started; the page renews itself every {REFRESH_SECONDS} s. Nothing here is about one user: counts of fewer "
        f"than {settings.small_count_floor:,} users are shown as 0, and smaller groups with one that leaked more. "
        'Machines read <a href="/metrics">/metrics</a>, <a href="/livez">/livez</a> and '
        '<a href="/readyz">/readyz</a>.</p></footer>'
    )
