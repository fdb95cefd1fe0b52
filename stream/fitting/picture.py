"""A picture of a fit: one HTML file that needs nothing else, with drawings as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from beliefs.alphabet import Alphabet
from stream.fitting.report import summary, write_report
from stream.fitting.task import Fitted
from stream.page_frame import framed

Matrix = npt.NDArray[np.float64]

HEAT_MOST: Final = 40
"""More values than that are no picture any more."""
DOTS_MOST: Final = 2000
_STYLE: Final = """
h2 { margin-top: 2rem; } .fluid { width: 100%; max-width: 28rem; } p { margin: 0.2rem 0 0.8rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); padding: 1rem; }
"""


def page(fitted: Fitted, facts: dict[str, Any]) -> str:
    """The whole page of a fit from data."""
    drawings = [
        (
            "How well each order predicts users of whom nothing was learnt",
            "Nats an event, and a standard error; lower is better. The coloured one is chosen; the line knows nothing.",
            _scores(facts),
        )
    ]
    if fitted.model.alphabet.size <= HEAT_MOST:
        drawings.append((*FOLLOWS, heat_map(first_order(fitted), fitted.model.alphabet)))
    drawings.append(
        (
            "How sure each row is",
            "Total variation from the truth that is not exceeded, all rows at once, against how often a row was seen.",
            _radii(facts["radius"]["rows"]),
        )
    )
    title = f"Model {facts['model']} learnt from {facts['source']}"
    learnt = f"{facts['values']:,} values, order {facts['order']}, learnt from {facts['events']:,} events"
    said = [f"{learnt} of {facts['users']:,} users.", *summary(facts)]
    return page_of(title, drawings, write_report(facts, ""), said, facts["warnings"])


FOLLOWS: Final = (
    "What follows what",
    "Each row is the law of the next value after one value; the stronger the colour, the likelier.",
)


def page_of(
    title: str,
    drawings: Sequence[tuple[str, str, str]],
    report: str,
    said: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> str:
    """A page with warnings and what is to be said first, drawings, each under a title and a sentence, and the report in
    words."""
    parts = [f'<p class="bad">WARNING: {escape(warning)}.</p>' for warning in warnings]
    parts += [f"<p>{escape(sentence.strip())}</p>" for sentence in said]
    parts += [_section(*drawing) for drawing in drawings]
    body = "\n".join([f"<h1>{escape(title)}</h1>", *parts, f"<h2>In words</h2>\n<pre>{escape(report)}</pre>"])
    return framed(title, body, style=_STYLE)


def _section(title: str, words: str, drawing: str) -> str:
    return f"<h2>{escape(title)}</h2>\n<p>{escape(words)}</p>\n<div class=scroll>{drawing}</div>"


def _svg(width: float, height: float, parts: Sequence[str], label: str, *, fluid: bool = False) -> str:
    """A fluid one is as wide as a phone, and wider where there is room; another keeps its size."""
    size = 'class="fluid"' if fluid else f'width="{width:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" {size} '
        f'role="img" aria-label="{escape(label)}">\n' + "\n".join(parts) + "\n</svg>"
    )


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _scores(facts: dict[str, Any]) -> str:
    orders, uniform = facts["held_out"]["orders"], facts["held_out"]["uniform"]["nats"]
    left, width, row = 54.0, 132.0, 26.0
    most = max([uniform, *(one["nats"] + one["standard_error"] for one in orders)]) * 1.05 or 1.0
    parts = []
    for place, one in enumerate(orders):
        y, x = place * row + 6, left + width * one["nats"] / most
        error = width * one["standard_error"] / most
        colour = "var(--other)" if one["order"] == facts["order_that_predicts_best"] else "var(--dot)"
        parts += [
            _text(left - 10, y + 14, f"order {one['order']}", "end"),
            f'<rect x="{left}" y="{y:.1f}" width="{x - left:.1f}" height="18" fill="{colour}"/>',
            f'<path d="M{x - error:.1f} {y + 9:.1f}H{x + error:.1f}" stroke="var(--ink)" stroke-width="2"/>',
            _text(left + width + 8, y + 14, f"{one['nats']:.4f}, {one['accuracy']:.1%} right"),
        ]
    bottom, at = len(orders) * row + 6, left + width * uniform / most
    parts.append(
        f'<line x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{bottom:.1f}" stroke="var(--ink)" stroke-dasharray="4 3"/>'
    )
    parts.append(_text(at, bottom + 14, f"uniform {uniform:.4f}", "end"))
    return _svg(left + width + 140, bottom + 22, parts, "held-out score by order", fluid=True)


def heat_map(matrix: Matrix, alphabet: Alphabet) -> str:
    labels = value_labels(alphabet)
    cell, left, top = 22.0, 12.0 + 7.0 * max(len(label) for label in labels), 12.0
    parts = []
    for row, label in enumerate(labels):
        y = top + row * cell
        parts.append(_text(left - 6, y + 15, label, "end"))
        for column, chance in enumerate(matrix[row]):
            told = escape(f"{label} to {labels[column]}: {chance:.4f}")
            parts.append(
                f'<rect x="{left + column * cell:.1f}" y="{y:.1f}" width="{cell - 1:g}" height="{cell - 1:g}" '
                f'fill="var(--bar)" fill-opacity="{_darkness(float(chance)):.3f}"><title>{told}</title></rect>'
            )
    bottom = top + len(labels) * cell + 6
    for column, label in enumerate(labels):
        x = left + column * cell + 15
        parts.append(
            f'<text x="{x:.1f}" y="{bottom:.1f}" text-anchor="end" transform="rotate(-60 {x:.1f} {bottom:.1f})">'
            f"{escape(label)}</text>"
        )
    return _svg(left + len(labels) * cell + 12, bottom + left, parts, "what follows what")


def first_order(fitted: Fitted) -> Matrix:
    """The law after each single value, nothing else being known."""
    symbols = fitted.model.alphabet.size
    matrix = np.zeros((symbols, symbols))
    for value in range(symbols):
        if fitted.learnt.chain is not None:
            following, chances = fitted.learnt.chain.row(value)
        else:
            following, chances = fitted.learnt.laws.get((value,), fitted.learnt.laws[()])
        matrix[value, following] = chances
    return matrix


def value_labels(alphabet: Alphabet) -> list[str]:
    """Long ones are cut; where that makes two alike, all are numbered."""
    texts = [str(alphabet.value_at(value)) for value in range(alphabet.size)]
    labels = [_cut(text) for text in texts]
    if len(set(labels)) == len(labels):
        return labels
    return [_cut(f"{number}. {text}") for number, text in enumerate(texts, 1)]


def _cut(text: str) -> str:
    return text if len(text) <= 16 else text[:15] + "…"


def _darkness(chance: float) -> float:
    """The root keeps small chances apart."""
    return math.sqrt(min(max(chance, 0.0), 1.0))


def _radii(rows: Sequence[dict[str, Any]]) -> str:
    """The points lie on a logarithmic scale of visits; of very many rows, evenly many are drawn. Hover for a name."""
    ordered = sorted(rows, key=lambda row: int(row["visits"]))
    places = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), DOTS_MOST)).astype(np.int64))
    left, top, width, height = 36.0, 30.0, 270.0, 150.0
    powers = max(1, math.ceil(math.log10(ordered[-1]["visits"])))
    parts = [_text(left - 8, 14, "radius", "middle")]
    for tick in range(5):
        y = top + height * (1 - tick / 4)
        parts.append(f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>')
        parts.append(_text(left - 8, y + 4, f"{tick / 4:g}", "end"))
    parts += [
        _text(left + width * power / powers, top + height + 18, _short(10**power), "middle")
        for power in range(powers + 1)
    ]
    for row in (ordered[place] for place in places):
        x, y = left + width * math.log10(row["visits"]) / powers, top + height * (1 - row["radius"])
        told = escape(f"after {row['after']}: {row['visits']:,} visits, radius {row['radius']:.4f}")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="var(--other)" fill-opacity="0.7">'
            f"<title>{told}</title></circle>"
        )
    parts.append(_text(left + width / 2, top + height + 36, "visits", "middle"))
    return _svg(left + width + 20, top + height + 44, parts, "radius of each row", fluid=True)


def _short(number: int) -> str:
    """Of powers of ten: narrow enough to stand side by side however large they are."""
    return f"{number:,}" if number < 10**5 else f"1e{len(str(number)) - 1}"
