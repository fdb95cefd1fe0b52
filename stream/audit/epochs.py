"""The audit of one partition that learns its model: which epochs there were, whether each follows from the releases
before it, and each release under the model of its own epoch.

The records of epochs stand in the belief changelog. Nothing in them is believed: the counts are taken once more from
the releases, what follows from the counts is worked out once more (learnt.py), and so is the offset of the raw record
that each release belongs to, by its id. What is not worked out is whether a partition should have changed its epoch
when it might have: that decides how much is kept, and nothing that is promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np

from stream import names
from stream.audit.amounts import DRIFT_UNKNOWN, LEVELS, Integers, constants_by_level, constants_of
from stream.audit.book import DRIFT, NEVER, OPTIMAL, RELEASE, RESPONSE, STEPS, UNSETTLED, Book
from stream.audit.changelog import PartitionLog
from stream.audit.epoch_records import Epoch, Learning, counts_in_mark, read_epochs, wrong_in
from stream.audit.findings import PLACES_SHOWN, Findings
from stream.audit.law import law_of
from stream.audit.partition import PartitionAudit
from stream.audit.public import Public
from stream.audit.records import Parsed, Record
from stream.audit.repeats import IdIndex
from stream.audit.rows import StoredRows, release_id
from stream.audit.settle import settling

_SHAVE: Final = 64
_NONE: Final = -1
_NO_EPOCH: Final = 0


@dataclass
class _Pairs:
    """The latest event of each user: its epoch, its step, and its value if it was released."""

    epoch: Integers
    step: Integers
    value: Integers

    @classmethod
    def of(cls, users: int) -> _Pairs:
        nothing = np.zeros(users, dtype=np.int64)
        return cls(nothing + _NO_EPOCH, nothing.copy(), nothing + _NONE)

    def grown(self, users: int) -> _Pairs:
        more = _Pairs.of(max(0, users - self.epoch.shape[0]))
        columns = [(self.epoch, more.epoch), (self.step, more.step), (self.value, more.value)]
        return _Pairs(*(np.concatenate(pair) for pair in columns))


class EpochAudit(PartitionAudit):
    """Takes released records in the order of the partition; `close` makes the comparison."""

    def __init__(
        self,
        learning: Learning,
        public: Public,
        log: PartitionLog,
        settled: int,
        findings: Findings,
        ids: IdIndex,
    ) -> None:
        super().__init__(public, log.partition, log.stored[0], settled, findings, ids)
        self._learning, self._base, self._log, self._settled_at = learning, public, log, settled
        self._epochs = {epoch.number: epoch for epoch in read_epochs(log, findings)}
        self._counts = {number: np.zeros((learning.values,) * 2, dtype=np.int64) for number in self._epochs}
        self._pairs, self._epoch, self._next = _Pairs.of(self._known), _NO_EPOCH, 0
        self._finds_offsets = log.topic_id is not None

    def take(self, records: Sequence[Record]) -> None:
        for number, group in groupby(records, key=_epoch_of):
            its = list(group)
            epoch = self._epochs.get(number)
            if epoch is not None:
                self._enter(epoch)
                super().take(its)
            elif its[0].offset >= self._settled_at and number > max(self._epochs, default=_NO_EPOCH):
                self.tally.records += len(its)
                self.tally.later += len(its)
            else:
                self._wrong("releases", len(its), [record.offset for record in its[:PLACES_SHOWN]])

    def _enter(self, epoch: Epoch) -> None:
        if epoch.number == self._epoch:
            return
        if epoch.number < self._epoch:
            self._wrong("order", 1, [])
        self._epoch, self._public = epoch.number, public_in(self._base, epoch)
        self._reader.form = self._public.form

    def _follow(self, parsed: Parsed, which: Integers) -> None:
        self._pairs = self._pairs.grown(len(self._reader.users))
        self._adopt(np.unique(parsed.user[which]))
        self._find_offsets(parsed, which)
        super()._follow(parsed, which)
        self._count_pairs(parsed, which)

    def _adopt(self, users: Integers) -> None:
        """Users who come from another epoch: what is believed about them may be anything."""
        new = users[(self._pairs.epoch[users] != self._epoch) & (self._book.users[users, STEPS] > 0)]
        adopt(self._book, new, self._public.rules.settle)

    def _find_offsets(self, parsed: Parsed, which: Integers) -> None:
        """Releases come in the order of their raw records, and an epoch is some of the offsets in a row."""
        topic_id, end = self._log.topic_id, self._log.progress or 0
        last = min((epoch.first for epoch in self._epochs.values() if epoch.number > self._epoch), default=end)
        if topic_id is None or not self._finds_offsets:
            return
        fingerprint, outside = self._public.fingerprint, []
        for place in which.tolist():
            wanted = bytes(parsed.id[place])
            while self._next < end and release_id(topic_id, self._partition, self._next, fingerprint) != wanted:
                self._next += 1
            if self._next >= end:
                self._finds_offsets = False
                outside.append(int(parsed.offset[place]))
                break
            if not self._epochs[self._epoch].first <= self._next < last:
                outside.append(int(parsed.offset[place]))
            self._next += 1
        self._wrong("offsets", len(outside), outside[:PLACES_SHOWN])

    def _count_pairs(self, parsed: Parsed, which: Integers) -> None:
        pairs, counts, now = self._pairs, self._counts[self._epoch], self._epoch
        columns = (parsed.user, parsed.step, parsed.value, parsed.outcome)
        for user, step, value, outcome in zip(*(column[which].tolist() for column in columns), strict=True):
            told = outcome == RELEASE
            follows = pairs.epoch[user] == now and pairs.step[user] == step - 1 and pairs.value[user] != _NONE
            if told and follows:
                counts[pairs.value[user], value] += 1
            pairs.epoch[user], pairs.step[user], pairs.value[user] = now, step, value if told else _NONE

    def close(self, topic_id: bytes | None) -> None:
        self._pairs = self._pairs.grown(len(self._reader.users))
        super().close(topic_id)
        before: Epoch | None = None
        for epoch in self._epochs.values():
            counts = None if before is None else self._counts[before.number]
            for detail in wrong_in(epoch, before, counts, self._learning):
                self._findings.add("wrong_epoch", 1, [f"{self._log.where}, epoch {epoch.number}"], detail=detail)
            before = epoch
        if before is not None and not before.informed:
            kept = counts_in_mark(self._log, self._learning.values)
            if kept is None or not np.array_equal(kept, self._counts[before.number]):
                self._findings.add("wrong_epoch", 1, [self._log.where], detail="mark")

    def _compare(self, stored: StoredRows, latest: Integers, topic_id: bytes | None) -> None:
        super()._compare(stored, latest, topic_id)
        tags = stored.rows["tag"].astype(np.int64)
        wrong = np.flatnonzero((latest > 0) & (tags != self._pairs.epoch[: self._known]))
        self._findings.add("state_differs", wrong.shape[0], self._states_at(stored, wrong.tolist()), detail="epoch")

    def _wrong(self, detail: str, count: int, offsets: Sequence[int]) -> None:
        released = f"{self._base.released_topic}, partition {self._partition}"
        places = [f"{released}, offset {offset}" for offset in offsets] or [released]
        self._findings.add("wrong_epoch", count, places, detail=detail)


def adopt(book: Book, users: Integers, settle: int) -> None:
    """What is believed about users who come from another epoch may be anything; a blind epoch begins evenly."""
    book.users[users, DRIFT] = DRIFT_UNKNOWN
    book.users[users, UNSETTLED] = max(settle, 0)
    if settle == NEVER:
        book.beliefs[users] = book.beliefs[users].max(axis=1, keepdims=True)


def _epoch_of(record: Record) -> int:
    """The number in front of the colon of the header `model`."""
    number = dict(record.headers).get(names.HEADER_MODEL, b"").partition(b":")[0]
    return int(number) if number.isdigit() and len(number) < 19 else _NO_EPOCH


def public_in(base: Public, epoch: Epoch) -> Public:
    """What holds in this epoch: randomised response over all values, charged what it tells anybody; or `optimal`."""
    rules, law = base.rules, law_of(epoch.model.chain)
    epsilon = rules.epsilon
    if epoch.informed:
        settle, settled = settling(law.contraction)
        numbers = constants_by_level(epsilon, epoch.withheld)
        rules = rules._replace(mechanism=OPTIMAL, numbers=numbers, shift=epoch.withheld, settle=settle, settled=settled)
    else:
        numbers = np.array([constants_of(epsilon - _SHAVE)] * LEVELS)
        rules = rules._replace(mechanism=RESPONSE, numbers=numbers, shift=epsilon - epsilon // 2)
    form = replace(base.form, model=f"{epoch.number}:{epoch.model.short}".encode())
    return replace(base, form=form, rules=rules, law=law, tag=epoch.number)
