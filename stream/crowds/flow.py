"""The second stage of a flow: events wait until they may go out in a crowd, each once, in the order of their topic.

Everything goes by the records and by the clock marks that are committed between them. The clock of a flow is the
brokers' time of its records, never going back, and each record first lets go what is overdue by then; so where blocks
are cut, and how often they are repeated, changes nothing. Where no record comes, events go out by the clock, as the
release protocol does it: the time is committed first. While the brokers' clock lies behind what it has been, the flow's
stands still: events wait longer then, and none goes out earlier.

What is kept here is a copy of the committed store. It is changed while a block is prepared, before its transaction
commits, and that is sound: a transaction that fails ends the session, and whoever goes on begins with `adopt`.

The grouper chooses; that what it chose is a crowd is looked at again here, event by event, before anything is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from beliefs.checks import Invalid, require
from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.registry import REGISTRY
from mechanisms.crowds.waiting import Arrival
from stream import names
from stream.crowds.boxes import attributes_of
from stream.crowds.flow_release import FlowReleases
from stream.crowds.flow_standing import NEVER, Marks, Standing, decode_waiting, encode_waiting
from stream.crowds.promise import CrowdPromise
from stream.crowds.tuples import Event, Opener, readable_head
from stream.gathering.first import changelog_of
from stream.gathering.sealed import Unsealable, held_refused, require_known_epoch
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.effects import Effects, only_offset
from stream.protocol.inputs import VALUE, InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.records.dead_letters import dead_letter
from stream.records.parse import WHOLE
from stream.records.shapes import Rejected

WARM_EVENTS: Final = 256

_UNREADABLE: Final = Rejected(names.PARTIAL_UNREADABLE, WHOLE)


def form_of(promise: CrowdPromise) -> FlowForm:
    """What the grouper of these crowds is made of."""
    rule, delay = promise.release.rule, promise.flowing
    if rule is None:
        raise ValueError("only records are grouped")
    return FlowForm(attributes_of(promise.release), rule, delay.events, delay.time)


class Crowd(NamedTuple):
    """One record that was released: its number, what it holds, and how long each event waited, in milliseconds."""

    number: int
    emitted: Emitted
    waits: tuple[int, ...]


class FlowTold(NamedTuple):
    """What a block released, for whoever watches; then how many events wait, the flow's clock, and how many clusters
    were merged for these crowds.
    """

    crowds: list[Crowd]
    waiting: int
    clock: int
    merged: int = 0


class Due:
    """When the event that waits longest must go out."""

    def __init__(self) -> None:
        self.next: int | None = None

    def set(self, user: bytes, record: bytes | None) -> None:
        """The grouper knows which event waits longest."""

    def first(self) -> int | None:
        return self.next


class Held(NamedTuple):
    """An event that waits, since when."""

    arrival: int
    event: Event


@dataclass(slots=True)
class _Block:
    """What a block has done so far."""

    held: dict[bytes, bytes] = field(default_factory=dict)
    releases: list[Outgoing] = field(default_factory=list)
    crowds: list[Crowd] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    dead_letters: list[Outgoing] = field(default_factory=list)


class FlowPipeline:
    """The second stage of one partition of the topic with the tuples, to which `sources` of the raw topic come."""

    def __init__(self, promise: CrowdPromise, topic_id: bytes, topic: str, partition: int, sources: range) -> None:
        self._promise, self._topic, self._partition, self._sources = promise, topic, partition, sources
        self._where = f"topic {topic}, partition {partition}"
        self._form, self._grouper = form_of(promise), promise.release.grouper or ""
        sizes = [attribute.cells for attribute in self._form.attributes.each]
        self._opener = Opener(promise.ring, promise.pipeline, topic_id, sources, sizes, self._form.rule.values)
        self._marks = Marks(promise.ring, promise.pipeline, topic_id, partition)
        self._releases = FlowReleases(promise, topic_id, partition)
        self.deadlines = Due()
        self._begin(Standing([NEVER] * len(sources)))

    def _begin(self, standing: Standing) -> None:
        self._standing, self._flow = standing, REGISTRY[self._grouper](self._form)
        self._merged = 0
        self._waiting: dict[int, Held] = {}
        self._here: set[tuple[bytes, int]] = set()
        self.deadlines.next = None

    def adopt(self, store: UserStore) -> int:
        """Start from what was committed; answers how many events wait."""
        mark = store.marks().get(AGGREGATE_KEY)
        try:
            if mark is None:
                self._begin(Standing([NEVER] * len(self._sources)))
            else:
                self._resume(mark, store.held())
        except (Unsealable, Invalid) as error:
            raise held_refused("What waits for its crowd", str(error), self._where) from None
        return len(self._waiting)

    def warm_up(self) -> None:
        """Compile what groups, with a grouper of its own: a few hundred events of a few users, here and there."""
        form, rule = self._form, self._form.rule
        least = replace(rule, k=2, diverse=min(2, rule.diverse))
        flow = REGISTRY[self._grouper](FlowForm(form.attributes, least, WARM_EVENTS // 16, WARM_EVENTS // 16))
        for number in range(WARM_EVENTS):
            cells = tuple(number * number * 7 % attribute.cells for attribute in form.attributes.each)
            value = number % rule.values if rule.values else -1
            flow.take(*Arrival(number, number, number % 5, cells, value))
        flow.overdue(2 * WARM_EVENTS)

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:  # noqa: ARG002 - what waits is its copy
        block = _Block()
        numbers = zip(records.offsets.tolist(), records.timestamps.tolist(), records.texts(VALUE), strict=True)
        for offset, timestamp, value in numbers:
            outcome = self._accept(timestamp, value, block)
            block.outcomes[outcome] += 1
            if outcome == names.DEAD_LETTERED:
                letter = dead_letter(_UNREADABLE, self._topic, self._partition, offset)
                block.dead_letters.append(Outgoing(None, letter, max(0, timestamp)))
        self._standing.last, self._standing.turn = int(records.offsets[-1]), 0
        effects = self._effects(block, max(0, int(records.timestamps[-1])))
        effects.next_offset = self._standing.last + 1
        return effects

    def prepare_overdue(self, store: UserStore, clock: int) -> Effects | None:  # noqa: ARG002
        due = self.deadlines.next
        if due is None or due > clock:
            return None
        block = _Block()
        self._standing.turn += 1
        self._let_overdue_go(clock, block)
        return self._effects(block, clock)

    def _accept(self, timestamp: int, value: bytes | None, block: _Block) -> str:
        """Take an event in; answers what became of it."""
        try:
            head, event = self._opener.open(value)
        except Unsealable:
            sealed = readable_head(value)
            require_known_epoch(self._promise.ring, None if sealed is None else sealed.epoch, self._where)
            return names.DEAD_LETTERED
        standing, source = self._standing, self._sources.index(head.partition)
        if head.offset <= standing.seen[source]:
            return names.REPLAYED
        standing.seen[source] = head.offset
        self._let_overdue_go(timestamp, block)
        if (event.user, event.time) in self._here:
            return names.REPEATED
        number = standing.taken
        standing.taken += 1
        self._wait(number, Held(standing.clock, event))
        block.held[b"%d" % number] = encode_waiting(standing.clock, value or b"")
        self._let_go(self._flow.take(*self._arrival(number)), block)
        return names.TAKEN

    def _let_overdue_go(self, time: int, block: _Block) -> None:
        self._standing.clock = max(self._standing.clock, time)
        self._let_go(self._flow.overdue(self._standing.clock), block)

    def _let_go(self, crowds: Iterable[Emitted], block: _Block) -> None:
        standing = self._standing
        for emitted in crowds:
            held = [self._waiting.pop(number) for number in emitted.seqs]
            number = standing.released
            standing.released += 1
            events = [each.event for each in held]
            block.releases.append(self._releases.record(number, emitted, events, standing.clock))
            waits = tuple(standing.clock - each.arrival for each in held)
            block.crowds.append(Crowd(number, emitted, waits))
            self._here.difference_update((event.user, event.time) for event in events)
            for seq in emitted.seqs:
                key = b"%d" % seq
                if block.held.pop(key, None) is None:  # what came with this block was never held
                    block.held[key] = b""

    def _wait(self, number: int, held: Held) -> None:
        self._waiting[number] = held
        self._here.add((held.event.user, held.event.time))

    def _arrival(self, number: int) -> Arrival:
        arrival, event = self._waiting[number]
        sensitive = event.sensitive if self._form.rule.values else -1
        return Arrival(number, arrival, event.user, event.cells, sensitive)

    def _effects(self, block: _Block, timestamp: int) -> Effects:
        standing, oldest = self._standing, self._flow.oldest
        self.deadlines.next = None if oldest is None else oldest[1] + self._form.time
        require(self._flow.waiting == len(self._waiting) <= self._form.events, "what waits, waits within its delay")
        standing.waiting = len(self._waiting)
        effects = only_offset(0)
        effects.releases, effects.dead_letters = block.releases, block.dead_letters
        effects.changelog, effects.held = changelog_of(block.held, timestamp), block.held
        effects.outcomes = block.outcomes
        effects.reasons = {names.PARTIAL_UNREADABLE: len(block.dead_letters)} if block.dead_letters else {}
        effects.marks = {AGGREGATE_KEY: self._marks.encode(standing, self._flow.state())}
        merged, self._merged = self._flow.merged - self._merged, self._flow.merged
        effects.aggregates = FlowTold(block.crowds, standing.waiting, standing.clock, merged)
        return effects

    def _resume(self, mark: bytes, records: Iterable[tuple[bytes, bytes]]) -> None:
        """Unsealable or Invalid where this is not what was written."""
        standing, known = self._marks.decode(mark)
        if len(standing.seen) != len(self._sources):
            raise Unsealable("the mark is one of another number of partitions")
        self._begin(standing)
        found = sorted((int(key), record) for key, record in records)
        for number, record in found:
            arrival, value = decode_waiting(record)
            self._wait(number, Held(arrival, self._opener.open(value).event))
        if len(found) != standing.waiting:
            raise Unsealable(f"{standing.waiting} events waited, and {len(found)} are there")
        self._flow.restore(known, [self._arrival(number) for number, _ in found])
        oldest = self._flow.oldest
        self.deadlines.next = None if oldest is None else oldest[1] + self._form.time
