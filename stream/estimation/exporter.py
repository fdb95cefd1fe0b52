"""Estimates as metrics: those of the window that was told last, or of all that has been read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from stream.estimation.reading import WORDS
from stream.estimation.results import FieldResult, Table, WindowResult, text_of
from stream.exposition import Sample, family, labels_of
from stream.names import METRIC_PREFIX

WHAT: Final = "Estimates"
_PREFIX: Final = METRIC_PREFIX + "estimate_"
_TABLES: Final = {
    "frequency": ("frequency", "value", "Share of a value among the reports, or the releases, of the window."),
    "groups": ("group", "group", "Share of a group of values."),
    "mean": ("mean", "part", "Mean of a field of numbers."),
    "size": ("size", "part", "Mean number of values in a field's lists."),
    "posterior": ("posterior", "value", "Share of a value as a reader of the releases believes who knows the model."),
    "learnt": ("learnt", "value", "Share of a value under the chain that was learnt from the window."),
}
_ENDS: Final = {"low": "_lower", "high": "_upper"}
OTHERS: Final = "(others)"


def exposition(result: WindowResult | None, passed_over: Mapping[str, int], *, up: bool = True) -> str:
    """The text format of Prometheus. Fields of too few users are left out, and so are joint tables and transitions,
    which would be thousands of series.
    """
    text = family(f"{_PREFIX}up", "gauge", "Whether the last look at the topic succeeded.", [("", float(up))])
    counts: list[Sample] = [(labels_of({"reason": reason}), float(passed_over.get(reason, 0))) for reason in WORDS]
    text += family(f"{_PREFIX}passed_over_total", "counter", "Records that nothing was taken from.", counts)
    if result is None:
        return text
    for name, unit in (("start", result.start), ("end", result.end)):
        about = f"When the window {name}s that is told of, in seconds since 1970."
        text += family(f"{_PREFIX}window_{name}_seconds", "gauge", about, [("", unit / 1000.0)])
    reports = [(labels_of({"field": one.name}), float(one.reports)) for one in result.fields if not one.too_few]
    text += family(f"{_PREFIX}reports", "gauge", "Reports, or releases, in the window.", reports)
    return text + "".join(family(*each) for each in _families(result))


def _families(result: WindowResult) -> Iterator[tuple[str, str, str, list[Sample]]]:
    for name, (metric, label, about) in _TABLES.items():
        tables = [(one, one.tables[name]) for one in result.fields if name in one.tables]
        if not tables:
            continue
        for column, end in {"estimate": "", **_ENDS}.items():
            said = {"": about, "_lower": f"Lower end of it: {about}", "_upper": f"Upper end of it: {about}"}[end]
            samples = [sample for one, table in tables for sample in _samples(one, table, label, column)]
            yield f"{_PREFIX}{metric}{end}", "gauge", said, samples


def _samples(one: FieldResult, table: Table, label: str, column: str) -> Iterator[Sample]:
    for value, number in zip(table.columns["value"], table.columns[column], strict=True):
        if number is not None:
            named = text_of(value)
            labels = {"field": one.name}
            if named is not None or label != "part":
                labels[label] = OTHERS if named is None else named
            yield labels_of(labels), float(number)
