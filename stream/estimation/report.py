"""Estimates for people on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Console
from rich.table import Table as Shown

from stream.estimation.reading import WORDS
from stream.estimation.results import FieldResult, Table, WindowResult, text_of

ROWS_SHOWN: Final = 20
TITLES: Final = {
    "frequency": "shares",
    "groups": "shares of groups",
    "mean": "mean",
    "size": "values in a list, mean",
    "joint": "joint table",
    "where_told": "shares among the releases whose channel tells of the value, which is no share of all",
    "posterior": "shares, if users follow the model in use",
    "posterior_mean": "mean, if users follow the model in use",
    "transitions": "what follows a value, from pairs of releases",
    "chain": "what follows a value, if users follow one chain, learnt from these releases",
    "learnt": "shares, if users follow that chain",
}
_SIGNS: Final = {"0": "", "1": " at half", "2": " at a quarter", "3": " at an eighth of epsilon", "c": " of groups"}


def tell(result: WindowResult, console: Console) -> None:
    state = "" if result.complete else " (as it stands: more may come)"
    console.rule(f"{_when(result.start)} to {_when(result.end)}{state}", align="left", characters="-")
    for one in result.fields:
        console.print(f"{one.name}: {facts_of(one)}", highlight=False, markup=False, style="bold")
        for note in one.notes:
            console.print(f"  not told: {note}", highlight=False, markup=False)
        for name, table in one.tables.items():
            console.print(f"  {TITLES[name]}", highlight=False)
            console.print(_shown(table, result.confidence))


def tell_passed_over(counts: Mapping[str, int], console: Console) -> None:
    for reason, count in counts.items():
        if count:
            console.print(f"{count:,} records {WORDS[reason]}", highlight=False)


def facts_of(one: FieldResult) -> str:
    if one.too_few:
        return "too few users to be told of"
    if one.why_nothing:
        return f"nothing can be estimated: {one.why_nothing}"
    facts = one.facts
    parts = [f"{one.reports:,} {'reports' if 'levels' in facts or ',' in one.name else 'releases'}"]
    levels = {sign: count for sign, count in facts.get("levels", {}).items() if sign != "0" and count}
    parts += [f"{count:,}{_SIGNS[sign]}" for sign, count in levels.items()]
    said = {"withheld": "withheld", "wrong": "that are no reports", "forecasts": "forecasts, which tell nothing"}
    said |= {"not_followed": "that cannot be followed", "waiting": "whose window of values has not come to its end"}
    parts += [f"{facts[name]:,} {words}" for name, words in said.items() if facts.get(name)]
    if facts.get("levels_apart") is not None and facts["levels_apart"] < 0.001:
        parts.append("levels differ by more than chance: use --pool shares")
    return "; ".join([*parts, *([f"chain {facts['chain']}"] if "chain" in facts else [])])


def _shown(table: Table, confidence: float) -> Shown:
    shown = Shown(box=None, pad_edge=True)
    names = [name for name in ("value", "other") if name in table.columns]
    numbers = [name for name in ("estimate", "low", "high", "projected", "told") if name in table.columns]
    heads = {"low": f"{100 * confidence:g} % from", "high": "to", "projected": "nearest law", "told": "told by"}
    for name in names:
        shown.add_column("then" if name == "other" else "")
    for name in numbers:
        shown.add_column(heads.get(name, name), justify="right")
    for row in _rows(table, names, numbers):
        shown.add_row(*row)
    return shown


def _rows(table: Table, names: list[str], numbers: list[str]) -> Iterator[list[str]]:
    """Of a long table those with the largest estimates, in the table's order."""
    estimates = table.columns["estimate"]
    order = sorted(range(len(table)), key=lambda row: -(estimates[row] if estimates[row] is not None else -1.0))
    for row in sorted(order[:ROWS_SHOWN]):
        yield [
            *(
                "(others)"
                if table.columns[name][row] is None and len(table) > 1
                else text_of(table.columns[name][row]) or ""
                for name in names
            ),
            *(_number(table.columns[name][row]) for name in numbers),
        ]
    if len(table) > ROWS_SHOWN:
        yield [f"and {len(table) - ROWS_SHOWN:,} more: --to FILE", *[""] * (len(names) + len(numbers) - 1)]


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.4f}"


def _when(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000.0, UTC).strftime("%Y-%m-%d %H:%M:%S")
