"""Tables of the field whose values follow one another. What the numbers mean: channel.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.simplex import on_the_simplex
from stream.audit.amounts import Floats
from stream.estimation.asked import Asked, middles_of
from stream.estimation.chain import learn_chain
from stream.estimation.jackknife import reach_of as jackknife_reach
from stream.estimation.jackknife import spread_without
from stream.estimation.left_out import notes_of
from stream.estimation.local_tables import PROJECTED, reach_of
from stream.estimation.results import FieldResult, Table, table_of
from stream.estimation.sums import CHAIN_NUMBERS_MOST, Indicators, SequenceSums

_LIKELY = 1e-12
"""A transition's row is told only if its value has a share above that."""


def sequence_result(name: str, sums: SequenceSums, alphabet: Alphabet, is_small: bool, asked: Asked) -> FieldResult:
    if is_small:
        return FieldResult(name, too_few=True)
    facts: dict[str, Any] = {"forecasts": sums.forecasts, "not_followed": sums.astray}
    if sums.waiting:
        facts["waiting"] = sums.waiting
    tables: dict[str, Table] = {}
    if sums.releases:
        values = [alphabet.value_at(place) for place in range(alphabet.size)]
        tables = _tables(sums, values, alphabet, asked)
        if asked.transitions:
            found, left_out = _transitions(sums, values, asked)
            tables |= found
            facts |= left_out
    notes = notes_of(sums, alphabet, tables, asked)
    return FieldResult(name, sums.releases, facts, tables, notes=notes)


def _tables(sums: SequenceSums, values: list[Any], alphabet: Alphabet, asked: Asked) -> dict[str, Table]:
    tables = _by_channel(sums, values, reach_of(asked.confidence))
    believed, variances, groups = _left_out(sums.believed, sums.events)
    student = jackknife_reach(asked.confidence, groups)
    tables["posterior"] = table_of({"value": values}, believed, variances, student, sums.releases)
    if "" in middles_of(alphabet):
        numbers = np.array(middles_of(alphabet)[""])
        means, variances, _ = _left_out((sums.believed * numbers).sum(axis=1, keepdims=True), sums.events)
        tables["posterior_mean"] = table_of({"value": [None]}, means, variances, student, sums.releases)
    return tables


def _by_channel(sums: SequenceSums, values: list[Any], reach: float) -> dict[str, Table]:
    """Without bias whatever is true: of all releases where each tells of the value, otherwise of those that do."""
    whole = sums.everywhere.known == sums.releases
    tables: dict[str, Table] = {}
    if whole.any():
        found, noise = _shares(sums.everywhere)
        frequencies, variances = (np.where(whole, column, np.nan) for column in (found, noise))
        nearest = {PROJECTED: on_the_simplex(found)} if whole.all() else {}
        tables["frequency"] = table_of({"value": values}, frequencies, variances, reach, sums.releases, nearest)
    if not whole.all():
        found, noise = _shares(sums.told)
        told = {"told": sums.told.known / sums.releases}
        tables["where_told"] = table_of({"value": values}, found, noise, reach, sums.releases, told)
    if sums.full == sums.releases and sums.coefficients is not None:
        mean, scatter = sums.full_sum / sums.full, max(sums.full_noise, 0.0) / sums.full**2
        tables["mean"] = table_of({"value": [None]}, np.array([mean]), np.array([scatter]), reach, sums.full)
    return tables


def _shares(told: Indicators) -> tuple[Floats, Floats]:
    known = np.where(told.known > 0, told.known, np.nan)
    return told.sums / known, np.maximum(told.noise, 0.0) / known**2


def _left_out(sums: Floats, counts: Any) -> tuple[Floats, Floats | None, int]:
    """Shares of all, their variance by leaving out each group of users in turn, and how many groups there are."""
    there = np.flatnonzero(counts > 0)
    whole, events = sums[there].sum(axis=0), int(counts.sum())
    without = (
        [(whole - sums[group]) / (events - int(counts[group])) for group in there.tolist()] if len(there) > 1 else []
    )
    return whole / events, spread_without(without), max(len(there), 2)


def _transitions(sums: SequenceSums, values: Any, asked: Asked) -> tuple[dict[str, Table], dict[str, Any]]:
    pairs = {"value": [value for value in values for _ in values], "other": [other for _ in values for other in values]}
    tables: dict[str, Table] = {}
    if sums.products is not None and (sums.everywhere.known == sums.releases).all() and int(sums.pairs.sum()):
        there = np.flatnonzero(sums.pairs > 0).tolist()
        whole = sums.products.sum(axis=0)
        spread = spread_without([_rows_of(whole - sums.products[group]) for group in there])
        reach = jackknife_reach(asked.confidence, max(len(there), 2))
        tables["transitions"] = table_of(pairs, _rows_of(whole), spread, reach, int(sums.pairs.sum()))
    facts: dict[str, Any] = {}
    if sums.kept_numbers > CHAIN_NUMBERS_MOST:
        return tables, {**facts, "chain": "too many releases to be kept"}
    chain = learn_chain(sums.kept, sums.symbols)
    if chain is None:
        return tables, {**facts, "chain": "too few users, or too many events without a release between others"}
    student = jackknife_reach(asked.confidence, max(chain.groups, 2))
    tables["chain"] = table_of(pairs, chain.rows, chain.row_variances, student, sums.releases)
    tables["learnt"] = table_of({"value": values}, chain.shares, chain.share_variances, student, sums.releases)
    return tables, {**facts, "chain": f"learnt from {chain.users} users"}


def _rows_of(products: Floats) -> Floats:
    """Each row divided by its sum; of a value that hardly anybody seems to have had nothing is said."""
    totals = products.sum(axis=1, keepdims=True)
    shares = totals / totals.sum()
    found: Floats = products / np.where(shares > _LIKELY, totals, np.nan)
    return found
