"""One partition of the released topic as the adversary reads it, users apart from one another."""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stream.adversary.facts import Facts
from stream.adversary.listeners import listener_to
from stream.attack.mind import GONE
from stream.attack.scores import Limits, Scores, Unit
from stream.attack.watch import KIND, NONE
from stream.audit.amounts import Integers
from stream.audit.book import (
    BEYOND_EPSILON,
    LOWER,
    OUTCOME,
    PUBLISHED,
    RESPONSE,
    STEP,
    TEMPORAL,
    TOP_K,
    UPPER,
    USER,
)
from stream.audit.exact import MOST_NUMBERS
from stream.audit.law import Law
from stream.audit.public import Public
from stream.audit.records import OTHER_MODEL, OTHER_POLICY, UNUSABLE, Reader, Record, is_id
from stream.audit.windows import rows_of
from stream.errors import CannotAudit
from stream.names import HEADER_MODEL, HEADER_RELEASE_ID

TRUTH_AT, KNOWN_AT = OUTCOME + 1, OUTCOME + 2
"""Columns of the events that are kept, behind those of the auditor."""
LOCALLY_PRIVATE = (TOP_K, RESPONSE, TEMPORAL)
"""Epsilon holds against every reader, whatever it believes."""


@dataclass(frozen=True)
class Adversary:
    """The public settings, its own law, and whether that is the pipeline's and nothing else is known."""

    public: Public
    law: Law
    is_the_model_reader: bool

    @property
    def name(self) -> bytes:
        """The pipeline's model, as released records bear it."""
        return self.public.form.model

    @property
    def limits(self) -> Limits:
        rules = self.public.rules
        epsilon = rules.epsilon / 2**40
        if rules.mechanism in BEYOND_EPSILON:
            both = float("inf") if rules.mechanism == PUBLISHED else 2 * epsilon
            return Limits(both, both, both, both)
        same = self.is_the_model_reader or rules.mechanism in LOCALLY_PRIVATE
        if rules.levels.shape[0]:  # upwards the last of them, downwards epsilon; two rows differ by both together
            upper = int(rules.levels[-1]) / 2**40
            across = epsilon + upper
            return Limits(upper, epsilon, upper, epsilon) if same else Limits(across, across, upper, epsilon)
        reader = epsilon if same else 2 * epsilon
        return Limits(reader, reader, epsilon, epsilon)


def unit_of(public: Public) -> Unit:
    """What epsilon is promised of."""
    if public.windows is None:
        return Unit("event", 1)
    cut = public.windows.cut
    return Unit("window", cut.events, shown_together=not cut.natural)


def refuse_unless_followed(reader: Adversary) -> None:
    """Windows through one channel are looked at sequence by sequence, each with a law over states of its own."""
    windows = reader.public.windows
    if windows is None or not windows.cut.dual:
        return
    sequences, states = reader.public.symbols**windows.cut.events, reader.law.start.shape[0]
    if sequences * states > MOST_NUMBERS:
        raise CannotAudit(
            "The adversary's model is too large for these windows.",
            where="option --model",
            why=f"{sequences:,} sequences times {states:,} states are more than {MOST_NUMBERS:,}",
            fix="give a model with fewer states, or leave the option out",
        )


@dataclass
class PartitionWatch:
    """Takes released records in the order of the partition. With `keeping`, events are kept for a second look."""

    adversary: Adversary
    facts: Facts
    keeping: bool = False
    unusable: int = 0
    kept: list[Integers] = field(default_factory=list)

    def __post_init__(self) -> None:
        public = self.adversary.public
        self._reader = Reader(public.form)
        self._listener = listener_to(public, self.adversary.law)
        self.scores = Scores(self.adversary.limits, unit_of(public))

    def take(self, records: Sequence[Record]) -> None:
        parsed = self._reader.read(records)
        fine = parsed.form & (UNUSABLE | OTHER_POLICY | OTHER_MODEL) == 0
        self.unusable += int((~fine).sum())
        self._make_room()
        rows = rows_of(parsed, np.flatnonzero(fine))
        facts = self.facts.about(list(self._reader.users), rows.events[:, [USER, STEP]], rows.ids)
        events, facts, seen = self._listener.take(rows, facts)
        self.scores.add(events[:, USER], seen, facts[:, 0])
        if self.keeping:
            followed = seen[:, KIND] != NONE
            parts = [events[:, : OUTCOME + 1], facts, events[:, OUTCOME + 1 :]]
            self.kept.append(np.concatenate(parts, axis=1)[followed])

    def _make_room(self) -> None:
        users = len(self._reader.users)
        if users > self._listener.book.users.shape[0]:
            size = max(users, self._listener.book.users.shape[0] * 3 // 2, 1024)
            self._listener.make_room(size)
            self.scores.make_room(size)

    @property
    def keys(self) -> list[bytes]:
        return list(self._reader.users)

    @property
    def lost(self) -> int:
        """Users who can no longer be followed."""
        return int(self._listener.mind.stands[: len(self._reader.users), GONE].sum())

    @property
    def waiting(self) -> int:
        """Records whose window has not come to its end."""
        return self._listener.waiting

    def accounts(self) -> Integers:
        """Of each user what all releases may have told by the ledger, in units: of the side that told more for a reader
        who knows the model, and of both together for everybody else."""
        book = self._listener.book
        upper, lower = (book.column(side)[: len(self._reader.users)] for side in (UPPER, LOWER))
        if self.adversary.is_the_model_reader:
            return np.maximum(upper, lower)
        return np.asarray(np.minimum(upper, 2**61) + np.minimum(lower, 2**61))


class SegmentsWatch:
    """One partition of a pipeline in which several models serve: each user is read by the model that his first record
    names. A later record that names another one cannot be followed, and its user is left out from there on.
    """

    def __init__(self, readers: Sequence[Adversary], facts: Facts, *, keeping: bool = False) -> None:
        self.parts = [PartitionWatch(reader, facts, keeping) for reader in readers]
        self._numbers = {reader.name: number for number, reader in enumerate(readers)}
        self._owners: dict[bytes, int] = {}
        self._facts = facts

    def take(self, records: Sequence[Record]) -> None:
        if len(self.parts) == 1:
            self.parts[0].take(records)
        else:
            divided: list[list[Record]] = [[] for _ in self.parts]
            for record in records:
                divided[self._owner(record)].append(record)
            for part, own in zip(self.parts, divided, strict=True):
                if own:
                    part.take(own)
        named = [value for record in records for name, value in record.headers if name == HEADER_RELEASE_ID]
        asked = [unhexlify(value) for value in named if is_id(value)]
        self._facts.asked(asked, in_order=self.parts[0].adversary.public.windows is None)

    def _owner(self, record: Record) -> int:
        """What names no model of the pipeline is read, and refused, by the model of its user, or by the first."""
        named = next((value for name, value in record.headers if name == HEADER_MODEL), b"")
        number = self._numbers.get(named)
        if not record.key or number is None:
            return self._owners.get(record.key or b"", 0)
        return self._owners.setdefault(record.key, number)
