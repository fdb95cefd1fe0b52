"""The part of the status page that speaks of the fields that are protected each by itself."""

from __future__ import annotations

from html import escape

from beliefs.rounding import INFINITE, nats
from stream.fields.gate import CHOICE_NAMES
from stream.metrics.fields import FIELD_REPORTS, FieldCounts
from stream.metrics.rows import card, rounded_up
from stream.metrics.table import USERS_TRACKED

_HEAD = (
    '<tr><th scope="col">field</th><th scope="col" class="n">half</th><th scope="col" class="n">99 %</th>'
    '<th scope="col" class="n">most</th><th scope="col" class="n">cap</th></tr>'
)
_SHOWN = ("0.5", "0.99", "1")


def fields_card(counts: FieldCounts | None, tracked: int) -> str:
    """Nothing where no such field is declared."""
    if counts is None:
        return ""
    stands, lines = counts.stands(), []
    for name, cap in counts.caps().items():
        shown = ["–" if stands is None else rounded_up(nats(stands.totals[name, quantile])) for quantile in _SHOWN]
        cells = "".join(f'<td class="n">{amount}</td>' for amount in shown)
        lines.append(
            f'<tr><th scope="row">{escape(name)}{_made(counts, name)}</th>{cells}<td class="n">{_cap(cap)}</td></tr>'
        )
    said = (
        f'<p>Of <span data-metric="{USERS_TRACKED.name}">{tracked:,}</span> users, in nats: what its own reports '
        "and all other fields tell of it, for half of the users at most, for 99 %, and for any; in the window that a "
        "user has reached. Nothing is shown of fewer users than the floor.</p>"
    )
    return card("Fields", f"<table class=named>{_HEAD}{''.join(lines)}</table>{said}", wide=True)


def _made(counts: FieldCounts, name: str) -> str:
    """What became of the field in the events so far."""
    made = zip(CHOICE_NAMES, counts.choices.get(name, ()), strict=False)
    shown = [
        f'{choice} <span data-metric="{_series(FIELD_REPORTS.name, name, "choice", choice)}">{count:,}</span>'
        for choice, count in made
        if count
    ]
    return f"<small>{', '.join(shown)}</small>" if shown else ""


def _cap(units: int) -> str:
    return "none" if units >= INFINITE else rounded_up(nats(units))


def _series(metric: str, field: str, label: str, value: str) -> str:
    """A series with its labels in the order of their names, as HTML."""
    labels = sorted([("field", field), (label, value)])
    return escape(metric + "{" + ",".join(f'{name}="{text}"' for name, text in labels) + "}")
