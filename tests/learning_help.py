"""A partition that learns its model, without Kafka: cut into blocks as somebody likes, and left at any commit."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from audit_world import RING, TOPIC_ID, settings_text
from pipeline_help import Record

from stream.clock_rows import rows_of_promise
from stream.learning.pipeline import OnlinePipeline
from stream.learning.promises import learning_promise
from stream.learning.record import Epoch, decode_epoch, epoch_number
from stream.promise import Promise, bench_of, compile_promise
from stream.protocol.control import LEARNING_KEY, PROGRESS_KEY, encode_progress
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock, before
from stream.protocol.ports import Outgoing
from stream.settings.declared import declared_model
from stream.settings.load import parse_settings
from stream.settings.model import Settings
from stream.stores.memory import MemoryStore

VALUES = ("still", "walking")


def learning_settings(
    values: Sequence[str] = VALUES, epsilon: float = 3.0, more: str = "", **changes: object
) -> Settings:
    text = settings_text(epsilon=epsilon, **{"nats": "unlimited", **changes})
    start = text.index("model: ")
    line = text[start : text.index("\n", start)]
    learn = f"model: {{learn: {{values: [{', '.join(values)}]{more}}}}}"
    return parse_settings(text.replace(line, learn).encode(), Path("audit.yaml"))


def promise_to_learn(settings: Settings) -> Promise:
    model = declared_model(settings)
    assert model is not None
    return learning_promise(settings, compile_promise(settings, model, RING))


@dataclass
class Learner:
    """What was committed: a store, the topic of releases, the changelog. `crash` forgets everything else."""

    settings: Settings
    releases: list[Outgoing] = field(default_factory=list)
    changelog: list[Outgoing] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.promise = promise_to_learn(self.settings)
        self.bench = bench_of(self.promise)
        self.store = MemoryStore(rows_of_promise(self.settings, self.promise))
        self.begin()

    def begin(self) -> None:
        self.pipeline = OnlinePipeline(self.promise, "phones.raw", TOPIC_ID.bytes, 0, self.bench)
        self.pipeline.adopt(self.store)

    def crash(self, prepared: Sequence[Record] = ()) -> None:
        """After a block was prepared that is never committed."""
        if prepared:
            block = InputBlock.of(prepared)
            self.pipeline.prepare(block[: self._fitting(block, len(block))], self.store)
        self.begin()

    def take(self, records: Sequence[Record], size: Callable[[], int] = lambda: 4000) -> list[Effects]:
        """Carry all of them out in blocks of at most so many, as a lane would."""
        block, found = InputBlock.of(records), []
        while len(block):
            count = self._fitting(block, size())
            found.append(self.pipeline.prepare(block[:count], self.store))
            self._commit(found[-1])
            block = block[count:]
        return found

    def _fitting(self, block: InputBlock, size: int) -> int:
        end = self.pipeline.cut(self.store, int(block.offsets[0]))
        return before([block], end, min(size, len(block)))

    def _commit(self, effects: Effects) -> None:
        marks = {PROGRESS_KEY: encode_progress(effects.next_offset), **effects.marks}
        self.releases += effects.releases
        self.changelog += [*effects.changelog, *(Outgoing(key, value, 0) for key, value in effects.marks.items())]
        position = self.store.position() + len(effects.changelog) + len(marks)
        self.store.apply(effects.keys, effects.heads, effects.codes, position, marks)
        self.cuts.append(effects.next_offset)

    @property
    def mark(self) -> bytes:
        return self.store.marks()[LEARNING_KEY]

    @property
    def epochs(self) -> list[Epoch]:
        marks = self.store.marks()
        numbers = {key: number for key in marks if (number := epoch_number(key)) is not None}
        return [decode_epoch(marks[key], "test") for key in sorted(numbers, key=lambda key: numbers[key])]


def walks(count: int, *, stay: float = 0.95, users: int = 20, seed: int = 0, first: int = 0) -> list[Record]:
    """Users who keep their value with this probability, in turn at random."""
    source = np.random.default_rng(seed)
    who, keeps = source.integers(0, users, count), source.random(count) < stay
    states = source.integers(0, len(VALUES), users)
    found = []
    for i in range(count):
        if not keeps[i]:
            states[who[i]] = (states[who[i]] + 1 + source.integers(0, len(VALUES) - 1)) % len(VALUES)
        value = b'{"activity":"%s","battery":1}' % VALUES[states[who[i]]].encode()
        found.append(Record(first + i, value, b"user-%d" % who[i], 1_700_000_000_000 + 10 * (first + i)))
    return found


def steps_of(row: bytes) -> int:
    return int(struct.unpack_from("<q", row, 48)[0])
