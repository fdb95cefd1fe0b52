"""The frame of every HTML page that is written here: one look, light and dark, for phones, too; no script, and nothing
from outside.
"""

from __future__ import annotations

from html import escape
from typing import Final

# Text keeps a contrast of 4.5 on paper, card and box, bars keep 3: tests/pages measures it.
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #525d6b; --line: #d5dbe2; --paper: #f4f6f8; --card: #fff;
  --good: #17683f; --bad: #b3261e; --bar: #3f6fb5; --other: #a8501d; --dot: #8593a3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #a3aebd; --line: #353f4b; --paper: #14181e;
  --card: #1c222a; --good: #4cc38a; --bad: #ff8a80; --bar: #6f9be0; --other: #e08d5c; --dot: #6b7989; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
main { max-width: 66rem; margin: 0 auto; }
h1 { font-size: 1.45rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; }
p, li { color: var(--soft); } strong, b { color: var(--ink); } a { color: var(--bar); }
table { border-collapse: collapse; } th { text-align: left; font-weight: 500; color: var(--soft); }
td, th { vertical-align: top; } th small { display: block; font-weight: 400; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good, b.good { color: var(--good); } .bad, b.bad { color: var(--bad); }
.scroll { overflow-x: auto; } svg { display: block; color: var(--ink); } svg text { fill: var(--ink); font-size: 12px; }
"""


def framed(title: str, body: str, *, style: str = "", head: str = "") -> str:
    """A whole page. `title` is text; the others are HTML and CSS already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{head}<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )
