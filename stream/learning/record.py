"""What an epoch began with, as the record that stays in the belief changelog for ever: JSON, one record an epoch.

    format, version   "sottovoce-epoch", 1
    epoch             its number in the partition, from 1
    phase             "learning" or "informed"
    first_offset      from this offset of the partition on
    because           "start", "learnt" or "drift"
    tests             how many checkpoints of the partition there were so far at which anything was learnt, this one
                      included: the doubt is divided among them
    counts            learnt: how often value y was released right after value x in the epoch before, row x by row x
    error             learnt: each probability of the model is within a factor of e^error of the users' law, unless the
                      declared doubt has come true
    withheld_units    of 2^-40 nat: what is withheld of epsilon for that error; all of epsilon while nothing is known
    blind_agreement, informed_agreement   learnt: what was predicted when it was decided
    model             the model that releases are made with, as in a model file; while learning all values alike

Somebody who has the released topic can follow: `counts` are what the released values of the epoch before say, and the
rest follows from them (beliefs/learning/online.md). The model is read back from the record where it is used, so what
is used is what stands here.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.alphabet_rows import written_alphabet
from beliefs.chain import Chain
from beliefs.model_file import InvalidModel, Model, parse, serialise
from mechanisms.contract import Integers
from stream.errors import StateRefused
from stream.names import CHANGELOG_EPOCH_PREFIX

FORMAT: Final = "sottovoce-epoch"
VERSION: Final = 1
START, LEARNT, DRIFT = "start", "learnt", "drift"
LEARNING, INFORMED = "learning", "informed"
_NUMBER: Final = struct.Struct(">q")


@dataclass(frozen=True, eq=False)
class Epoch:
    number: int
    first: int
    because: str
    file: bytes
    """Its model, as the text of a model file."""
    withheld_units: int
    tests: int = 0
    counts: Integers | None = None
    error: float | None = None
    blind_agreement: float | None = None
    informed_agreement: float | None = None

    @cached_property
    def model(self) -> Model:
        return parse(self.file)

    @property
    def informed(self) -> bool:
        return self.because == LEARNT

    @property
    def phase(self) -> str:
        return INFORMED if self.informed else LEARNING


def mark_bytes_max(alphabet: Alphabet) -> int:
    """A bound on the records of epochs and on epoch marks: of each pair of values a count and a probability, 20 digits
    and 24 letters at most with what separates them, and 64 and the values for all the rest.
    """
    pairs = alphabet.size * alphabet.size
    return 64 * pairs + len(json.dumps(written_alphabet(alphabet))) + (4 << 10)


def epoch_key(number: int) -> bytes:
    return CHANGELOG_EPOCH_PREFIX + _NUMBER.pack(number)


def epoch_number(key: bytes) -> int | None:
    """The number of the epoch whose record stands under this key of the changelog; None: it is another key."""
    body = key[len(CHANGELOG_EPOCH_PREFIX) :]
    if not key.startswith(CHANGELOG_EPOCH_PREFIX) or len(body) != _NUMBER.size:
        return None
    return int(_NUMBER.unpack(body)[0])


def model_of_epoch(alphabet: Alphabet, chain: Chain, number: int, because: str, **more: object) -> bytes:
    """The bytes of the model of an epoch. Its number is in them, so no two epochs of a partition share a digest."""
    return serialise(alphabet, chain, {"source": "released records alone", "epoch": number, "because": because, **more})


def encode_epoch(epoch: Epoch) -> bytes:
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "epoch": epoch.number,
        "phase": epoch.phase,
        "first_offset": epoch.first,
        "because": epoch.because,
        "tests": epoch.tests,
        "counts": None if epoch.counts is None else epoch.counts.tolist(),
        "error": epoch.error,
        "withheld_units": epoch.withheld_units,
        "blind_agreement": epoch.blind_agreement,
        "informed_agreement": epoch.informed_agreement,
        "model": json.loads(epoch.file),
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def decode_epoch(raw: bytes, where: str) -> Epoch:
    try:
        document = json.loads(raw)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise _unreadable("it is of another format or version", where)
        epoch = _epoch_of(document)
        if epoch.model.chain.size < 1 or document["phase"] != epoch.phase:
            raise _unreadable("its phase does not follow from why it began", where)
        return epoch
    except InvalidModel as error:
        raise _unreadable(f"its model cannot be used: {error.problems[0]}", where) from None
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(f"it is not what this release writes ({type(error).__name__})", where) from None


def _epoch_of(document: Mapping[str, Any]) -> Epoch:
    counts = document["counts"]
    return Epoch(
        number=int(document["epoch"]),
        first=int(document["first_offset"]),
        because=str(document["because"]),
        file=json.dumps(document["model"], ensure_ascii=False, allow_nan=False).encode(),
        withheld_units=int(document["withheld_units"]),
        tests=int(document["tests"]),
        counts=None if counts is None else np.array(counts, dtype=np.int64),
        error=document["error"],
        blind_agreement=document["blind_agreement"],
        informed_agreement=document["informed_agreement"],
    )


def _unreadable(why: str, where: str) -> StateRefused:
    return StateRefused(
        "The record of an epoch in the belief changelog cannot be read.",
        where=where,
        why=why,
        fix="point the pipeline at its own belief changelog, or give it a new name",
    )
