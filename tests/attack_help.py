"""An adversary over a pipeline that ran in memory: the truth by release id, and what was seen event by event."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import orjson
from audit_world import TOPIC_ID, Run
from context_models import random_contexts

from beliefs.alphabet import Categories
from beliefs.model_file import Model, parse, serialise_contexts
from stream.adversary.attack import Task, attack_export
from stream.adversary.facts import Facts, Known, Naming
from stream.adversary.result import Result
from stream.adversary.watcher import Adversary, PartitionWatch
from stream.audit.amounts import Floats, Integers
from stream.audit.law import law_of
from stream.audit.records import Record
from stream.audit.rows import release_id
from stream.audit.world import Bounds
from stream.commands.adversary import readers_of
from stream.errors import CannotAudit


def longer_memory(symbols: int, seed: int) -> Model:
    """A random model of order 2."""
    start, laws = random_contexts(random.Random(seed), symbols, 2, least=0.02)
    return parse(serialise_contexts(Categories([f"act{x}" for x in range(symbols)]), 2, start, laws, {}))


class Seen(NamedTuple):
    """Events with truth and knowledge; what the kernel wrote about each; the watcher itself."""

    events: Integers
    rows: Floats
    watched: PartitionWatch


def adversary_of(finished: Run, own: Model | None = None) -> Adversary:
    public = finished.task().public
    if own is None:
        return Adversary(public, public.law, is_the_model_reader=True)
    return Adversary(public, law_of(own.chain), is_the_model_reader=False)


def truth_of(finished: Run, partition: int = 0) -> Known:
    public, found = finished.task().public, Known()
    for one in finished.topics.logs[finished.settings.kafka.raw_topic][partition]:
        try:
            value = orjson.loads(one.value or b"")["activity"]
        except orjson.JSONDecodeError:
            continue
        index = public.form.alphabet.index_of(value)
        if index is None:
            continue
        found.by_id[release_id(TOPIC_ID.bytes, partition, one.offset, public.fingerprint)] = index
    return found


def watching(finished: Run, own: Model | None, side: Known | None) -> tuple[PartitionWatch, list[Floats]]:
    """A watch that has read nothing yet, and the rows that it will score."""
    reader = adversary_of(finished, own)
    if side is not None:
        reader = Adversary(reader.public, reader.law, is_the_model_reader=False)
    watch = PartitionWatch(reader, Facts(truth_of(finished), side or Known()), keeping=True)
    rows: list[Floats] = []
    add = watch.scores.add

    def add_and_keep(users: Integers, seen: Floats, known: Integers) -> None:
        rows.append(seen.copy())
        add(users, seen, known)

    watch.scores.add = add_and_keep  # type: ignore[method-assign]
    return watch, rows


def watched(finished: Run, own: Model | None = None, side: Known | None = None, chunk: int = 300) -> Seen:
    """The first partition read in chunks, everything kept."""
    watch, rows = watching(finished, own, side)
    records = finished.released()
    for start in range(0, len(records), chunk):
        watch.take(records[start : start + chunk])
    return Seen(np.concatenate(watch.kept), np.concatenate(rows), watch)


def attacked(finished: Run, own: Model | None = None, **task: Any) -> Result:
    """All partitions, as from a file; every user by the model of his segment, or by the reader's own. Who knows raw
    values (`side`) is not the reader that epsilon is about.
    """
    readers = readers_of(finished.settings, models_of(finished), own)
    if "side" in task:
        readers = tuple(replace(each, is_the_model_reader=False) for each in readers)
    truth = Known()
    for partition in range(len(finished.topics.logs[finished.settings.kafka.released_topic])):
        truth.by_id.update(truth_of(finished, partition).by_id)
    naming = Naming(readers[0].public.fingerprint, TOPIC_ID.bytes)
    asked = Task("phones", "phones.raw", readers, naming, **{"truth": truth, **task})
    partitions = dict(enumerate(finished.topics.logs[finished.settings.kafka.released_topic]))
    return attack_export(asked, partitions, lambda doing, records: None)


def models_of(finished: Run) -> list[Model]:
    return [finished.model, *getattr(finished, "others", ())]


@dataclass
class Growing:
    """The topics of a finished run, of which so many records of a partition can be seen; one look may break off."""

    finished: Run
    seen: int = 0
    breaks: list[int] = field(default_factory=list)

    async def partitions(self, topic: str) -> Sequence[int]:
        return range(2)

    async def bounds(self, topic: str, partition: int) -> Bounds:
        log = self.finished.topics.logs[topic][partition]
        end = log[-1].offset + 1 if topic.endswith(".raw") else log[min(self.seen, len(log)) - 1].offset + 1
        return Bounds(0, end, end)

    async def read(
        self, topic: str, partition: int, until: int, *, committed: bool, first: int = 0
    ) -> AsyncIterator[Sequence[Record]]:
        ours = [one for one in self.finished.topics.logs[topic][partition] if first <= one.offset < until]
        for start in range(0, len(ours), 70):
            if self.breaks and topic.endswith(".released"):
                self.breaks[0] -= 1
                if self.breaks[0] < 0:
                    self.breaks.pop(0)
                    raise CannotAudit("The brokers did not answer.")
            yield ours[start : start + 70]
