"""Where one partition's learning stands after a block, as bytes: the epoch mark of the belief changelog.

It is written in the transaction of the block, so it cannot part from the rows and releases that it speaks of. What an
epoch began with is not in it, but in the epoch's own record (`record.py`), which stays for ever. Version 1, big-endian:

    offset  size  field
         0     1  version, 1
         1     1  phase: 0 learning, 1 informed
         2     2  how many values there are, n
         4     8  number of the epoch, from 1
        12     8  the partition's offset at which the epoch began
        20     8  looks: how many checkpoints of the epoch lie behind
        28     8  tests: checkpoints at which anything was learnt, those of earlier epochs included
        36     8  how far the latest model may be off, a double, see `record.py`; infinite where that is not known
        44     8  agreement that was predicted for the blind releases at the latest look, a double; 0 before the first
        52     8  the same for informed ones
        60  8n^2  while learning: how often value y was released right after value x, row x by row x
     or 60    72  while informed: the monitor of the model, eight doubles (beliefs/score.py), and its largest evidence
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.score import Floats
from mechanisms.contract import Integers
from stream.errors import StateRefused
from stream.learning.carried import KEPT, new_evidence

VERSION: Final = 1
_HEAD: Final = struct.Struct(">BBHqqqqddd")


@dataclass(frozen=True, eq=False)
class Mark:
    """The arrays are nobody's to change: a block works on copies."""

    epoch: int
    first: int
    counts: Integers
    """Of released pairs, while learning; what the epoch was learnt from is in its record."""
    score: Floats
    """The monitor's, while informed."""
    informed: bool = False
    looks: int = 0
    tests: int = 0
    error: float = math.inf
    blind_agreement: float = 0.0
    informed_agreement: float = 0.0


def first_mark(values: int, offset: int) -> Mark:
    return Mark(1, offset, np.zeros((values, values), dtype=np.int64), new_evidence())


def encode_mark(mark: Mark) -> bytes:
    values = mark.counts.shape[0]
    head = _HEAD.pack(
        VERSION,
        int(mark.informed),
        values,
        mark.epoch,
        mark.first,
        mark.looks,
        mark.tests,
        mark.error,
        mark.blind_agreement,
        mark.informed_agreement,
    )
    return head + (mark.score.astype(">f8").tobytes() if mark.informed else mark.counts.astype(">i8").tobytes())


def decode_mark(raw: bytes, values: int, where: str) -> Mark:
    if len(raw) < _HEAD.size:
        raise _unreadable(f"it has {len(raw)} bytes, fewer than its head of {_HEAD.size}", where)
    version, phase, size, epoch, first, looks, tests, error, blind, informed = _HEAD.unpack_from(raw)
    if version != VERSION or phase > 1:
        raise _unreadable(f"version {version}, phase {phase} is unknown", where)
    if size != values:
        raise _unreadable(f"it speaks of {size} values, the settings of {values}", where)
    body = raw[_HEAD.size :]
    expected = 8 * KEPT if phase else 8 * values * values
    if len(body) != expected:
        raise _unreadable(f"it has {len(body)} bytes behind its head instead of {expected}", where)
    counts, score = np.zeros((values, values), dtype=np.int64), new_evidence()
    if phase:
        score = np.frombuffer(body, dtype=">f8").astype(np.float64)
    else:
        counts = np.frombuffer(body, dtype=">i8").astype(np.int64).reshape(values, values)
    if epoch < 1 or first < 0 or min(looks, tests) < 0 or (counts < 0).any():
        raise _unreadable("a number in it is negative that counts something", where)
    return Mark(epoch, first, counts, score, bool(phase), looks, tests, error, blind, informed)


def _unreadable(why: str, where: str) -> StateRefused:
    return StateRefused(
        "The epoch mark of the belief changelog cannot be read.",
        where=where,
        why=why,
        fix="point the pipeline at its own belief changelog, or give it a new name",
    )
