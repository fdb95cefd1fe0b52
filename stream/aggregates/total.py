"""The second stage: the partials of all partitions are added up, and every window is released once, in order.

A window is complete when every partition has closed it. What is missing then stays missing: a partition writes its
partials in order and each once, so a gap between two of them, or one that cannot be opened, is a window of which that
partition's users are not known, and it is withheld. Partials wait sealed as they came until all their windows have
their record.

No record that is read releases more than so many windows, whatever gap it ends; the next ones release the rest.

A window's record is a function of its partials, of the losses of the windows before it and of coins that are its own;
so it is the same wherever blocks are cut and however often they are repeated.
"""

from __future__ import annotations

import struct
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from mechanisms.contract import Integers
from stream import names
from stream.aggregates.gather import changelog_of, mark_refused
from stream.aggregates.ledger import Decision, Ledger
from stream.aggregates.partials import WINDOWS_MAX, Opener, Partial, readable_head
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.release import Releases
from stream.aggregates.sealed import Unsealable
from stream.aggregates.standing import Span, Standing, decode, encode
from stream.errors import StateRefused
from stream.keys import LARGEST_EPOCH
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.effects import Effects, only_offset
from stream.protocol.inputs import VALUE, InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.records.dead_letters import dead_letter
from stream.records.parse import WHOLE
from stream.records.shapes import Rejected

WINDOWS_AT_ONCE: Final = 2 * WINDOWS_MAX
"""More than a partial brings, so that what waits behind a gap grows less."""

_UNREADABLE: Final = Rejected(names.PARTIAL_UNREADABLE, WHOLE)


class RawTopic(NamedTuple):
    """The topic whose partitions send their partials."""

    id: bytes
    partitions: int


class Window(NamedTuple):
    """One window that has its record now."""

    number: int
    decision: Decision


class TotalTold(NamedTuple):
    """What a block released, for whoever watches: its windows in order, up to when all windows have their record, how
    many partials wait, and how far the partitions have closed.
    """

    windows: list[Window]
    released_to: int
    waiting: int
    closed_to: tuple[int, ...]


@dataclass(slots=True)
class _Pending:
    key: bytes
    partial: Partial


@dataclass(slots=True)
class _Block:
    """What a block has done so far."""

    held: dict[bytes, bytes] = field(default_factory=dict)
    releases: list[Outgoing] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    dead_letters: list[Outgoing] = field(default_factory=list)


class TotalPipeline:
    """The second stage; `topic` is the one with the partials."""

    deadlines = None  # a silent partition is closed in the first stage

    def __init__(self, promise: AggregatePromise, raw: RawTopic, topic: str) -> None:
        self._promise, self._partitions, self._topic = promise, raw.partitions, topic
        self._where = f"topic {topic}, partition 0"
        self._opener = Opener(
            promise.ring,
            promise.pipeline,
            raw.id,
            raw.partitions,
            cells=promise.cells,
            start=promise.start,
            length=promise.length,
        )
        self._releases = Releases(promise, raw.id)
        self._begin(Standing(promise.start, [promise.start] * raw.partitions), [])

    def _begin(self, standing: Standing, losses: list[int]) -> None:
        self._standing, self._ledger = standing, Ledger(self._promise, losses)
        self._pending: list[deque[_Pending]] = [deque() for _ in range(self._partitions)]

    def adopt(self, store: UserStore) -> int:
        """Start from what was committed; answers 0, since no event waits."""
        self._begin(*self._stored(store))
        waiting = []
        for key, record in store.held():
            try:
                waiting.append(_Pending(key, self._opener.open(record)))
            except Unsealable as error:
                raise StateRefused(
                    "Sums of windows that are not released yet cannot be opened.",
                    where=self._where,
                    why=str(error),
                    fix="put the key epochs back that the ring had; epochs are added, never removed",
                ) from None
        for pending in sorted(waiting, key=lambda each: each.partial.head.closed_to):
            self._pending[pending.partial.head.partition].append(pending)
        return 0

    def warm_up(self) -> None:
        """Compile what draws noise; nothing of it stays."""
        nobody, epoch = np.zeros(self._promise.cells, np.int64), self._promise.ring.current.number
        self._releases.record(0, nobody, Decision(None, 0, 0, 0), epoch)

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:  # noqa: ARG002 - what is pending is its copy
        block = _Block()
        numbers = zip(records.offsets.tolist(), records.timestamps.tolist(), records.texts(VALUE), strict=True)
        for offset, timestamp, value in numbers:
            outcome = self._accept(value, block)
            block.outcomes[outcome] += 1
            if outcome == names.DEAD_LETTERED:
                letter = dead_letter(_UNREADABLE, self._topic, 0, offset)
                block.dead_letters.append(Outgoing(None, letter, max(0, timestamp)))
            self._release_complete(block)
        return self._effects(block, records)

    def _accept(self, value: bytes | None, block: _Block) -> str:
        """Take a partial in; answers what became of it."""
        try:
            partial = self._opener.open(value)
        except Unsealable:
            self._require_known_epoch(value)
            return names.DEAD_LETTERED
        head, closed_to = partial.head, self._standing.closed_to
        known = closed_to[head.partition]
        if head.closed_to <= known:
            return names.REPLAYED
        if head.closed_from < known:
            return names.DEAD_LETTERED
        if head.closed_from > known:
            self._standing.missing.append(Span(head.partition, known, head.closed_from))
        closed_to[head.partition] = head.closed_to
        key = b"%d:%d" % (head.partition, head.closed_to)
        self._pending[head.partition].append(_Pending(key, partial))
        block.held[key] = value or b""
        return names.TAKEN

    def _require_known_epoch(self, value: bytes | None) -> None:
        """A worker whose ring is older than another's must not withhold for good what that one can open."""
        head, newest = readable_head(value), max(epoch.number for epoch in self._promise.ring.epochs)
        if head is not None and newest < head.epoch <= LARGEST_EPOCH:
            raise StateRefused(
                "Sums of windows cannot be opened.",
                where=self._where,
                why=f"they were sealed with key epoch {head.epoch}, and the newest of the key ring is {newest}",
                fix="give this worker the key ring of the others; epochs are added, never removed",
            )

    def _release_complete(self, block: _Block) -> None:
        """Release the windows that all partitions have closed."""
        standing, promise = self._standing, self._promise
        complete = min(*standing.closed_to, standing.released_to + WINDOWS_AT_ONCE * promise.length)
        while standing.released_to < complete:
            start = standing.released_to
            number = (start - promise.start) // promise.length
            decision = self._ledger.decide(missing=standing.is_missing(start))
            sums, epoch = self._sums(start)
            block.releases.append(self._releases.record(number, sums, decision, epoch))
            block.windows.append(Window(number, decision))
            standing.released_to = start + promise.length
            self._drop_released(block)
        standing.forget()

    def _sums(self, start: int) -> tuple[Integers, int]:
        """The cells of the window that begins here, over the partitions whose sums are there, and the latest key epoch
        that they were sealed with.
        """
        sums, latest = np.zeros(self._promise.cells, dtype=np.int64), 0
        for waiting in self._pending:
            if waiting and waiting[0].partial.head.closed_from <= start:
                head, rows = waiting[0].partial
                sums += rows[(start - head.closed_from) // self._promise.length]
                latest = max(latest, head.epoch)
        return sums, latest

    def _drop_released(self, block: _Block) -> None:
        released_to = self._standing.released_to
        for waiting in self._pending:
            while waiting and waiting[0].partial.head.closed_to <= released_to:
                key = waiting.popleft().key
                if block.held.pop(key, None) is None:  # what came with this block was never held
                    block.held[key] = b""

    def _effects(self, block: _Block, records: InputBlock) -> Effects:
        standing = self._standing
        effects = only_offset(int(records.offsets[-1]) + 1)
        effects.releases = block.releases
        effects.dead_letters = block.dead_letters
        effects.changelog = changelog_of(block.held, max(0, int(records.timestamps[-1])))
        effects.held = block.held
        effects.outcomes = block.outcomes
        effects.reasons = {names.PARTIAL_UNREADABLE: len(block.dead_letters)} if block.dead_letters else {}
        effects.marks = {AGGREGATE_KEY: encode(standing, self._ledger.losses)}
        waiting = sum(map(len, self._pending))
        effects.aggregates = TotalTold(block.windows, standing.released_to, waiting, tuple(standing.closed_to))
        return effects

    def _stored(self, store: UserStore) -> tuple[Standing, list[int]]:
        mark, start = store.marks().get(AGGREGATE_KEY), self._promise.start
        if mark is None:
            return Standing(start, [start] * self._partitions), []
        try:
            standing, losses = decode(mark)
        except struct.error:
            raise mark_refused(self._where) from None
        number, rest = divmod(standing.released_to - start, self._promise.length)
        whole = len(losses) == min(number, self._promise.horizon - 1) and min(losses, default=0) >= 0
        if rest or not whole or len(standing.closed_to) != self._partitions:
            raise mark_refused(self._where)  # with a loss less, windows would be told for which the target has no room
        return standing, losses
