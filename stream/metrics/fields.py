"""How users stand with the fields that are protected each by itself: how many have which account, never who.

Users with the same account are one number here, and there are few accounts: everybody's is a step on the same way. So
what is shown are exact amounts, not bins.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from beliefs.rounding import INFINITE, UNITS_PER_NAT, nats
from mechanisms.contract import Integers
from stream.fields.choices import FieldsTold
from stream.fields.gate import CHOICE_NAMES
from stream.fields.promise import FieldsPromise
from stream.fields.rows import ACCOUNT, MARKS, WORDS_OF_FIELD, words_of_fields
from stream.metrics.bins import RELEASE_EDGES, Tally, edges_in_units
from stream.metrics.metric import Kind, Metric

Labels = tuple[str, ...]

QUANTILES: Final = (("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("1", 1.0))
PROTECTED: Final = "record.protect"
"""The label of the field of record.protect."""

_FLOOR = "absent while fewer users than the floor are tracked"

FIELD_REPORTS: Final = Metric(
    "sottovoce_field_reports_total",
    Kind.COUNTER,
    "reports",
    "What was made of each field of the events that were released: reported in full, at a part of epsilon, coarsely, "
    "or withheld because a cap would have been passed.",
    ("field", "choice"),
)
FIELD_SPENT: Final = Metric(
    "sottovoce_field_spent_nats",
    Kind.GAUGE,
    "nats",
    f"The levels of a user's own reports of this field, added up, in the user's current window; {_FLOOR}.",
    ("field", "quantile"),
)
FIELD_TOTAL: Final = Metric(
    "sottovoce_field_total_nats",
    Kind.GAUGE,
    "nats",
    "What has been told about this field of a user in total at most, by its own reports and through all other fields; "
    f"{_FLOOR}.",
    ("field", "quantile"),
)
FIELD_CAP: Final = Metric(
    "sottovoce_field_cap_nats",
    Kind.GAUGE,
    "nats",
    "The most that may be told about this field of a user in total; +Inf where there is no cap.",
    ("field",),
)
FIELD_REALISED: Final = Metric(
    "sottovoce_field_realised_nats",
    Kind.HISTOGRAM,
    "nats",
    "What single reports of the field `through` really told about the field, by the joint table; of up to eight "
    "reports of a block. What is charged is the most that any report could have told.",
    ("field", "through"),
)


class Stands(NamedTuple):
    """Over users, the field's name with each quantile's amount in units."""

    spent: Mapping[Labels, int]
    totals: Mapping[Labels, int]


class FieldCounts:
    """Of one worker. A partition's users leave with it."""

    def __init__(self, promise: FieldsPromise, floor: int) -> None:
        self._promise, self._floor = promise, floor
        self._words = words_of_fields(len(promise.forms))
        self._accounts: dict[int, Counter[bytes]] = {}
        self._totals: dict[bytes, tuple[int, ...]] = {}
        self.choices = {form.name: [0] * len(CHOICE_NAMES) for form in promise.forms}
        self.realised: dict[Labels, Tally] = {}

    def told(self, told: FieldsTold) -> None:
        for name, counts in told.choices.items():
            self.choices[name] = [known + more for known, more in zip(self.choices[name], counts, strict=True)]
        for (through, name), amounts in told.realised.items():
            tally = self.realised.setdefault((name, through), Tally(edges_in_units(RELEASE_EDGES), UNITS_PER_NAT))
            tally.add(np.ceil(amounts * UNITS_PER_NAT).astype(np.int64))

    def change(self, partition: int, old_heads: Integers, new_heads: Integers) -> None:
        """The same users before and after; whoever has no words yet is in no account."""
        accounts = self._accounts.setdefault(partition, Counter())
        accounts.update(self._read(new_heads))
        accounts.subtract(self._read(old_heads))
        for account in [account for account, users in accounts.items() if users <= 0]:
            del accounts[account]

    def lost(self, partition: int) -> None:
        self._accounts.pop(partition, None)

    def samples(self) -> Iterator[tuple[Metric, dict[Labels, float]]]:
        made: dict[Labels, float] = {}
        for name, counts in self.choices.items():
            made |= {(name, choice): float(count) for choice, count in zip(CHOICE_NAMES, counts, strict=True)}
        yield FIELD_REPORTS, made
        stands = self.stands()
        yield FIELD_SPENT, {} if stands is None else _in_nats(stands.spent)
        yield FIELD_TOTAL, {} if stands is None else _in_nats(stands.totals)
        yield FIELD_CAP, _in_nats({(name,): cap for name, cap in self.caps().items()})

    def caps(self) -> dict[str, int]:
        found = {form.name: INFINITE if form.cap is None else form.cap for form in self._promise.forms}
        if self._promise.budget is not None:
            cap = self._promise.protected_cap
            found[PROTECTED] = INFINITE if cap is None else cap
        return found

    def stands(self) -> Stands | None:
        """None while fewer users than the floor are tracked."""
        together: Counter[bytes] = Counter()
        for accounts in self._accounts.values():
            together.update(accounts)
        if together.total() < self._floor:
            return None
        names = list(self.caps())
        users = np.array(list(together.values()), dtype=np.int64)
        totals = np.array([self._totals_of(account) for account in together], dtype=np.int64)
        spent = np.array([_own(account) for account in together], dtype=np.int64)
        return Stands(_quantiles(names[: spent.shape[1]], spent, users), _quantiles(names, totals, users))

    def _read(self, heads: Integers) -> list[bytes]:
        words = heads[:, -self._words :]
        known = np.ascontiguousarray(words[words[:, MARKS] != 0, ACCOUNT:])
        width = known.shape[1] * known.itemsize
        return [known.data.cast("B")[at : at + width].tobytes() for at in range(0, known.nbytes, width)]

    def _totals_of(self, account: bytes) -> tuple[int, ...]:
        """Worked out once for each account; there is nothing to forget while its users have it."""
        found = self._totals.get(account)
        if found is None:
            found = self._promise.totals.of(tuple(np.frombuffer(account, dtype=np.int64).tolist()))
            if len(self._totals) >= 1 << 16:
                self._totals.clear()
            self._totals[account] = found
        return found


def _own(account: bytes) -> list[int]:
    amounts = np.frombuffer(account, dtype=np.int64).reshape(-1, WORDS_OF_FIELD)
    return [min(INFINITE, sum(pair)) for pair in amounts.tolist()]


def _quantiles(names: Sequence[str], amounts: Integers, users: Integers) -> dict[Labels, int]:
    """The least amount that so large a share of the users does not exceed."""
    found: dict[Labels, int] = {}
    for place, name in enumerate(names):
        order = np.argsort(amounts[:, place], kind="stable")
        reached = np.cumsum(users[order])
        for label, share in QUANTILES:
            at = int(np.searchsorted(reached, math.ceil(share * int(reached[-1]))))
            found[name, label] = int(amounts[order[at], place])
    return found


def _in_nats(amounts: Mapping[Labels, int]) -> dict[Labels, float]:
    return {labels: nats(units) for labels, units in amounts.items()}
