"""Tables of one field, or of two, from counted reports. What the numbers mean: mechanisms/local/pooled.md, pairs.md."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from beliefs.simplex import on_the_simplex
from mechanisms.contract import Floats
from mechanisms.local.pairs import joint_of
from mechanisms.local.pooled import Level, levels_apart, pooled, pooled_sum, weights_of
from mechanisms.local.pooled_groups import pooled_groups
from mechanisms.local.top_k import DrawnTop
from stream.audit.amounts import Integers
from stream.estimation.asked import Asked, middles_of
from stream.estimation.counted import FieldCount, PairCount
from stream.estimation.results import FieldResult, Table, table_of
from stream.fields.forms import Form
from stream.fields.gate import COARSE, FULL, SIGNS

PROJECTED = "projected"


def reach_of(confidence: float) -> float:
    """In standard errors, where the noise is known."""
    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def field_result(count: FieldCount, groups: Sequence[str], asked: Asked) -> FieldResult:
    """All that is estimated of a field by itself; `groups` are the names of its groups."""
    form = count.form
    if count.is_small or count.why_nothing:
        return FieldResult(form.name, too_few=count.is_small, why_nothing=count.why_nothing)
    fine, coarse, reach = count.fine, count.coarse, reach_of(asked.confidence)
    facts: dict[str, Any] = {
        "levels": {SIGNS[choice]: count.levels[choice].reports for choice in sorted(count.levels)},
        "withheld": count.withheld,
        "wrong": count.wrong,
        "levels_apart": levels_apart(fine),
    }
    tables: dict[str, Table] = {}
    if fine:
        tables |= _tables_of_values(form, fine, asked, reach)
    if coarse is not None:
        tables["groups"] = _table_of_groups(count, fine, coarse, groups, asked)
    reports = sum(level.reports for level in (*fine, *([coarse] if coarse is not None else [])))
    return FieldResult(form.name, reports, facts, tables)


def values_of(form: Form) -> list[Any]:
    """What the cells of a field's reports are about: null for all other values together, and for a slot without any."""
    found, alphabet = form.reporters[FULL].drawn, form.alphabet
    if isinstance(found, DrawnTop):
        return [*(alphabet.value_at(place) if place < alphabet.size else None for place in found.top), None]
    return [alphabet.value_at(place) for place in range(alphabet.size)] + [None] * (form.at_most is not None)


def has_empty(form: Form) -> bool:
    """Whether the last cell is that of a slot without a value."""
    return form.at_most is not None and not isinstance(form.reporters[FULL].drawn, DrawnTop)


def _tables_of_values(form: Form, levels: Sequence[Level], asked: Asked, reach: float) -> dict[str, Table]:
    slots, values = form.at_most or 1, values_of(form)
    weights = weights_of(levels, asked.pooling)
    found = pooled(levels, weights, slots, len(values) - 1 if has_empty(form) else None)
    law = on_the_simplex(found.frequencies)
    nearest = np.minimum(law * slots, 1.0)
    shown = slice(len(values) - 1) if has_empty(form) else slice(None)
    estimates, variances = found.frequencies * slots, found.variances * slots**2
    reports, more = sum(level.reports for level in levels), {PROJECTED: nearest[shown]}
    tables = {"frequency": table_of({"value": values[shown]}, estimates[shown], variances[shown], reach, reports, more)}
    if has_empty(form):
        # A list has as many values as it has slots that are not empty.
        tables["size"] = table_of({"value": [None]}, slots - estimates[-1:], variances[-1:], reach, reports)
    elif form.at_most is None and len(values) == form.alphabet.size and middles_of(form.alphabet):
        tables["mean"] = _table_of_means(form, levels, weights, law, reach)
    return tables


def _table_of_means(form: Form, levels: Sequence[Level], weights: Floats, law: Floats, reach: float) -> Table:
    names, means, variances = [], [], []
    for row, (name, middles) in enumerate(middles_of(form.alphabet).items()):
        middle = float(np.mean(middles))
        found = pooled_sum(levels, weights, np.array(middles) - middle, law, row)
        names.append(name or None)
        means.append(middle + found.estimate)
        variances.append(found.variance)
    reports = sum(level.reports for level in levels)
    return table_of({"value": names}, np.array(means), np.array(variances), reach, reports)


def _table_of_groups(
    count: FieldCount, fine: Sequence[Level], coarse: Level, names: Sequence[str], asked: Asked
) -> Table:
    reporter, full = count.form.reporters[COARSE], count.form.reporters[FULL].drawn
    members: Integers = np.zeros(0, dtype=np.int64) if reporter.groups is None else reporter.groups
    if isinstance(full, DrawnTop):
        fine = ()  # what the others are together belongs to several groups
    rows = count.coefficients.shape[0] - len(names)
    told = [level if level.squares is None else level._replace(squares=level.squares[rows:]) for level in fine]
    found = pooled_groups(told, coarse, members, len(names), asked.pooling)
    nearest = {PROJECTED: on_the_simplex(found.frequencies)}
    reports, reach = coarse.reports + sum(level.reports for level in fine), reach_of(asked.confidence)
    return table_of({"value": names}, found.frequencies, found.variances, reach, reports, nearest)


def joint_result(pair: PairCount, is_small: bool, asked: Asked) -> FieldResult:
    """The joint table of two fields; `is_small` says that one of them is about too few users."""
    name = ",".join(form.name for form in pair.forms)
    if is_small or not pair.tallies:
        return FieldResult(
            name, too_few=is_small, why_nothing="" if is_small else pair.why_nothing or pair.why_no_pairs
        )
    first, second = pair.forms
    found = joint_of(pair.tallies, asked.pooling, (first.at_most or 1, second.at_most or 1))
    rows, columns = (values_of(form)[: -1 if has_empty(form) else None] for form in pair.forms)
    frequencies = found.frequencies[: len(rows), : len(columns)]
    variances = found.variances[: len(rows), : len(columns)]
    more = {}
    if first.at_most is None and second.at_most is None:
        more[PROJECTED] = on_the_simplex(frequencies.ravel())
    values = {
        "value": [value for value in rows for _ in columns],
        "other": [value for _ in rows for value in columns],
    }
    table = table_of(values, frequencies, variances, reach_of(asked.confidence), found.reports, more)
    return FieldResult(name, found.reports, {}, {"joint": table}, notes=notes_on_groups(pair.coarse))


def notes_on_groups(coarse: int) -> list[str]:
    """Reports that say a group and no value."""
    return [f"{coarse:,} reports of groups have no place in a table of values"] if coarse else []
