"""When an epoch of a partition ends and what the next one begins with: a function of the mark alone.

An epoch that began at offset f is looked at, while learning, before the offsets f + 1024, f + 2048, f + 4096, ..., and
while informed before every 4,096th. What the counts or the monitor say of the records before such an offset decides
about those from it on. Offsets that hold no record count like others, so everybody who knows f knows the offsets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from beliefs.alphabet import Alphabet
from beliefs.learning.online import FIRST_CHECKPOINT, Setup, learn, next_checkpoint, uniform_chain
from stream.learning.carried import ALARM, PEAK
from stream.learning.choice import choose
from stream.learning.mark import Mark, first_mark
from stream.learning.record import (
    DRIFT,
    LEARNT,
    START,
    Epoch,
    decode_epoch,
    encode_epoch,
    epoch_key,
    model_of_epoch,
)
from stream.learning.standing import Standing

LOOK_EVERY: Final = 4096
"""While informed: a block of the usual size is hardly cut, and drift is acted upon a moment later at most."""


@dataclass(frozen=True)
class Turn:
    """Where a partition stands at some offset: the mark, its epoch, and the records of epochs that began on the way,
    by their keys. `looked` says that the latest look was taken on the way.
    """

    mark: Mark
    epoch: Epoch
    begun: Mapping[bytes, bytes] = field(default_factory=dict)
    looked: bool = False


def next_look(mark: Mark) -> int:
    """Before this offset the epoch is looked at next."""
    if mark.informed:
        return mark.first + LOOK_EVERY * (mark.looks + 1)
    behind = FIRST_CHECKPOINT << (mark.looks - 1) if mark.looks else 0
    return mark.first + next_checkpoint(behind)


class Epochs:
    """Of one partition; `where` names it in errors."""

    def __init__(self, setup: Setup, alphabet: Alphabet, where: str) -> None:
        self._setup, self._alphabet, self._where = setup, alphabet, where

    def start(self, offset: int) -> Turn:
        """Nothing was ever released from this partition; its first record stands at this offset."""
        return self._begun(self._blind(1, offset, START, 0), None)

    def reach(self, turn: Turn, offset: int) -> Turn:
        """Where the partition stands when the record at this offset comes, and those before it have been dealt with."""
        while next_look(turn.mark) <= offset:
            turn = self._look(turn)
        return turn

    def _look(self, turn: Turn) -> Turn:
        mark, at = turn.mark, next_look(turn.mark)
        if mark.informed:
            if mark.score[PEAK] >= ALARM:
                return self._begun(self._blind(mark.epoch + 1, at, DRIFT, mark.tests), turn)
            return replace(turn, mark=replace(mark, looks=mark.looks + 1), looked=True)
        tests = mark.tests + 1
        learnt = learn(self._setup, mark.counts, tests)
        choice = choose(self._setup, learnt)
        blind, informed = float(choice.agreement_blind), float(choice.agreement_informed)
        if not choice.switch:
            stays = replace(mark, looks=mark.looks + 1, tests=tests)
            told = replace(stays, error=learnt.error, blind_agreement=blind, informed_agreement=informed)
            return replace(turn, mark=told, looked=True)
        number, withheld = mark.epoch + 1, int(learnt.withheld_units)
        said = {"pairs": learnt.pairs, "withheld_units": withheld}
        model = model_of_epoch(self._alphabet, learnt.chain, number, LEARNT, **said)
        epoch = Epoch(
            number,
            at,
            LEARNT,
            model,
            withheld,
            tests=tests,
            counts=mark.counts,
            error=learnt.error if math.isfinite(learnt.error) else None,
            blind_agreement=blind,
            informed_agreement=informed,
        )
        return self._begun(encode_epoch(epoch), turn)

    def _blind(self, number: int, offset: int, because: str, tests: int) -> bytes:
        values = self._setup.symbols
        model = model_of_epoch(self._alphabet, uniform_chain(values), number, because)
        return encode_epoch(Epoch(number, offset, because, model, self._setup.epsilon_units, tests=tests))

    def _begun(self, record: bytes, before: Turn | None) -> Turn:
        """What is used from now on is read back from the record, as after a restart."""
        epoch = decode_epoch(record, self._where)
        mark = replace(
            first_mark(self._setup.symbols, epoch.first),
            epoch=epoch.number,
            informed=epoch.informed,
            tests=epoch.tests,
            error=math.inf if epoch.error is None else epoch.error,
            blind_agreement=epoch.blind_agreement or 0.0,
            informed_agreement=epoch.informed_agreement or 0.0,
        )
        begun = {} if before is None else before.begun
        return Turn(mark, epoch, {**begun, epoch_key(epoch.number): record}, looked=True)


def standing_of(turn: Turn, epsilon: int, reached: int) -> Standing:
    """`turn` is that of a block, with its mark as after the block, which ended before the offset `reached`."""
    mark, epoch = turn.mark, turn.epoch
    return Standing(
        epoch=mark.epoch,
        informed=mark.informed,
        drifted=epoch.because == DRIFT,
        first=mark.first,
        next_look=next_look(mark),
        reached=reached,
        looks=mark.looks,
        pairs=int(mark.counts.sum()) if epoch.counts is None else int(epoch.counts.sum()),
        error=mark.error,
        withheld=epoch.withheld_units / epsilon if mark.informed else 0.0,
        blind_agreement=mark.blind_agreement,
        informed_agreement=mark.informed_agreement,
        evidence=float(mark.score[-1]),
        model=f"{epoch.number}:{epoch.model.short}",
        looked=turn.looked,
    )
