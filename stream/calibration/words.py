"""A calibration in words, as plain values, and as lines for a settings file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from beliefs.correlation.joint_file import COUNTED
from stream.calibration.choice import Asked, Budget, Choice
from stream.calibration.compared import Published
from stream.calibration.source import Sample
from stream.records.paths import Path as FieldPath

_SIGNS: Final = re.compile("[A-Za-z0-9_-]{1,64}")
_NOTES: Final = """\
total: what all reports of all fields together tell of the field, exactly where all others are randomised response, by
 the bound for any mechanism otherwise{worst}; the stream computes the same numbers
error: the standard error of one value's frequency, by the noise alone, on average over the values, from {people:,}
 people of {reports} reports each
published: the sum of what each other field tells by itself. It is no bound, unless the others are independent given
 the field"""
_BENCHMARKS: Final = """\
over and under: by how many hundredths of epsilon leaks of pairs are estimated too high and too low, on average; P1 is
 exact, R1 never too high, R2 never too low, R3 both. What is too low somewhere promises nothing
tells: what all fields tell of each other by pairs, as a share of the bound for any mechanism; attacked: the same of a
 guess made from a report, as published, which is less than the report tells"""


def figures(
    sample: Sample, asked: Asked, choice: Choice, beside: Published, at: float, table: str | None
) -> dict[str, Any]:
    """Everything as plain values."""
    return {
        "file": str(sample.file),
        "cells": sample.cells,
        "empty_cells": sample.empty,
        "known": None if sample.model is None else sample.model.known,
        "radii": None if sample.radii is None else [each.tolist() for each in sample.radii],
        "reports": asked.reports,
        "people": asked.people,
        "fields": [
            {
                "name": name,
                "values": len(sample.labels[place]),
                "cap": asked.caps[place],
                "mechanism": choice.mechanisms[place],
                "rule": choice.rules[place],
                "equal": asdict(choice.equal[place]),
                "unequal": asdict(choice.unequal[place]),
                "published": {"total": beside.sums[place], "guarantee": False},
            }
            for place, name in enumerate(sample.names)
        ],
        "searched": choice.searched,
        "tried": choice.tried,
        "algorithm_3": {"budget": beside.budget, "largest_total": beside.reached, "guarantee": False},
        "benchmarks": {
            "epsilon": at,
            "estimates": [
                {"name": each.name, "guarantee": each.sound, **each.scores._asdict()} for each in beside.estimates
            ],
            "mechanisms": [each._asdict() for each in beside.standings],
        },
        "settings": settings_lines(sample, asked, choice, table),
    }


def told(sample: Sample, asked: Asked, choice: Choice, beside: Published, at: float, table: str | None) -> str:
    """The whole answer for a terminal; `table` is the name of a file that holds the joint table, if there is one."""
    worst = "" if sample.radii is None else ", both for the worst of all tables within the radii of this one"
    notes = _NOTES.format(people=asked.people, reports=asked.reports, worst=worst).replace("\n ", " ").splitlines()
    parts = [
        _head(sample, asked),
        _columns(_budget_rows(sample, asked, choice, beside)),
        "\n".join(f"  {note}" for note in notes),
        "\n".join(_said(sample, asked, choice, beside)),
        f"The two benchmarks, at one report of {at:g} nats of each field:",
        _columns(_estimate_rows(beside)),
        _columns(_standing_rows(beside)),
        "\n".join(f"  {note}" for note in _BENCHMARKS.replace("\n ", " ").splitlines()),
    ]
    lines = settings_lines(sample, asked, choice, table)
    if lines:
        parts += ["For the settings, with the unequal budgets:", lines]
    return "\n\n".join(parts)


def settings_lines(sample: Sample, asked: Asked, choice: Choice, table: str | None) -> str:
    """`fields` of a settings file; nothing where the stream could not hold the table."""
    if sample.weights is None:
        return ""
    named = f"  joint: {json.dumps(table or 'joint.json')}"
    lines = ["fields:", named if table else f"{named}  # which --write-table joint.json writes", "  each:"]
    for place, name in enumerate(sample.names):
        labels = ", ".join(json.dumps(label, ensure_ascii=False) for label in sample.labels[place])
        lines += [
            f"    {json.dumps(name, ensure_ascii=False)}:",
            f"      path: {json.dumps(str(FieldPath((name,))), ensure_ascii=False)}",
            f"      values: [{labels}]",
            f"      mechanism: {choice.mechanisms[place]}",
            f"      epsilon: {choice.unequal[place].epsilon!r}",
            f"      cap: {asked.caps[place]!r}",
            "      lasting: true",
        ]
    return "\n".join(lines)


def _head(sample: Sample, asked: Asked) -> str:
    fields = ", ".join(f"{name} ({len(labels)})" for name, labels in zip(sample.names, sample.labels, strict=True))
    empty = "" if not sample.empty else f", {sample.empty:,} of them without any weight"
    return (
        f"{len(sample.names)} fields of {sample.file} by their numbers of values: {fields}; {sample.cells:,} "
        f"combinations{empty}. {asked.reports} reports of each field:"
    )


def _budget_rows(sample: Sample, asked: Asked, choice: Choice, beside: Published) -> Iterator[Sequence[str]]:
    yield ("field", "cap", "mechanism", "equal", "total", "error", "unequal", "total", "error", "rule", "published")
    for place, name in enumerate(sample.names):
        yield (
            name,
            f"{asked.caps[place]:g}",
            choice.mechanisms[place],
            *_budget(choice.equal[place]),
            *_budget(choice.unequal[place]),
            choice.rules[place],
            f"{beside.sums[place]:.4f}",
        )


def _budget(budget: Budget) -> tuple[str, str, str]:
    return f"{budget.epsilon:.6g}", _up(budget.total), f"{budget.error:.2g}"


def _up(total: float) -> str:
    """To four places, rounded up."""
    return f"{math.ceil(round(total * 1e4, 6)) / 1e4:.4f}"


def _said(sample: Sample, asked: Asked, choice: Choice, beside: Published) -> Iterator[str]:
    if sample.empty:
        yield (
            "Combinations without any weight are impossible to whoever believes the table, so that a report may rule "
            "values out: that makes totals grow with every report. Where they are only rare, see --add."
        )
    if sample.model is not None and sample.radii is not None:
        largest = max(float(each.max()) for each in sample.radii)
        counted = " More people, fewer fields or fewer values make them smaller; if everybody was counted: --everybody."
        yield (
            f"The table is known within radii, {largest:.2g} at most: given a value of one field, the law of all "
            f"others may be off by so much.{counted if sample.model.known == COUNTED else ''}"
        )
    if sample.weights is None:
        yield (
            "The fields have more combinations than a joint table may have. These are the bounds of the records' own "
            "law, which the stream cannot sum up: name fewer fields with --field for settings."
        )
    for name in sample.names:
        if not _SIGNS.fullmatch(name):
            yield f"Names of fields in settings have letters, digits, _ and -: give {name} another one in the table."
    if sample.weights is not None and not choice.searched:
        yield "The table is large: all fields by randomised response, and all by others, were tried; no mixtures."
    if beside.budget is not None and beside.reached is not None:
        least = min(asked.caps)
        yield (
            f"Published, without a guarantee: for a cap of {least:g} on every field algorithm 3 gives "
            f"{beside.budget / asked.reports:.6g} nats a report, with which the largest total is {_up(beside.reached)}."
        )


def _estimate_rows(beside: Published) -> Iterator[Sequence[str]]:
    yield ("estimate of leaks", "holds", "over", "under", "region", "ratio")
    for each in beside.estimates:
        found = each.scores
        ratio = "-" if found.ratio is None else f"{found.ratio:.3f}"
        over, under = f"{100 * found.overshoot:.2f}", f"{100 * found.undershoot:.2f}"
        yield (each.name, "yes" if each.sound else "no", over, under, found.region, ratio)


def _standing_rows(beside: Published) -> Iterator[Sequence[str]]:
    yield ("mechanism", "tells", "attacked", "squared error")
    for each in beside.standings:
        yield (each.mechanism, f"{each.exact:.3f}", f"{each.attacked:.3f}", f"{each.error:.3g}")


def _columns(rows: Iterator[Sequence[str]]) -> str:
    shown = list(rows)
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
    return "\n".join(lines)
