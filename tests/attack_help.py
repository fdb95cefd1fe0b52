"""An adversary over a pipeline that ran in memory: the truth by release id, and what was seen event by event."""

from __future__ import annotations

import random
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
from stream.audit.rows import release_id


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
        assert index is not None
        found.by_id[release_id(TOPIC_ID.bytes, partition, one.offset, public.fingerprint)] = index
    return found


def watched(finished: Run, own: Model | None = None, side: Known | None = None, chunk: int = 300) -> Seen:
    """The first partition read in chunks, everything kept."""
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
    records = finished.released()
    for start in range(0, len(records), chunk):
        watch.take(records[start : start + chunk])
    return Seen(np.concatenate(watch.kept), np.concatenate(rows), watch)


def attacked(finished: Run, own: Model | None = None, **task: Any) -> Result:
    """All partitions, as from a file."""
    reader = adversary_of(finished, own)
    truth = Known()
    for partition in range(len(finished.topics.logs[finished.settings.kafka.released_topic])):
        truth.by_id.update(truth_of(finished, partition).by_id)
    naming = Naming(reader.public.fingerprint, TOPIC_ID.bytes)
    given = {"truth": truth, **task}
    partitions = dict(enumerate(finished.topics.logs[finished.settings.kafka.released_topic]))
    return attack_export(Task("phones", "phones.raw", reader, naming, **given), partitions, lambda doing, records: None)
