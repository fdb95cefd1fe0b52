"""A plan as one HTML file that needs nothing else: drawings as inline SVG, light and dark, for phones, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from stream.page_frame import framed
from stream.planning.points import Point
from stream.planning.words import HEADS, NOTES, Plan, cells, name_of, sorted_points, verdict

# No wider than a phone, so that letters are not made smaller there; side by side where there is room.
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 326.0, 240.0, 46.0, 40.0, 26.0
_STYLE: Final = """
h2 { margin-top: 1.6rem; } svg { width: 100%; max-width: 30rem; }
.drawings { display: grid; gap: 0 2rem; grid-template-columns: repeat(auto-fit, minmax(min(25rem, 100%), 1fr)); }
.grid { stroke: var(--line); }
.dot { fill: var(--dot); stroke: var(--dot); } .best { fill: var(--bar); stroke: var(--bar); }
.chosen { fill: var(--other); stroke: var(--other); }
table { font-size: 13px; white-space: nowrap; }
th, td { padding: 0.2rem 0.7rem 0.2rem 0; border-bottom: 1px solid var(--line); }
tr.chosen-row td { font-weight: 600; background: var(--card); }
"""
_LEGEND: Final = (
    "Each point is a way to run: coloured where no other beats it, largest and of a colour of its own where it is "
    "chosen, grey otherwise. Upright lines are intervals of 95 %; what has none is exact, or its interval is hidden by "
    "the point."
)


def page(plan: Plan) -> str:
    """The whole page."""
    title = f"Plan for model {plan.model}"
    words = "\n".join(f"<p><strong>{escape(line)}</strong></p>" for line in verdict(plan))
    notes = "\n".join(f"<li>{escape(note)}</li>" for note in NOTES)
    body = (
        f"<h1>{escape(title)}</h1>\n"
        f"<p>{plan.values} values, {plan.per_day} events a day, {len(plan.points)} ways tried.</p>\n{words}\n"
        f"{_drawings(plan)}\n<h2>The points that no other beats</h2>\n{_table(plan, plan.best)}\n"
        f"<ul>\n{notes}\n</ul>\n<h2>All points</h2>\n{_table(plan, plan.points)}"
    )
    return framed(title, body, style=_STYLE)


def _drawings(plan: Plan) -> str:
    axes: list[tuple[str, Callable[[Point], float]]] = [
        ("promised worst, nats a day", lambda point: point.worst_per_day),
        ("mean leakage, nats a day", lambda point: point.mean_per_day),
        ("mean delay, minutes", lambda point: point.delay_ms / 60_000),
        ("cost, microseconds an event, measured in this run", lambda point: point.cost_us),
    ]
    parts = []
    for name, of in axes:
        parts.append(f"<div><h2>What is kept against {escape(name)}</h2>\n{plot(plan, name, of)}</div>")
    return f'<p>{_LEGEND}</p>\n<div class="drawings">' + "\n".join(parts) + "</div>"


def plot(plan: Plan, name: str, of: Callable[[Point], float]) -> str:
    """Every point, with its interval where it was simulated. Hover for its name."""
    kept, error = _kept_of(plan)
    points = [point for point in plan.points if math.isfinite(of(point)) and math.isfinite(kept(point))]
    across, up = _scale([of(point) for point in points]), _scale([kept(point) for point in points])
    parts = [_axis(across, up, name, "mean distance" if plan.by_distance else "agreement")]
    best = set(map(id, plan.best))
    for point in sorted(points, key=lambda point: (point is plan.chosen, id(point) in best)):
        kind, radius = ("chosen", 5.0) if point is plan.chosen else ("best", 3.5) if id(point) in best else ("dot", 2.5)
        x, y = _x(across, of(point)), _y(up, kept(point))
        ends = [_y(up, min(max(kept(point) + off, up[0]), up[1])) for off in (-error(point), error(point))]
        told = f"{name_of(point)}: {kept(point):.4g} +- {error(point):.2g} kept, {of(point):.4g} {name}"
        if error(point) > 0:
            parts.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>')
        parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"><title>{escape(told)}</title></circle>'
        )
    body = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'aria-label="{escape(f"what is kept against {name}")}">'
        f"\n{body}\n</svg>"
    )


def _kept_of(plan: Plan) -> tuple[Callable[[Point], float], Callable[[Point], float]]:
    """What is kept, and by how much that may be off."""
    if plan.by_distance:
        return lambda point: math.inf if point.distance is None else point.distance, lambda point: point.distance_error
    return lambda point: point.agreement, lambda point: point.agreement_error


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """From where to where an axis goes: four steps of a round length hold all values, from 0 unless they are close to
    one another, but not the same.
    """
    low, high = min(values, default=0.0), max(values, default=1.0)
    low = 0.0 if low < 0.6 * high or high - low < 0.01 * high else low
    step = 10.0 ** math.floor(math.log10(high - low or 1.0)) / 10
    for longer in (1, 2, 2.5, 5, 10, 20, 25, 50, 100):
        start = math.floor(low / (longer * step)) * longer * step
        if start + 4 * longer * step >= high:
            return start, start + 4 * longer * step
    raise AssertionError("four steps of ten times the range hold it")


def _x(scale: tuple[float, float], value: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - 16) * (value - scale[0]) / (scale[1] - scale[0])


def _y(scale: tuple[float, float], value: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * (value - scale[0]) / (scale[1] - scale[0])


def _axis(across: tuple[float, float], up: tuple[float, float], name: str, kept: str) -> str:
    parts = []
    for step in range(5):
        share = step / 4
        value, below = up[0] + share * (up[1] - up[0]), across[0] + share * (across[1] - across[0])
        x, y = _x(across, below), _y(up, value)
        parts += [
            f'<line class="grid" x1="{_LEFT:g}" x2="{_WIDTH - 16:g}" y1="{y:.1f}" y2="{y:.1f}"/>',
            f'<text x="{_LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>',
            f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16:g}" text-anchor="middle">{below:.3g}</text>',
        ]
    parts.append(f'<text x="{_WIDTH / 2:g}" y="{_HEIGHT - 5:g}" text-anchor="middle">{escape(name)}</text>')
    parts.append(f'<text x="{_LEFT - 40:g}" y="12">{escape(kept)}</text>')
    return "\n".join(parts)


def _table(plan: Plan, points: Sequence[Point]) -> str:
    best = set(map(id, plan.best))
    rows = []
    for point in sorted_points(points):
        kind = ' class="chosen-row"' if point is plan.chosen else ""
        body = "".join(f"<td>{escape(cell)}</td>" for cell in cells(plan, point, best))
        rows.append(f"<tr{kind}>{body}</tr>")
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in HEADS)
    return f'<div class="scroll"><table>\n<tr>{heads}</tr>\n' + "\n".join(rows) + "\n</table></div>"
