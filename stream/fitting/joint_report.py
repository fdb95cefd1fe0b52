"""What a joint table's fit tells people: the figures as JSON, and as text for a terminal."""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np

from beliefs.correlation.tables import correlation_of
from stream.fitting.doubts import REFUSED_SHARE
from stream.fitting.joint import FittedJoint
from stream.fitting.reasons import meaning, mending
from stream.fitting.report import refused, refused_lines
from stream.names import FIELD_MISSING, FIELD_TYPE

PAIRS_SHOWN: Final = 8

_OWN_PEOPLE: Final = (
    "the table is counted from the very people whom it is to protect. It is public: whoever reads it learns something "
    "about them, and no epsilon counts that. Count a public sample, or people who consented, and say so (--sample "
    "public, --sample consenting)"
)
_UNKNOWN_PEOPLE: Final = (
    "nothing is said about whose records these are. If they are those of the people whom the table is to protect, it "
    "tells what no epsilon counts; otherwise say --sample public or --sample consenting"
)
_ROWS: Final = (
    "each record counts as a person of its own. If somebody has several, the radii are too small: name the field that "
    "says whose a record is (--user)"
)
_MENDING: Final = {
    FIELD_MISSING: "see that --joint names the fields as the records do, and leave out records that lack one",
    FIELD_TYPE: "values are texts or whole numbers: put other numbers into cells first, and write these as texts",
}


def joint_figures(fitted: FittedJoint) -> dict[str, Any]:
    """Every figure of the report."""
    model, facts, task = fitted.model, fitted.facts, fitted.task
    weights = model.table.weights
    return {
        "table": model.digest[:8],
        "names": list(task.names),
        "values": [len(labels) for labels in model.table.labels],
        "source": task.source.name,
        "kind": task.source.kind,
        "sample": task.sample,
        "rows": facts.rows,
        "people": fitted.people,
        "records_are_people": not task.knows_people,
        "again": facts.again,
        "refused": refused(facts.refusals),
        "pooled_values": facts.pooled,
        "cells": int(weights.size),
        "empty_cells": int((weights == 0).sum()),
        "failure": task.failure,
        "radius": [_radius(fitted, secret) for secret in task.names],
        "pairs": [_pair(fitted, one, other) for one, other in itertools.permutations(task.names, 2)],
        "warnings": _warnings(fitted),
    }


def _radius(fitted: FittedJoint, secret: str) -> dict[str, Any]:
    """How well all other fields together are known, given each value of this one."""
    radii = fitted.model.given(secret).radii
    people = np.array(fitted.model.people(secret))
    return {
        "given": secret,
        "worst": float(radii.max()),
        "average": float((radii * people).sum() / people.sum()),
        "fewest_people": int(people.min()),
    }


def _pair(fitted: FittedJoint, one: str, other: str) -> dict[str, Any]:
    radii = fitted.model.given(one, [other]).radii
    together = correlation_of(fitted.model.table.reordered([one, other]).weights)
    return {"given": one, "of": other, "worst": float(radii.max()), "normalised_information": together.normalised}


def _warnings(fitted: FittedJoint) -> list[str]:
    facts, task, table = fitted.facts, fitted.task, fitted.model.table
    found = {"protected": [_OWN_PEOPLE], "unknown": [_UNKNOWN_PEOPLE]}.get(task.sample, [])
    if not task.knows_people:
        found = [*found, _ROWS]
    if facts.refusals.total > REFUSED_SHARE * facts.rows:
        most = max(sorted(facts.refusals.counts), key=facts.refusals.counts.__getitem__)
        share = f"{facts.refusals.total:,} of {facts.rows:,} rows ({facts.refusals.total / facts.rows:.0%})"
        fix = _MENDING.get(most, mending({most: 1}))
        found = [*found, f"{share} were refused, most of them for {meaning(most)}. To put it right: {fix}"]
    for name, labels in zip(table.names, table.labels, strict=True):
        if len(labels) == 1:
            found = [*found, f"all people have the same value of {name}: it tells nothing, and nothing tells it"]
        if "" in labels:
            found = [
                *found,
                f"empty cells of {name} are a value of their own; leave such rows out if they mean nothing",
            ]
    return found


def write_joint(facts: dict[str, Any], written: str) -> str:
    """The report as text."""
    shape = " x ".join(f"{count:,} of {name}" for name, count in zip(facts["names"], facts["values"], strict=True))
    return "\n".join(
        [
            *[f"WARNING: {warning}." for warning in facts["warnings"]],
            *_read(facts),
            f"Joint table {facts['table']}: {shape}{written}.",
            *_empty(facts),
            *_sure(facts),
            *_pairs(facts),
        ]
    )


def _read(facts: dict[str, Any]) -> list[str]:
    refused_rows = sum(one["count"] for one in facts["refused"].values())
    counted = f"{facts['rows']:,} rows, {facts['people']:,} people counted"
    lines = [f"Read {facts['source']}: {counted}; {refused_rows:,} rows refused."]
    lines += refused_lines(facts["refused"], facts["kind"])
    if facts["again"]:
        lines.append(f"    {facts['again']:,} rows are of people who had been counted; of each the first one counts")
    pooled = {name: count for name, count in facts["pooled_values"].items() if count}
    for name, count in pooled.items():
        lines.append(f"    {count:,} rare values of {name} are one value now; the field must declare it, too")
    return lines


def _empty(facts: dict[str, Any]) -> list[str]:
    if not facts["empty_cells"]:
        return []
    share = f"{facts['empty_cells']:,} of {facts['cells']:,} combinations"
    return [
        f"    {share} were never met. That does not make them impossible, and the radii cover it;",
        "    a loss at a budget without limit (saturation) is infinite where they are taken as impossible",
    ]


def _sure(facts: dict[str, Any]) -> list[str]:
    lines = [
        f"How sure: but for a probability of {facts['failure']:g} for each line, the law of all other fields lies this",
        "    near the truth in variation, given each value; if people are independent of each other:",
    ]
    for one in facts["radius"]:
        fewest = f"fewest people with one value {one['fewest_people']:,}"
        lines.append(f"    given {one['given']}: average {one['average']:.4f}, worst {one['worst']:.4f}; {fewest}")
    if any(one["worst"] > 0.5 for one in facts["radius"]):
        lines.append(
            "    a radius above a half says next to nothing: take more people, join rare values, or fewer fields"
        )
    return lines


def _pairs(facts: dict[str, Any]) -> list[str]:
    shown = sorted(facts["pairs"], key=lambda one: -float(one["normalised_information"]))[:PAIRS_SHOWN]
    lines = ["What goes together most (shared information, 0 to 1; radius of the one given the other):"]
    lines += [f"    {one['of']} given {one['given']}: {_shared(one)}, worst radius {one['worst']:.4f}" for one in shown]
    return lines


def _shared(one: dict[str, Any]) -> str:
    return f"{one['normalised_information']:.4f}"
