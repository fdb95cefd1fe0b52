"""The status page: one plain HTML page for people, without scripts, outside assets or anything about one user."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final

from beliefs.rounding import nats
from stream.metrics.families import number
from stream.metrics.learning import learning_card
from stream.metrics.meter import Meter, MeterSettings
from stream.metrics.standing import PERCENTILES, Distribution, Standing, standing
from stream.names import DEAD_LETTERED, FORECAST, RELEASED, REPLAYED, SUPPRESSED

REFRESH_SECONDS: Final = 5

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #f6f7f9; --card: #fff;
  --good: #1a7f4b; --bad: #b3261e; --bar: #3f6fb5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #98a3b3; --line: #323b47; --paper: #14181e;
  --card: #1c222a; --good: #4cc38a; --bad: #ff8a80; --bar: #6f9be0; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1.25rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; display: grid; gap: 1rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(27rem, 100%), 1fr)); }
header, footer, .wide { grid-column: 1 / -1; }
h1 { font-size: 1.45rem; margin: 0; } h2 { font-size: 1rem; margin: 0 0 .6rem; }
p { margin: .25rem 0 0; color: var(--soft); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.15rem;
  overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 500; color: var(--soft); }
th, td { padding: .28rem .9rem .28rem 0; border-top: 1px solid var(--line); vertical-align: top; }
tr:first-child > * { border-top: 0; } td:last-child, th:last-child { padding-right: 0; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.n { white-space: normal; } a { color: var(--bar); }
.good { color: var(--good); } .bad { color: var(--bad); }
.bar { display: block; height: .5rem; border-radius: .25rem; background: var(--line); margin-top: .3rem; }
.bar i { display: block; height: 100%; border-radius: .25rem; background: var(--bar); }
.stack { display: grid; gap: 1rem; }
th small { display: block; font-weight: 400; }
"""
_ACCOUNTS: Final = (
    ("exact", "latest releases, about the whole sequence, exactly"),
    ("single_value", "the same, about the worst single value"),
    ("counters", "the same, as the counters add it up"),
)
_OUTCOMES: Final = (
    (RELEASED, "released", "a perturbed value went out"),
    (FORECAST, "forecast", "a value that tells nothing went out instead"),
    (SUPPRESSED, "suppressed", "nothing went out"),
    (DEAD_LETTERED, "dead letters", "unreadable; the reason went to the dead-letter topic"),
    (REPLAYED, "replayed", "had been carried out before and was skipped"),
)


def status_page(meter: Meter) -> str:
    settings = meter.settings
    now = standing(meter)
    title = escape(f"{settings.pipeline} · Sottovoce")
    side = f'<div class="stack">{_policy(settings)}{_users(now, settings)}</div>'
    cards = "".join(
        (_events(meter), side, _leakage(now), _model(now), learning_card(meter.learners), _partitions(meter))
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="refresh" content="{REFRESH_SECONDS}"><title>{title}</title><style>{_STYLE}</style></head>'
        f"<body><main>{_header(meter)}{cards}"
        f"<footer><p>Since this worker started; this page renews itself every {REFRESH_SECONDS} s. "
        f"Counts of fewer than {settings.small_count_floor} users are shown as 0. Machines read "
        '<a href="/metrics">/metrics</a>, <a href="/livez">/livez</a> and <a href="/readyz">/readyz</a>.</p></footer>'
        "</main></body></html>"
    )


def _header(meter: Meter) -> str:
    reasons = meter.progress.not_ready()
    state = '<span class="good">ready</span>' if not reasons else '<span class="bad">not ready</span>'
    lines = "".join(f"<p>{escape(reason)}</p>" for reason in reasons)
    return f"<header><h1>{escape(meter.settings.pipeline)} · {state}</h1>{lines}</header>"


def _events(meter: Meter) -> str:
    total = sum(meter.outcomes.values())
    rows = [(f"{label}<small>{note}</small>", f"{meter.outcomes[name]:,}") for name, label, note in _OUTCOMES]
    if meter.near_cut_short:
        rows.append(("cut short<small>near's search came to its limit first</small>", f"{meter.near_cut_short:,}"))
    if meter.settings.windows or meter.waiting_events():
        rows.append(("waiting<small>for their window's end</small>", f"{meter.waiting_events():,}"))
    return f"<section><h2>Events</h2>{_table([('carried out', f'<b>{total:,}</b>'), *rows])}</section>"


def _policy(settings: MeterSettings) -> str:
    rows = (
        ("mechanism", escape(settings.mechanism)),
        ("epsilon", f"{number(nats(settings.epsilon))} nat {'a window' if settings.windows else 'an event'}"),
        ("budget, upper / lower", f"{_budget(settings.upper_budget)} / {_budget(settings.lower_budget)}"),
        ("policy", escape(settings.policy)),
        ("model", escape(settings.model)),
        ("version", escape(settings.version)),
    )
    return f"<section><h2>Policy</h2>{_table(rows)}</section>"


def _users(now: Standing, settings: MeterSettings) -> str:
    rows = [("tracked", f"{now.tracked:,}")]
    if now.spent is not None:
        rows.append((f"who spent at least {settings.near_share:.0%} of their budget", f"{now.near:,}"))
        rows.append(("with less left than one release takes", f"{now.at_budget:,}"))
    rows.append(("stopped", f"{now.stopped:,}"))
    return f"<section><h2>Users</h2>{_table(rows)}</section>"


def _leakage(now: Standing) -> str:
    kinds = [("spent share of the budget", now.spent, _share)] if now.spent is not None else []
    kinds += [(f"lifetime leakage, {side}", now.lifetime[side], _nats) for side in now.lifetime]
    head = "".join(f'<th class="n">{name}% of users</th>' for name, _ in PERCENTILES)
    rows = "".join(
        f"<tr><th>{label}</th>{''.join(_cells(distribution, shown))}</tr>" for label, distribution, shown in kinds
    )
    return (
        '<section class="wide"><h2>Leakage so far</h2>'
        f'<table><tr><th>at most this much, for</th>{head}<th class="n">every user</th></tr>{rows}</table>'
        "<p>The budget is the one of the window of a user's latest event.</p></section>"
    )


def _model(now: Standing) -> str:
    """Whether the model looks right, and what users' latest releases tell exactly; nothing where neither is known."""
    rows = []
    if now.monitor is not None:
        rows.append(("releases that the model was tested with", f"{now.monitor.releases:,}"))
        rows.append(
            ("evidence against the model, at most<small>1,000 is an alarm</small>", f"{now.monitor.evidence:,.3g}")
        )
    if now.accounts is not None:
        for name, label in _ACCOUNTS:
            middle, most = (_nats(now.accounts.quantiles[name][place]) for place in ("0.5", "1"))
            rows.append(
                (f"{label}<small>middle and largest of {now.accounts.users:,} users</small>", f"{middle}, {most}")
            )
    return f'<section class="wide"><h2>Model and exact accounts</h2>{_table(rows)}</section>' if rows else ""


def _cells(distribution: Distribution, shown: Callable[[float], str]) -> Iterable[str]:
    values: Sequence[float | None] = [distribution.percentiles.get(name) for name, _ in PERCENTILES]
    for value in (*values, distribution.maximum):
        yield f'<td class="n">{"not shown" if value is None else shown(value)}</td>'


def _partitions(meter: Meter) -> str:
    states = sorted(meter.progress.partitions.items())
    if not states:
        return '<section class="wide"><h2>Partitions</h2><p>none assigned</p></section>'
    rows = "".join(
        f'<tr><td>{partition}</td><td class="n">{state.lag_records:,}</td>'
        f"<td>{'serving' if state.recovered else _recovery(state.recovered_ratio)}</td></tr>"
        for partition, state in states
    )
    return (
        '<section class="wide"><h2>Partitions</h2><table><tr><th>partition</th><th class="n">records waiting</th>'
        f"<th>state</th></tr>{rows}</table></section>"
    )


def _recovery(ratio: float) -> str:
    return f'recovering, {ratio:.0%}<span class="bar"><i style="width:{ratio:.0%}"></i></span>'


def _table(rows: Iterable[tuple[str, str]]) -> str:
    """Rows are HTML already."""
    return (
        "<table>" + "".join(f'<tr><th>{name}</th><td class="n">{value}</td></tr>' for name, value in rows) + "</table>"
    )


def _budget(units: int) -> str:
    amount = nats(units)
    return "none" if math.isinf(amount) else f"{number(amount)} nat"


def _share(value: float) -> str:
    return "over" if math.isinf(value) else f"{value:.1%}"


def _nats(value: float) -> str:
    """Three digits, rounded up: an upper bound stays one."""
    if math.isinf(value):
        return "infinite"
    scale = 10.0 ** max(0, 2 - math.floor(math.log10(value))) if value > 0 else 1.0
    return f"{math.ceil(value * scale) / scale:,.12g} nat"
