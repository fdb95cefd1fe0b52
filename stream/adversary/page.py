"""The same as one page of HTML, with the calibration as a drawing: no script, nothing from outside, nobody's name."""

from __future__ import annotations

from html import escape

from stream.adversary.report import lines, share
from stream.adversary.result import Result
from stream.page_frame import framed

_SIDE = 232  # with its edges no wider than a phone, so that letters are not made smaller
_EDGE = 46
_STYLE = """
h1 { margin-bottom: 1rem; } th, td { padding: .25rem 1rem .25rem 0; border-top: 1px solid var(--line); }
tr:first-child > * { border-top: 0; } th { min-width: 7rem; } td { overflow-wrap: anywhere; }
svg { width: 100%; max-width: 28rem; }
"""


def page_of(result: Result) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in lines(result)
    )
    title = escape(f"Adversary of {result.pipeline}")
    verdict = "under the bound" if result.stays_under_the_bound else "beyond the bound"
    kind = "good" if result.stays_under_the_bound else "bad"
    body = (
        f'<h1>{title}: <span class="{kind}">{verdict}</span></h1><table>{rows}</table>'
        f"<h2>Does it come true as often as it is sure?</h2>{drawing_of(result)}"
    )
    return framed(f"{verdict}: adversary of {result.pipeline}", body, style=_STYLE)


def drawing_of(result: Result) -> str:
    """How sure to the right, how often true upward, each with its 99.9 % interval; the diagonal is honest."""
    if not result.scores.scored:
        return "<p>Not known: no truth was given.</p>"
    marks = "".join(
        f'<line x1="{_x(sure)}" x2="{_x(sure)}" y1="{_y(low)}" y2="{_y(high)}" stroke="var(--bar)"/>'
        f'<circle cx="{_x(sure)}" cy="{_y(true)}" r="4" fill="var(--bar)">'
        f"<title>{share(sure)} sure, {share(true)} of {count:,} true</title></circle>"
        for count, sure, true, (low, high) in result.scores.calibration
    )
    whole = _SIDE + 2 * _EDGE
    frame = f'<rect x="{_EDGE}" y="{_EDGE}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="var(--line)"/>'
    honest = f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="var(--soft)" stroke-dasharray="4 4"/>'
    scale = "".join(
        f'<text x="{_x(at / 4)}" y="{_y(0) + 18}" text-anchor="middle">{25 * at} %</text>'
        f'<text x="{_EDGE - 6}" y="{_y(at / 4) + 4}" text-anchor="end">{25 * at} %</text>'
        for at in range(5)
    )
    names = f'<text x="{_x(0.5)}" y="{whole - 4}" text-anchor="middle">how sure the adversary is</text>'
    names += f'<text x="{_EDGE}" y="{_EDGE - 12}">how often it is right</text>'
    head = f'<svg viewBox="0 0 {whole} {whole}" role="img" aria-label="calibration">'
    return f"{head}{frame}{honest}{scale}{names}{marks}</svg>"


def _x(value: float) -> float:
    return round(_EDGE + _SIDE * value, 2)


def _y(value: float) -> float:
    return round(_EDGE + _SIDE * (1.0 - value), 2)
