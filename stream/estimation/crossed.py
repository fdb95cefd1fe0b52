"""The joint table of the field whose values follow one another with one that is reported by itself. Proof: crossed.md.

Given both values, what a release says of one and a report of the other are independent: the product of the two
functionals counts the pair without bias.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.simplex import on_the_simplex
from mechanisms.local.inverted import features_of, inverted, part_of
from mechanisms.local.pooled import shares_of
from stream.audit.amounts import Floats, Integers
from stream.estimation.asked import Asked
from stream.estimation.counted import again_in, why_no_pairs, why_nothing
from stream.estimation.local_tables import PROJECTED, has_empty, notes_on_groups, reach_of, values_of
from stream.estimation.reading import Told
from stream.estimation.results import FieldResult, table_of, text_of
from stream.fields.forms import Form, Reporter
from stream.fields.gate import COARSE


class Beside(NamedTuple):
    """What is reported beside the releases of a block: of each field that a table is asked for, its reports; whose
    records these are; and which record of the block each of those that are heard is.
    """

    told: Sequence[Told]
    keys: Sequence[bytes]
    numbers: Integers

    def of(self, which: Integers) -> Beside:
        """Of these records alone."""
        return self._replace(numbers=self.numbers[which])


class _Level:
    """Pairs with reports of one level."""

    def __init__(self, reporter: Reporter, symbols: int) -> None:
        self._drawn, self.of = reporter.drawn, inverted(reporter.drawn)
        table = (symbols, self.of.cells)
        self.products, self.squares = np.zeros(table), np.zeros(table)
        self.owners: Counter[bytes] | None = Counter() if self.of.kept > 0.0 else None
        self.pairs = 0

    def add(self, functional: Floats, reports: Any, keys: Sequence[bytes]) -> None:
        rows = self.of.rows(features_of(self._drawn, reports))
        for value in range(functional.shape[1]):
            products = functional[:, value, None] * rows
            self.products[value] += products.sum(axis=0)
            self.squares[value] += (products * products).sum(axis=0)
        self.pairs += rows.shape[0]
        if self.owners is not None:
            self.owners.update(keys)


@dataclass
class CrossCount:
    """One window of event time. `turned` says that the field that is reported by itself was named first."""

    form: Form
    symbols: int
    turned: bool

    def __post_init__(self) -> None:
        self.why_nothing = why_nothing(self.form)
        self.known: Integers = np.zeros(self.symbols, dtype=np.int64)
        self.coarse = 0
        self._levels: dict[int, _Level] = {}

    @property
    def pairs(self) -> int:
        return sum(level.pairs for level in self._levels.values())

    def add(self, told: Told, numbers: Integers, functional: Floats, known: Integers, keys: Sequence[bytes]) -> None:
        """Releases that can be followed, by their numbers in the block, and this field's reports in it."""
        if self.why_nothing:
            return
        for choice, (at, reports) in told.reports.items():
            both, mine, theirs = np.intersect1d(numbers, at, assume_unique=True, return_indices=True)
            if choice == COARSE:
                self.coarse += both.shape[0]
            elif both.shape[0]:
                if choice not in self._levels:
                    self._levels[choice] = _Level(self.form.reporters[choice], self.symbols)
                owners = [keys[place] for place in both.tolist()]
                self._levels[choice].add(functional[mine], part_of(reports, theirs), owners)
                self.known += known[mine].sum(axis=0)

    def result(self, name: str, alphabet: Alphabet, is_small: bool, asked: Asked) -> FieldResult:
        if is_small or self.why_nothing or not self.pairs:
            why = self.why_nothing or why_no_pairs(self.coarse, "a release that can be followed, and a report")
            nothing = "" if is_small else why
            return FieldResult(name, too_few=is_small, why_nothing=nothing)
        whole, slots = self.known == self.pairs, self.form.at_most or 1
        found, noise = self._found(asked, slots)
        cells = values_of(self.form)[: -1 if has_empty(self.form) else None]
        found, noise = found[:, : len(cells)], noise[:, : len(cells)]
        values = [alphabet.value_at(place) for place in range(self.symbols)]
        more = {PROJECTED: self._turn(on_the_simplex(found.ravel()).reshape(found.shape))}
        found, noise = (np.where(whole[:, None], table, np.nan) for table in (found, noise))
        names = (cells, values) if self.turned else (values, cells)
        both = {"value": [one for one in names[0] for _ in names[1]], "other": [*names[1]] * len(names[0])}
        shown = more if whole.all() and self.form.at_most is None else {}
        reach, notes = reach_of(asked.confidence), self._notes(values, whole)
        if not whole.any():
            return FieldResult(name, self.pairs, why_nothing="; ".join(notes))
        table = table_of(both, self._turn(found), self._turn(noise), reach, self.pairs, shown)
        return FieldResult(name, self.pairs, {}, {"joint": table}, notes=notes)

    def _found(self, asked: Asked, slots: int) -> tuple[Floats, Floats]:
        """Shares of pairs and their variances, of the levels together."""
        levels = list(self._levels.values())
        weights = shares_of([(level.pairs, level.of.others) for level in levels], asked.pooling)
        found, noise = np.zeros(levels[0].products.shape), np.zeros(levels[0].products.shape)
        for weight, level in zip(weights.tolist(), levels, strict=True):
            # z (z - 1) is on average the noise of a product z; kept bits come again in other reports of a user.
            again = level.of.kept * again_in(level.owners, level.pairs)
            spread = slots * slots * (level.squares + again) - slots * level.products
            found += weight * slots * level.products / level.pairs
            noise += weight * weight * np.maximum(spread, 0.0) / level.pairs**2
        return found, noise

    def _turn(self, table: Floats) -> Floats:
        return np.ascontiguousarray(table.T) if self.turned else table

    def _notes(self, values: Sequence[Any], whole: Any) -> list[str]:
        notes = []
        if not whole.all():
            absent = ", ".join(text_of(values[place]) or "" for place in np.flatnonzero(~whole)[:8].tolist())
            notes.append(
                f"no pairs with {absent}{'' if (~whole).sum() <= 8 else ' and others'}: some releases come out alike "
                "after several of these values, so no share of all is without bias; see where_told of the field itself"
            )
        return notes + notes_on_groups(self.coarse)
