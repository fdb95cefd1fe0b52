"""Releases, gathered into windows of event time: blocks of records in, windows that are over out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mechanisms.contract import Floats, Integers
from mechanisms.local.inverted import part_of
from stream.audit.records import Record
from stream.estimation.asked import Task, middles_of
from stream.estimation.counted import FieldCount, PairCount
from stream.estimation.crossed import Beside, CrossCount
from stream.estimation.epochs import EpochPart, Epochs
from stream.estimation.event_time import EventTime
from stream.estimation.listening import NOWHERE
from stream.estimation.reading import AGAIN, LATE, Block, ReleaseReader, Told
from stream.estimation.seen import Seen
from stream.estimation.sequence import SequencePartition
from stream.estimation.sums import SequenceSums
from stream.fields.gate import COARSE


class Span(NamedTuple):
    """A window's first and last millisecond, the last excluded; of one without an end, the times that were seen."""

    start: int
    end: int


@dataclass
class Window:
    """What has been gathered in one window."""

    task: Task
    place: int
    records: int = 0
    first: int = -1
    last: int = -1

    def __post_init__(self) -> None:
        floor, forms = self.task.floor, {form.name: form for form in self.task.forms}
        self.seen = Seen()
        self.fields = [FieldCount(form, floor) for form in self.task.forms]
        local = [(one, other) for one, other in self.task.asked.joint if one in forms and other in forms]
        self.pairs = [PairCount(forms[one], forms[other]) for one, other in local]
        self.sequence: SequenceSums | None = None
        if self.task.publics:
            symbols, coefficients = self.task.publics[0].symbols, coefficients_of_followed(self.task)
            crosses = [CrossCount(form, symbols, turned) for form, turned in self.task.crossed]
            self.sequence = SequenceSums(symbols, coefficients, crosses=crosses)
        self._users: set[bytes] = set()

    @property
    def span(self) -> Span:
        length = self.task.asked.window
        if length:
            return Span(self.place * length, (self.place + 1) * length)
        return Span(self.first, self.last + 1)

    @property
    def is_small(self) -> bool:
        """Whether fewer users have released anything than may be told of."""
        return len(self._users) < self.task.floor

    def take(self, block: Block, which: Integers) -> None:
        """These records of a block, each read for the first time."""
        if not which.shape[0]:
            return
        times = block.times[which]
        self.records += which.shape[0]
        self.first = int(times.min()) if self.first < 0 else min(self.first, int(times.min()))
        self.last = max(self.last, int(times.max()))
        if len(self._users) < self.task.floor:
            self._users.update(block.keys[at] for at in which.tolist())
        chosen = np.zeros(block.usable.shape[0], dtype=np.bool_)
        chosen[which] = True
        for count, told in zip(self.fields, block.fields, strict=True):
            count.withheld += int(chosen[told.withheld].sum())
            count.wrong += int(chosen[told.wrong].sum())
            for choice, (at, reports) in told.reports.items():
                ours = chosen[at]
                if ours.any():
                    keys = [block.keys[place] for place in at[ours].tolist()]
                    count.add(choice, part_of(reports, ours), keys)
        names = [form.name for form in self.task.forms]
        for pair in self.pairs:
            told_of = [block.fields[names.index(form.name)] for form in pair.forms]
            _take_pairs(pair, told_of[0], told_of[1], chosen, block.keys)


def _take_pairs(
    pair: PairCount, first: Told, second: Told, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], keys: list[bytes]
) -> None:
    """Reports of groups have no place in a table of values."""
    if pair.why_nothing:
        return
    for one, (at, reports) in first.reports.items():
        for other, (beside, others) in second.reports.items():
            both, mine, theirs = np.intersect1d(at, beside, assume_unique=True, return_indices=True)
            ours = chosen[both]
            if COARSE in (one, other):
                pair.coarse += int(ours.sum())
            elif ours.any():
                parts = part_of(reports, mine[ours]), part_of(others, theirs[ours])
                pair.add((one, other), parts, [keys[place] for place in both[ours].tolist()])


def coefficients_of_followed(task: Task) -> Floats | None:
    """The numbers of its values, where they are one number each."""
    middles = middles_of(task.alphabet)
    return np.array(middles[""]) if "" in middles else None


@dataclass
class Gathering:
    """Takes blocks of any partition, in each partition's order."""

    task: Task
    windows: dict[int, Window] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = ReleaseReader(self.task)
        self.time = EventTime(self.task.asked.window, self.task.asked.late)
        self.epochs = Epochs(self.task.publics[0]) if self.task.learns else None
        self._partitions: dict[int, SequencePartition | EpochPart] = {}

    def take(self, partition: int, records: Sequence[Record]) -> None:
        block = self.reader.read(records, lambda name: self._is_known(partition, name))
        places = np.full(len(records), NOWHERE, dtype=np.int64)
        usable = np.flatnonzero(block.usable)
        found = self.time.places(partition, block.times[usable])
        self.reader.counts[LATE] += int((found < 0).sum())
        usable, found = usable[found >= 0], found[found >= 0]
        for place in np.unique(found).tolist():
            window = self._window(int(place))
            which = usable[found == place]
            fresh = window.seen.first(block.ids[which])
            self.reader.counts[AGAIN] += int((~fresh).sum())
            window.take(block, which[fresh])
            places[which[fresh]] = place
        if self.task.publics:
            sums = {place: window.sequence for place, window in self.windows.items() if window.sequence is not None}
            beside = self._beside(block)
            self.reader.counts[LATE] += self._sequence(partition).take(records, places, sums, beside)

    def add_epoch(self, partition: int, record: bytes) -> None:
        """What a partition has learnt, as the belief topic holds it; of no use where nothing is learnt."""
        if self.epochs is not None:
            self.epochs.add(partition, record)

    def over(self) -> Iterator[Window]:
        """Windows that are over, in their order; each is told once."""
        until = self.time.over()
        for place in sorted(place for place in self.windows if place < until):
            yield self.windows.pop(place)
        self.time.told = until

    def rest(self) -> Iterator[Window]:
        """All windows that are left, in their order, as they stand."""
        for place in sorted(self.windows):
            yield self.windows[place]

    def _window(self, place: int) -> Window:
        if place not in self.windows:
            self.windows[place] = Window(self.task, place)
        return self.windows[place]

    def _beside(self, block: Block) -> Beside | None:
        names = [form.name for form in self.task.forms]
        told = [block.fields[names.index(form.name)] for form, _ in self.task.crossed]
        return Beside(told, block.keys, np.arange(len(block.keys))) if told else None

    def _is_known(self, partition: int, model: bytes) -> bool:
        if self.epochs is not None:
            return self.epochs.public(partition, model) is not None
        return model in self.task.models

    def _sequence(self, partition: int) -> SequencePartition | EpochPart:
        if partition not in self._partitions:
            task, transitions = self.task, self.task.asked.transitions
            coefficients = coefficients_of_followed(task)
            if self.epochs is not None:
                learning = EpochPart(self.epochs, partition, coefficients, transitions=transitions)
                self._partitions[partition] = learning
            else:
                part = SequencePartition(task.publics, coefficients, partition, transitions=transitions)
                self._partitions[partition] = part
        return self._partitions[partition]
