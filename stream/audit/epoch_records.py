"""The records of epochs as the auditor reads them from the belief changelog, and what may be wrong with one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from beliefs.model_file import InvalidModel, Model, parse
from stream.audit.amounts import Integers
from stream.audit.changelog import PartitionLog
from stream.audit.findings import Findings
from stream.audit.law import law_of
from stream.audit.learnt import is_close, learnt_from, needed_for, rows_agree

_EPOCH_KEY: Final = b"E"
_NUMBER_BYTES: Final = 8
_MARK_KEY: Final = b"e"
_MARK_HEAD: Final = 60
_FIRST_LOOK, _LOOK_EVERY = 1024, 4096
_FEW_UNITS: Final = 16
"""The total variation of a distance is worked out in another way here; some last digits of a double may differ."""


@dataclass(frozen=True)
class Learning:
    """What is declared."""

    values: int
    epsilon: int
    doubt: float


@dataclass(frozen=True, eq=False)
class Epoch:
    number: int
    first: int
    because: str
    model: Model
    withheld: int
    tests: int
    error: float | None
    counts: Integers | None

    @property
    def informed(self) -> bool:
        return self.because == "learnt"


def read_epochs(log: PartitionLog, findings: Findings) -> list[Epoch]:
    """In the order of their numbers; one that cannot be read is reported, and its releases are then of no epoch."""
    found = {}
    for key, value in log.marks.items():
        if key[:1] == _EPOCH_KEY and len(key) == 1 + _NUMBER_BYTES:
            number = int.from_bytes(key[1:], "big")
            try:
                found[number] = epoch_of(json.loads(value), number)
            except (InvalidModel, ValueError, KeyError, TypeError):
                findings.add("wrong_epoch", 1, [f"{log.where}, epoch {number}"], detail="record")
    return [found[number] for number in sorted(found)]


def epoch_of(document: Any, number: int) -> Epoch:
    counts = document["counts"]
    if document["epoch"] != number or document["because"] not in ("start", "learnt", "drift"):
        raise ValueError
    return Epoch(
        number,
        int(document["first_offset"]),
        document["because"],
        parse(json.dumps(document["model"], ensure_ascii=False).encode()),
        int(document["withheld_units"]),
        int(document["tests"]),
        None if document["error"] is None else float(document["error"]),
        None if counts is None else np.array(counts, dtype=np.int64),
    )


def counts_in_mark(log: PartitionLog, values: int) -> Integers | None:
    """The counts of an epoch that is still learning."""
    mark = log.marks.get(_MARK_KEY, b"")[_MARK_HEAD:]
    if len(mark) != 8 * values * values:
        return None
    return np.frombuffer(mark, dtype=">i8").astype(np.int64).reshape(values, values)


def wrong_in(epoch: Epoch, before: Epoch | None, counts: Integers | None, learning: Learning) -> Iterator[str]:
    """What does not follow: the epoch's place behind the one before, the counts, or what was made of them."""
    if before is None:
        if epoch.number != 1 or epoch.because != "start" or epoch.tests != 0:
            yield "order"
    elif epoch.number != before.number + 1 or epoch.because != ("drift" if before.informed else "learnt"):
        yield "order"
    elif not _may_begin(epoch, before):
        yield "first_offset"
    if epoch.informed:
        yield from _wrong_in_model(epoch, counts, learning)
    elif not all(is_close(chance, 1.0 / learning.values) for chance in np.ravel(epoch.model.chain.dense).tolist()):
        yield "model"


def _may_begin(epoch: Epoch, before: Epoch) -> bool:
    """An epoch that learns is looked at after 1,024 offsets, and twice as many each time; an informed one after every
    4,096. Each look at counts takes its part of the doubt.
    """
    length = epoch.first - before.first
    if before.informed:
        return length > 0 and length % _LOOK_EVERY == 0 and epoch.tests == before.tests
    looks = (length // _FIRST_LOOK).bit_length()
    return length == _FIRST_LOOK << max(looks - 1, 0) and epoch.tests == before.tests + looks


def _wrong_in_model(epoch: Epoch, counts: Integers | None, learning: Learning) -> Iterator[str]:
    if counts is None or epoch.counts is None or not np.array_equal(counts, epoch.counts):
        yield "counts"
        return
    chain, law = epoch.model.chain, law_of(epoch.model.chain)
    found = learnt_from(counts, learning.epsilon, learning.doubt, epoch.tests)
    if not rows_agree(found, chain.dense, chain.start.tolist()):
        yield "model"
    error = math.inf if epoch.error is None else epoch.error
    if not is_close(error, found.error):
        yield "error"
    needed = needed_for(error, learning.epsilon, law.contraction, law.span)
    if abs(epoch.withheld - needed) > _FEW_UNITS:
        yield "withheld"
