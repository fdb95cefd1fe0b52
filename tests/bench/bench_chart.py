"""Lines over two logarithmic axes, as SVG that any browser shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 760, 470
LEFT, RIGHT, TOP, BOTTOM = 70, 250, 40, 50
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8f5aa8", "#b58900", "#444444", "#0aa1a1", "#d81b60", "#7a5230", "#8bc34a")

Points = Sequence[tuple[float, float]]


def write_chart(path: Path, title: str, across: str, up: str, lines: Mapping[str, Points]) -> None:
    points = [point for line in lines.values() for point in line]
    x_low, x_high = _decades([x for x, _ in points])
    y_low, y_high = _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        right = (math.log10(x) - x_low) / (x_high - x_low)
        above = (math.log10(y) - y_low) / (y_high - y_low)
        return LEFT + right * width, HEIGHT - BOTTOM - above * height

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="15">{escape(title)}</text>',
    ]
    for decade in range(x_low, x_high + 1):
        x, bottom = place(10.0**decade, 10.0**y_low)
        parts += [_grid(x, bottom, x, TOP), _label(x, bottom + 18, f"{10.0**decade:g}", "middle")]
    for decade in range(y_low, y_high + 1):
        left, y = place(10.0**x_low, 10.0**decade)
        parts += [_grid(left, y, WIDTH - RIGHT, y), _label(left - 8, y + 4, f"{10.0**decade:g}", "end")]
    parts.append(_label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, across, "middle"))
    parts.append(_label(8, TOP - 6, up, "start"))
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        drawn = [place(x, y) for x, y in line]
        track = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f'<polyline points="{track}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in drawn]
        row = TOP + 18 * number
        parts.append(f'<rect x="{WIDTH - RIGHT + 16}" y="{row}" width="12" height="12" fill="{colour}"/>')
        parts.append(_label(WIDTH - RIGHT + 34, row + 10, name, "start"))
    path.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
