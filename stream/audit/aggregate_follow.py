"""Follows the released windows one after the other: none missing, none twice, each with the account that it must have.

What is followed is public. `check` is asked about each window, where somebody can say more of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from stream import names
from stream.audit.aggregate_account import Account
from stream.audit.aggregate_records import Reader, Said
from stream.audit.aggregate_rules import Windows
from stream.audit.aggregate_values import numbers_in
from stream.audit.findings import Findings
from stream.audit.records import Record
from stream.audit.said import each_said

Numbers = Mapping[int, Mapping[int, int]]
"""Of each aggregate, by its place, the noisy numbers that were shown, by their cell."""


class Check(Protocol):
    """Whoever can say more of a window's numbers than the window says itself."""

    def check(self, number: int, shown: Numbers, times: Fraction) -> None:
        """Of a window that was released, with so many times its noise."""

    def check_missing(self, number: int) -> None:
        """Of a window that was withheld because a partition's sums are missing."""


_GUARANTEE = {"loss", "leak", "total", "windows", "target", "adversary", "protects", "method", "more_noise"}


@dataclass
class Seen:
    """What there was; `unscaled` windows had more noise, by how much is not known to the last digit."""

    records: int = 0
    released: int = 0
    unscaled: int = 0
    withheld: dict[str, int] = field(default_factory=dict)


class Follow:
    """One released topic, from its first record on."""

    def __init__(
        self, windows: Windows, account: Account, reader: Reader, findings: Findings, where: str, check: Check | None
    ) -> None:
        self._windows, self._account, self._reader = windows, account, reader
        self._findings, self._where, self._check = findings, where, check
        self.seen = Seen()
        self._next_number = 0

    def take(self, records: Sequence[Record]) -> None:
        self.seen.records += len(records)
        for _, said, place in each_said(
            records, self._reader.read, self._findings, self._where, "aggregate_unreadable"
        ):
            self._follow(said, place)

    def _follow(self, said: Said, place: str) -> None:
        if said.number < self._next_number:
            self._findings.add("window_twice", places=[place])
            return
        if said.number > self._next_number:
            self._findings.add("window_missing", said.number - self._next_number, [place])
            for _ in range(said.number - self._next_number):
                self._account.skip()
        self._next_number = said.number + 1
        if said.released:
            self.seen.released += 1
        else:
            reason = str(said.reason)
            self.seen.withheld[reason] = self.seen.withheld.get(reason, 0) + 1
            if self._check is not None and reason == names.WITHHELD_PARTIAL:
                self._check.check_missing(said.number)
        judged = self._account.judge(said)
        if judged.finding is not None:
            self._findings.add(judged.finding, places=[place])
        for name in judged.wrong:
            self._findings.add("aggregate_account", places=[place], detail=name)
        if said.guarantee.keys() != _GUARANTEE:
            self._findings.add("aggregate_strange", places=[place])
        if said.released and judged.times is not None:
            self._numbers(said, judged.times, place)
        elif said.released and judged.finding is None:
            self.seen.unscaled += 1

    def _numbers(self, said: Said, times: Fraction, place: str) -> None:
        if list(said.aggregates) != [asked.name for asked in self._windows.asked]:
            self._findings.add("aggregate_strange", places=[place])
            return
        shown: dict[int, Mapping[int, int]] = {}
        for at, asked in enumerate(self._windows.asked):
            shown[at], fine = numbers_in(asked, said.aggregates[asked.name], times)
            if not fine:
                self._findings.add("aggregate_numbers", places=[place], detail=asked.name)
        if self._check is not None:
            self._check.check(said.number, shown, times)
