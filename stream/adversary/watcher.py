"""One partition of the released topic as the adversary reads it, users apart from one another."""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from stream.adversary.facts import Facts
from stream.attack.scores import Limits, Scores
from stream.attack.watch import GONE, KIND, NONE, SEEN, grown_mind, new_mind, new_slate, watch
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
    events_of,
    grown,
    new_book,
    new_desk,
    new_verdicts,
)
from stream.audit.law import Law
from stream.audit.public import Public
from stream.audit.records import OTHER_MODEL, OTHER_POLICY, UNUSABLE, Reader, Record, is_id
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
            channel = float("inf") if rules.mechanism == PUBLISHED else 2 * epsilon
            return Limits(channel, channel)
        same = self.is_the_model_reader or rules.mechanism in LOCALLY_PRIVATE
        if rules.levels.shape[0]:  # upwards the last of them, downwards epsilon; two rows differ by both together
            upper = int(rules.levels[-1]) / 2**40
            return Limits(upper if same else epsilon + upper, upper)
        return Limits(epsilon if same else 2 * epsilon, epsilon)


def refuse_unless_followed(public: Public) -> None:
    if public.windows is not None:
        raise CannotAudit(
            "The adversary does not read windows.",
            where="settings, window",
            why="values of a window are released under one channel for all of them; single releases are read so far",
            fix="ask `sottovoce audit` what windows tell; leave `window` out where an adversary is to be watched",
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
        public, law = self.adversary.public, self.adversary.law
        self._reader = Reader(public.form)
        self._desk = new_desk(public.states, public.symbols, public.distance)
        self._book = new_book(0, public.states, public.listed, public.rules.sliding)
        self._mind = new_mind(0, law.start.shape[0])
        self._slate = new_slate(law.start.shape[0], public.symbols)
        self.scores = Scores(self.adversary.limits)

    def take(self, records: Sequence[Record]) -> None:
        public = self.adversary.public
        parsed = self._reader.read(records)
        fine = parsed.form & (UNUSABLE | OTHER_POLICY | OTHER_MODEL) == 0
        self.unusable += int((~fine).sum())
        self._make_room()
        which = np.flatnonzero(fine)
        events = events_of(*(column[which] for column in parsed[:5]))
        facts = self.facts.about(list(self._reader.users), events[:, [USER, STEP]], parsed.id[which])
        seen = np.zeros((which.shape[0], SEEN))
        watch(
            public.rules,
            public.law,
            self._desk,
            self._book,
            self.adversary.law,
            self._mind,
            self._slate,
            events,
            facts,
            new_verdicts(which.shape[0]),
            seen,
        )
        self.scores.add(events[:, USER], seen, facts[:, 0])
        if self.keeping:
            followed = seen[:, KIND] != NONE
            self.kept.append(np.concatenate([events[:, : OUTCOME + 1], facts], axis=1)[followed])

    def _make_room(self) -> None:
        users = len(self._reader.users)
        if users > self._book.users.shape[0]:
            size = max(users, self._book.users.shape[0] * 3 // 2, 1024)
            self._book, self._mind = grown(self._book, size), grown_mind(self._mind, size)
            self.scores.make_room(size)

    @property
    def keys(self) -> list[bytes]:
        return list(self._reader.users)

    @property
    def lost(self) -> int:
        """Users who can no longer be followed."""
        return int(self._mind.stands[: len(self._reader.users), GONE].sum())

    def accounts(self) -> Integers:
        """Of each user what all releases may have told by the ledger, in units: of the side that told more for a reader
        who knows the model, and of both together for everybody else."""
        upper, lower = (self._book.column(side)[: len(self._reader.users)] for side in (UPPER, LOWER))
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
        named = (value for record in reversed(records) for name, value in record.headers if name == HEADER_RELEASE_ID)
        last = next((value for value in named if is_id(value)), None)
        if last is not None:
            self._facts.asked_up_to(unhexlify(last))

    def _owner(self, record: Record) -> int:
        """What names no model of the pipeline is read, and refused, by the model of its user, or by the first."""
        named = next((value for name, value in record.headers if name == HEADER_MODEL), b"")
        number = self._numbers.get(named)
        if not record.key or number is None:
            return self._owners.get(record.key or b"", 0)
        return self._owners.setdefault(record.key, number)
