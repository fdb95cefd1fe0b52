"""What was found: numbers, claims with their verdicts, and how they are written down."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final

HOLDS: Final = "holds"
FAILS: Final = "fails"
ONLY_WHEN: Final = "holds only when"

Cell = str | float | int
_NUMBERED: Final = (("found", "Found"), ("reason", "Why"))


@dataclass(frozen=True)
class Claim:
    """What the paper says, what comes out here, and why. `reason` goes on from the verdict `holds only when`."""

    name: str
    claim: str
    verdict: str
    found: str
    reason: str


@dataclass(frozen=True)
class Numbers:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Section:
    """One figure or table of the paper."""

    name: str
    title: str
    setting: str
    claims: Sequence[Claim] = ()
    tables: Sequence[Numbers] = ()
    pictures: Sequence[str] = field(default=())


def verdict_of(cases: Iterable[bool]) -> str:
    """All cases, none, or some."""
    seen = list(cases)
    return HOLDS if all(seen) else ONLY_WHEN if any(seen) else FAILS


def shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return str(cell)


def where(cases: Sequence[tuple[float, bool]], name: str = "epsilon") -> str:
    """At which of the values that were looked at something is so."""
    right = [f"{value:g}" for value, so in cases if so]
    return f"at {name} {', '.join(right)} of {', '.join(f'{value:g}' for value, _ in cases)}" if right else "nowhere"


def write_all(folder: Path, title: str, opening: str, sections: Sequence[Section]) -> None:
    (folder / "findings.md").write_text(as_markdown(title, opening, sections), encoding="utf-8")
    (folder / "findings.html").write_text(as_html(title, opening, sections), encoding="utf-8")
    document = {"title": title, "opening": opening, "sections": [as_document(section) for section in sections]}
    (folder / "findings.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def as_document(section: Section) -> dict[str, object]:
    return {
        "name": section.name,
        "title": section.title,
        "setting": section.setting,
        "pictures": list(section.pictures),
        "claims": [vars(claim) for claim in section.claims],
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [[_plain(c) for c in row] for row in table.rows],
            }
            for table in section.tables
        ],
    }


def _plain(cell: Cell) -> Cell:
    """JSON has no infinity."""
    return str(cell) if isinstance(cell, float) and not math.isfinite(cell) else cell


def as_markdown(title: str, opening: str, sections: Sequence[Section]) -> str:
    lines = [f"# {title}", "", opening, "", *_summary(sections)]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.setting, ""]
        lines += [f"![{section.title}]({picture})" for picture in section.pictures]
        for claim in section.claims:
            lines += ["", f"### {claim.verdict}: {claim.name}", "", f"- Claim: {claim.claim}"]
            lines += [f"- {name}: {getattr(claim, key)}" for key, name in _NUMBERED]
        for table in section.tables:
            lines += ["", f"**{table.title}**", "", _row(table.columns), _row(["---"] * len(table.columns))]
            lines += [_row([shown(cell) for cell in row]) for row in table.rows]
    return "\n".join(lines) + "\n"


def _summary(sections: Sequence[Section]) -> list[str]:
    lines = [_row(["where", "claim", "verdict"]), _row(["---"] * 3)]
    return lines + [_row([section.name, claim.name, claim.verdict]) for section in sections for claim in section.claims]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_STYLE: Final = """body{font:15px/1.5 sans-serif;max-width:1080px;margin:2em auto;padding:0 1em}
img{max-width:100%;border:1px solid #ddd}table{border-collapse:collapse;font-size:13px;margin:1em 0}
td,th{border:1px solid #ccc;padding:2px 8px;text-align:right}td:first-child,th:first-child{text-align:left}
.claim{border-left:4px solid;padding:.2em 1em;margin:1em 0}.holds{border-color:#3a7d44}.fails{border-color:#c8553d}
.only{border-color:#b58900}details{margin:.6em 0}"""
_CLASSES: Final = {HOLDS: "holds", FAILS: "fails", ONLY_WHEN: "only"}


def as_html(title: str, opening: str, sections: Sequence[Section]) -> str:
    parts = [
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1><p>{escape(opening)}</p>",
    ]
    for section in sections:
        parts.append(f"<h2 id='{section.name}'>{escape(section.title)}</h2><p>{escape(section.setting)}</p>")
        parts += [f"<p><img src='{escape(name)}' alt='{escape(section.title)}'></p>" for name in section.pictures]
        parts += [_claim_html(claim) for claim in section.claims]
        parts += [_table_html(table) for table in section.tables]
    return "\n".join(parts) + "\n</html>\n"


def _claim_html(claim: Claim) -> str:
    told = "".join(f"<br><i>{name}:</i> {escape(getattr(claim, key))}" for key, name in _NUMBERED)
    return (
        f"<div class='claim {_CLASSES[claim.verdict]}'><b>{escape(claim.name)}: {escape(claim.verdict)}</b>"
        f"<br><i>Claim:</i> {escape(claim.claim)}{told}</div>"
    )


def _table_html(table: Numbers) -> str:
    heads = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(shown(c))}</td>" for c in row) + "</tr>" for row in table.rows)
    return f"<details open><summary>{escape(table.title)}</summary><table><tr>{heads}</tr>{rows}</table></details>"
