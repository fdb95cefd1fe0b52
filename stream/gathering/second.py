"""The second stage: what all partitions have sent is put together, and every window is released once, in order.

A window is complete when every partition has closed it. What is missing then stays missing: a partition sends its
windows in order and each once, so a gap between two of its envelopes, or one that cannot be opened, is a window of
which that partition's users are not known, and it is withheld. Envelopes wait sealed as they came until all their
windows have their record. Where a window takes several, they follow one another, and it counts as sent with the last.

No record that is read releases more than so many windows, whatever gap it ends; the next ones release the rest.

A window's record is a function of its envelopes, of what is remembered of the windows before it and of coins that are
its own; so it is the same wherever blocks are cut and however often they are repeated.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from stream import names
from stream.gathering.envelopes import Head, readable_head
from stream.gathering.first import Timing, changelog_of, mark_refused
from stream.gathering.sealed import Unsealable, held_refused, require_known_epoch
from stream.gathering.standing import Span, Standing, decode, encode
from stream.keys import KeyRing
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.effects import Effects, only_offset
from stream.protocol.inputs import VALUE, InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.records.dead_letters import dead_letter
from stream.records.parse import WHOLE
from stream.records.shapes import Rejected

WINDOWS_AT_ONCE: Final = 512
"""More than an envelope brings, so that what waits behind a gap grows less."""

_UNREADABLE: Final = Rejected(names.PARTIAL_UNREADABLE, WHOLE)


class RawTopic(NamedTuple):
    """The topic whose partitions send their windows."""

    id: bytes
    partitions: int


class Opened(Protocol):
    """What an envelope holds, ready to be put together."""

    @property
    def head(self) -> Head: ...


Sent = TypeVar("Sent", bound=Opened)
Sent_co = TypeVar("Sent_co", bound=Opened, covariant=True)
Window = TypeVar("Window")
"""What is told of a window that has its record now, for whoever watches."""


class Opener(Protocol[Sent_co]):
    def open(self, value: bytes | None) -> Sent_co:
        """Unsealable where it is not what a partition of this pipeline sends."""


@dataclass(slots=True)
class _Pending(Generic[Sent]):
    key: bytes
    sent: Sent


@dataclass(slots=True)
class _Block(Generic[Window]):
    """What a block has done so far."""

    held: dict[bytes, bytes] = field(default_factory=dict)
    releases: list[Outgoing] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    dead_letters: list[Outgoing] = field(default_factory=list)


class SecondStage(ABC, Generic[Sent, Window]):
    """The second stage of one partition of `topic`, to which the partitions `senders` of the raw topic send."""

    deadlines = None  # a silent partition is closed in the first stage

    def __init__(
        self, timing: Timing, ring: KeyRing, opener: Opener[Sent], senders: range, topic: str, partition: int = 0
    ) -> None:
        self._timing, self._ring, self._opener = timing, ring, opener
        self._senders, self._topic, self._partition = senders, topic, partition
        self._where = f"topic {topic}, partition {partition}"
        self._begin(Standing(timing.start, [timing.start] * len(senders)))

    @abstractmethod
    def _release(self, number: int, sent: Sequence[Sent], *, missing: bool) -> tuple[list[Outgoing], Window]:
        """The records of the next window. `sent` are the envelopes with it, by partition and part; `missing`: what some
        partition has of it is not there.
        """

    @abstractmethod
    def _remembered(self) -> bytes:
        """What stands in the mark of the windows before the next one."""

    @abstractmethod
    def _remember(self, remembered: bytes | None, windows: int) -> None:
        """Begin with what the mark says after so many windows, None before the first; struct.error where it says
        something else.
        """

    @abstractmethod
    def _told(self, windows: list[Window], standing: Standing, waiting: int) -> object:
        """For whoever watches."""

    def _kept(self) -> Mapping[bytes, bytes]:
        """What is to be held beside envelopes, of what has changed since this was asked before."""
        return {}

    def _take_kept(self, kept: Mapping[bytes, bytes]) -> None:
        """Begin with what is held beside envelopes."""

    def _is_enough(self, windows: Sequence[Window]) -> bool:
        """Whether a record that is read shall release no more after these."""
        return len(windows) >= WINDOWS_AT_ONCE

    def _begin(self, standing: Standing) -> None:
        self._standing = standing
        self._pending: list[deque[_Pending[Sent]]] = [deque() for _ in self._senders]

    def adopt(self, store: UserStore) -> int:
        """Start from what was committed; answers 0, since no event waits."""
        self._begin(self._stored(store))
        waiting, kept = [], {}
        for key, record in store.held():
            if not key[:1].isdigit():
                kept[key] = record
                continue
            try:
                waiting.append(_Pending(key, self._opener.open(record)))
            except Unsealable as error:
                what = "What partitions have sent of windows that are not released yet"
                raise held_refused(what, str(error), self._where) from None
        for pending in sorted(waiting, key=lambda each: (each.sent.head.closed_to, each.sent.head.part)):
            self._pending[self._senders.index(pending.sent.head.partition)].append(pending)
        self._take_kept(kept)
        return 0

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:  # noqa: ARG002 - what is pending is its copy
        block = _Block[Window]()
        numbers = zip(records.offsets.tolist(), records.timestamps.tolist(), records.texts(VALUE), strict=True)
        for offset, timestamp, value in numbers:
            outcome = self._accept(value, block)
            block.outcomes[outcome] += 1
            if outcome == names.DEAD_LETTERED:
                letter = dead_letter(_UNREADABLE, self._topic, self._partition, offset)
                block.dead_letters.append(Outgoing(None, letter, max(0, timestamp)))
            self._release_complete(block)
        return self._effects(block, records)

    def _accept(self, value: bytes | None, block: _Block[Window]) -> str:
        """Take an envelope in; answers what became of it."""
        try:
            sent = self._opener.open(value)
        except Unsealable:
            head = readable_head(value)
            require_known_epoch(self._ring, None if head is None else head.epoch, self._where)
            return names.DEAD_LETTERED
        return self._placed(sent, value or b"", block)

    def _placed(self, sent: Sent, value: bytes, block: _Block[Window]) -> str:
        head, closed_to = sent.head, self._standing.closed_to
        place = self._senders.index(head.partition)
        known, parts = closed_to[place], self._parts(place)
        if head.closed_to <= known or (head.closed_from == known and head.part < parts):
            return names.REPLAYED
        if head.closed_from < known:
            return names.DEAD_LETTERED
        if head.closed_from > known or head.part > parts:
            # Of a window some of whose parts are lost nothing is known.
            self._give_up(place, block)
            lost_to = head.closed_to if head.part > 0 else head.closed_from
            self._standing.missing.append(Span(head.partition, known, lost_to))
            closed_to[place] = lost_to
            if head.part > 0:
                return names.TAKEN
        if head.part == head.parts - 1:
            closed_to[place] = head.closed_to
        key = b"%d:%d" % (head.partition, head.closed_to)
        if head.part > 0:
            key += b":%d" % head.part
        self._pending[place].append(_Pending(key, sent))
        block.held[key] = value
        return names.TAKEN

    def _parts(self, place: int) -> int:
        """How many parts are there of a window whose last one is not."""
        waiting, known = self._pending[place], self._standing.closed_to[place]
        return waiting[-1].sent.head.part + 1 if waiting and waiting[-1].sent.head.closed_to > known else 0

    def _give_up(self, place: int, block: _Block[Window]) -> None:
        for _ in range(self._parts(place)):
            self._drop(self._pending[place].pop().key, block)

    def _release_complete(self, block: _Block[Window]) -> None:
        """Release the windows that all partitions have closed."""
        standing, timing = self._standing, self._timing
        complete, before = min(standing.closed_to), len(block.windows)
        while standing.released_to < complete and not self._is_enough(block.windows[before:]):
            start = standing.released_to
            number = (start - timing.start) // timing.length
            records, window = self._release(number, self._sent(start), missing=standing.is_missing(start))
            block.releases += records
            block.windows.append(window)
            standing.released_to = start + timing.length
            self._drop_released(block)
        standing.forget()

    def _sent(self, start: int) -> list[Sent]:
        """What is there of the window that begins here."""
        found: list[Sent] = []
        for waiting in self._pending:
            for pending in waiting:
                if not pending.sent.head.closed_from <= start < pending.sent.head.closed_to:
                    break
                found.append(pending.sent)
        return found

    def _drop_released(self, block: _Block[Window]) -> None:
        released_to = self._standing.released_to
        for waiting in self._pending:
            while waiting and waiting[0].sent.head.closed_to <= released_to:
                self._drop(waiting.popleft().key, block)

    @staticmethod
    def _drop(key: bytes, block: _Block[Window]) -> None:
        if block.held.pop(key, None) is None:  # what came with this block was never held
            block.held[key] = b""

    def _effects(self, block: _Block[Window], records: InputBlock) -> Effects:
        standing = self._standing
        held = {**block.held, **self._kept()}
        effects = only_offset(int(records.offsets[-1]) + 1)
        effects.releases = block.releases
        effects.dead_letters = block.dead_letters
        effects.changelog = changelog_of(held, max(0, int(records.timestamps[-1])))
        effects.held = held
        effects.outcomes = block.outcomes
        effects.reasons = {names.PARTIAL_UNREADABLE: len(block.dead_letters)} if block.dead_letters else {}
        effects.marks = {AGGREGATE_KEY: encode(standing, self._remembered())}
        effects.aggregates = self._told(block.windows, standing, sum(map(len, self._pending)))
        return effects

    def _stored(self, store: UserStore) -> Standing:
        mark, start = store.marks().get(AGGREGATE_KEY), self._timing.start
        if mark is None:
            self._remember(None, 0)
            return Standing(start, [start] * len(self._senders))
        try:
            standing, remembered = decode(mark)
            number, rest = divmod(standing.released_to - start, self._timing.length)
            if rest or len(standing.closed_to) != len(self._senders):
                raise struct.error("of other windows")
            self._remember(remembered, number)
        except struct.error:
            raise mark_refused(self._where) from None
        return standing
