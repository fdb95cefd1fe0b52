"""What one user adds to one window, event by event, and the sums of a window over all users of a partition.

A contribution is a list of whole numbers: the times of its first and its last event, then one number for each query,
then, where values are added up, the times that were taken. What it adds to the window's cells is kept up to date with
every event, so closing a window costs its cells and not its users.

By itself each query says which event counts: `first` and `last` go by the event's time, and of equal times the one
that stands first in the topic stays; `largest` and `smallest` look at the value alone; `sum` takes each time once and
so many events at most. So an event that is repeated changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stream.aggregates.query import Query
from stream.gathering.people import Contribution

FIRST, LAST, VALUES = 0, 1, 2
"""Where a contribution has the times of its first and last event, and where its numbers begin."""

Cells = list[int]

_COUNT, _AMOUNT, _MEAN, _CELL = range(4)
_KINDS: Final = {"count": _COUNT, "sum": _AMOUNT, "mean": _MEAN, "histogram": _CELL, "top": _CELL}
_FIRST, _LAST, _LARGEST, _SMALLEST, _SUM = range(5)
_TAKES: Final = {"first": _FIRST, "last": _LAST, "largest": _LARGEST, "smallest": _SMALLEST, "sum": _SUM}


@dataclass(frozen=True, slots=True)
class _Rule:
    """One query: `place` is where a contribution has its number, `source` which of an event's values it reads, `cell`
    its first cell.
    """

    kind: int
    take: int
    place: int
    source: int
    cell: int
    least: int
    most: int
    centre: int
    at_most: int

    def shown(self, number: int) -> int:
        """What is added up, clipped once more."""
        return self.least if number < self.least else min(number, self.most)


class Contributions:
    """The rules of all queries of a pipeline."""

    def __init__(self, queries: Sequence[Query]) -> None:
        rules, source, cell = [], 0, 0
        for place, query in enumerate(queries, VALUES):
            read = query.form is not None
            rules.append(
                _Rule(
                    _KINDS[query.kind],
                    _TAKES[query.take],
                    place,
                    source if read else -1,
                    cell,
                    query.least,
                    query.most,
                    query.centre if query.kind == "mean" else 0,
                    query.at_most or 1,
                )
            )
            source, cell = source + read, cell + query.cells
        self._rules = tuple(rules)
        self._read = tuple(rule for rule in rules if rule.kind != _COUNT)
        self._times = VALUES + len(rules)
        self._kept = max((rule.at_most for rule in self._read if rule.take == _SUM), default=0)
        self.cells = cell
        self.longest = self._times + self._kept

    def empty(self) -> Cells:
        return [0] * self.cells

    def begin(self, key: bytes, time: int, values: Sequence[int], tally: Cells) -> Contribution:
        """The first event of a user in a window."""
        mine = [time, time, *(0 if rule.source < 0 else values[rule.source] for rule in self._rules)]
        if self._kept:
            mine.append(time)
        self.add(key, mine, tally)
        return mine

    def change(self, mine: Contribution, time: int, values: Sequence[int], tally: Cells) -> bool:
        """A further event; answers whether it was new: of another time than those that are known, or a change."""
        times = self._times
        again = self._kept > 0 and time in mine[times:]
        new = not (again or time == mine[FIRST] or time == mine[LAST])
        for rule in self._read:
            place = rule.place
            take, old, value = rule.take, mine[place], values[rule.source]
            if take == _LAST:
                if time <= mine[LAST]:
                    continue
            elif take == _FIRST:
                if time >= mine[FIRST]:
                    continue
            elif take == _SUM:
                if again or len(mine) - times >= rule.at_most:
                    continue
                value += old
            elif value <= old if take == _LARGEST else value >= old:
                continue
            if value == old:
                continue
            mine[place], new = value, True
            self._move(rule, old, value, tally)
        if time > mine[LAST]:
            mine[LAST] = time
        elif time < mine[FIRST]:
            mine[FIRST] = time
        if not again and len(mine) - times < self._kept:
            mine.append(time)
        return new

    def add(self, key: bytes, mine: Contribution, tally: Cells) -> None:  # noqa: ARG002 - sums are nobody's
        """Put a whole contribution into the cells of its window."""
        for rule in self._rules:
            kind, number = rule.kind, mine[rule.place]
            if kind == _COUNT:
                tally[rule.cell] += 1
            elif kind == _CELL:
                tally[rule.cell + number] += 1
            else:
                tally[rule.cell] += rule.shown(number) - rule.centre
                if kind == _MEAN:
                    tally[rule.cell + 1] += 1

    @staticmethod
    def _move(rule: _Rule, old: int, new: int, cells: Cells) -> None:
        if rule.kind == _CELL:
            cells[rule.cell + old] -= 1
            cells[rule.cell + new] += 1
        else:
            cells[rule.cell] += rule.shown(new) - rule.shown(old)
