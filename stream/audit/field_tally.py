"""What an audit counts of fields that are protected each by itself, and how it says that."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from stream.audit.amounts import UNBOUNDED, nats_of
from stream.audit.field_gate import MARGIN, Account, Gate
from stream.audit.field_rules import SIGNS
from stream.audit.findings import Findings

SHARES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
OF_FIELDS: Final = ("field_beyond_cap", "field_needless", "field_account")
"""Findings whose detail begins with the name of a field."""
PROTECTED: Final = "record.protect"


@dataclass
class FieldTally:
    """Of one partition, or of all. `reports` by a field's place and sign; `standing` are the accounts of users as they
    are in the end, and `closed` those that a window of theirs ended with; `near` are decisions so near to a cap that
    either was accepted, `users_left` users who could not be followed to the end.
    """

    reports: Counter[tuple[int, str]] = field(default_factory=Counter)
    standing: Counter[Account] = field(default_factory=Counter)
    closed: set[Account] = field(default_factory=set)
    near: int = 0
    users_left: int = 0

    def plus(self, other: FieldTally) -> None:
        self.reports.update(other.reports)
        self.standing.update(other.standing)
        self.closed |= other.closed
        self.near += other.near
        self.users_left += other.users_left


def shown(gate: Gate, tally: FieldTally, findings: Findings) -> dict[str, Any]:
    """By the name of each field: what became of it, what was told about it in total over users, and the verdict."""
    wrong = {finding.detail.partition(",")[0] for finding in findings if finding.code in OF_FIELDS}
    caps = {one.name: one.cap for one in gate.fields.each}
    if gate.fields.protected:
        caps[PROTECTED] = gate.fields.protected_cap
    found: dict[str, Any] = {}
    for place, (name, cap) in enumerate(caps.items()):
        now = Counter[int]()
        for account, users in tally.standing.items():
            now[gate.totals(account)[place]] += users
        largest = max([*now, *(gate.totals(account)[place] for account in tally.closed)], default=0)
        within = cap >= UNBOUNDED or largest <= cap + MARGIN
        if name != PROTECTED:
            found[name] = {"reports": {word: tally.reports[place, sign] for sign, word in SIGNS.items()}}
        found.setdefault(name, {}).update(
            total_nats={share: _finite(units) for share, units in _quantiles(now).items()},
            largest_total_nats=_finite(largest),
            cap_nats=_finite(cap),
            within_cap=within,
            verdict="agree" if within and name not in wrong else "disagree",
        )
    return found


def _quantiles(amounts: Counter[int]) -> dict[str, int]:
    """The least amount that so large a share of the users stays within; nothing without users."""
    users, ordered = amounts.total(), sorted(amounts.items())
    found = {}
    for name, share in SHARES.items() if users else ():
        rank, passed = math.ceil(share * users), 0
        for units, many in ordered:
            passed += many
            if passed >= rank:
                found[name] = units
                break
    return found


def _finite(units: int) -> float | None:
    """JSON knows no infinity."""
    return None if units >= UNBOUNDED else nats_of(units)


def lines(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "fields", "nats in total at 50 / 90 / 99 % / most of the users, and ever; cap"
    for name, found in fields.items():
        amounts = " / ".join(_nats(amount) for amount in found["total_nats"].values()) or "nobody"
        ever, cap = _nats(found["largest_total_nats"]), _nats(found["cap_nats"])
        verdict = "agrees" if found["verdict"] == "agree" else "DISAGREES"
        yield f"  {name}", f"{amounts}; ever {ever}; cap {cap}: {verdict}"
        reports = [f"{word} {many:,}" for word, many in found.get("reports", {}).items() if many]
        if reports:
            yield "", ", ".join(reports)


def _nats(amount: float | None) -> str:
    return "unlimited" if amount is None else f"{amount:.4f}"
