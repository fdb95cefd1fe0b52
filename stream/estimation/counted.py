"""Reports of one field in one window, counted: constant memory, but for the users of fields whose bits are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from beliefs.checks import Invalid
from mechanisms.contract import Floats, Integers
from mechanisms.local.inverted import MEASURED, inverted, reports_in, sums_of
from mechanisms.local.measured import Measured
from mechanisms.local.pairs import PairTally
from mechanisms.local.pooled import Level
from stream.estimation.asked import middles_of
from stream.fields.forms import Form, Reporter
from stream.fields.gate import COARSE


class LevelCount:
    """Reports of one choice: whole numbers, and the squares of sums where these are measured."""

    def __init__(self, reporter: Reporter, coefficients: Floats) -> None:
        self._drawn, self._of = reporter.drawn, inverted(reporter.drawn)
        self._sums: Integers = np.zeros(self._of.cells, dtype=np.int64)
        measures = self._of.ties == MEASURED and reporter.groups is None and coefficients.shape[0] > 0
        self._measured = Measured(reporter.drawn, coefficients) if measures else None
        self.owners: Counter[bytes] | None = Counter() if self._of.kept > 0.0 else None
        self.reports = 0

    def add(self, reports: Any, keys: Iterable[bytes]) -> None:
        self._sums = self._sums + sums_of(self._drawn, reports)
        self.reports += reports_in(reports)
        if self._measured is not None:
            self._measured.add(reports)
        if self.owners is not None:
            self.owners.update(keys)

    @property
    def level(self) -> Level:
        squares = None if self._measured is None else self._measured.squares
        frequencies = self._of.rows(self._sums / self.reports)
        return Level(self._of, self.reports, frequencies, again_in(self.owners, self.reports), squares)


def again_in(owners: Counter[bytes] | None, reports: int) -> int:
    """The squares of the users' numbers of reports, less the number of all."""
    return 0 if owners is None else sum(count * count for count in owners.values()) - reports


class FieldCount:
    """One field. `why_nothing` says why nothing can be estimated, where that is so."""

    def __init__(self, form: Form, floor: int) -> None:
        self.form, self._floor = form, floor
        self.why_nothing = why_nothing(form)
        self.coefficients = coefficients_of(form)
        self.levels: dict[int, LevelCount] = {}
        self.withheld = self.wrong = 0
        self._users: set[bytes] = set()

    def add(self, choice: int, reports: Any, keys: Sequence[bytes]) -> None:
        if len(self._users) < self._floor:
            self._users.update(keys)
        if self.why_nothing:
            return
        if choice not in self.levels:
            self.levels[choice] = LevelCount(self.form.reporters[choice], self.coefficients)
        self.levels[choice].add(reports, keys)

    @property
    def is_small(self) -> bool:
        """Whether it is about fewer users than may be told of."""
        return len(self._users) < self._floor

    @property
    def fine(self) -> list[Level]:
        return [count.level for choice, count in sorted(self.levels.items()) if choice != COARSE]

    @property
    def coarse(self) -> Level | None:
        return self.levels[COARSE].level if COARSE in self.levels else None


def coefficients_of(form: Form) -> Floats:
    """Rows of the sums that are told beside frequencies: of each number of a value, its distance from the middle of all
    (which changes no mean, and scatters least); then of each group.
    """
    rows = []
    if form.at_most is None:
        rows += [np.array(middles) - np.mean(middles) for middles in middles_of(form.alphabet).values()]
    coarse = form.reporters.get(COARSE)
    if coarse is not None and coarse.groups is not None:
        rows += [(coarse.groups == group).astype(np.float64) for group in range(coarse.drawn.values)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), form.alphabet.size)


class PairCount:
    """Reports of two fields in the same records, of each pair of levels by itself."""

    def __init__(self, first: Form, second: Form) -> None:
        self.forms = first, second
        self.why_nothing = why_nothing(first) or why_nothing(second)
        self.coarse = 0
        self._tallies: dict[tuple[int, int], PairTally] = {}
        self._owners: dict[tuple[int, int], Counter[bytes]] = {}

    def add(self, choices: tuple[int, int], reports: tuple[Any, Any], keys: Iterable[bytes]) -> None:
        if choices not in self._tallies:
            first, second = (form.reporters[choice].drawn for form, choice in zip(self.forms, choices, strict=True))
            self._tallies[choices] = PairTally(first, second)
        tally = self._tallies[choices]
        tally.add(*reports)
        if tally.of[0].kept > 0.0 or tally.of[1].kept > 0.0:
            self._owners.setdefault(choices, Counter()).update(keys)

    @property
    def why_no_pairs(self) -> str:
        """Where there are none."""
        return why_no_pairs(self.coarse, "reports of both fields")

    @property
    def tallies(self) -> list[PairTally]:
        for choices, tally in self._tallies.items():
            tally.again = again_in(self._owners.get(choices), tally.reports)
        return [tally for _, tally in sorted(self._tallies.items())]


def why_no_pairs(coarse: int, both: str) -> str:
    if coarse:
        return f"all {coarse:,} pairs have a report of a group; read other times, or leave room under the caps"
    return f"no record has {both}; read other times, or see what the budgets and caps leave"


def why_nothing(form: Form) -> str:
    """Why nothing can be estimated from a field's reports; nothing where something can."""
    try:
        for reporter in form.reporters.values():
            inverted(reporter.drawn)
    except Invalid as problem:
        return str(problem)
    return ""
