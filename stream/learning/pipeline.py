"""The pipeline of one partition that learns its model from what it has released.

    the mark as committed -> the epoch at the block's first offset -> the block under that epoch's promise -> the mark
    after it, committed with the block

A partition learns by itself: its epochs are a function of its own records, their coins and nothing else. An epoch may
end only before certain offsets (`cut`), and no block crosses one, so whoever carries out a record, in whatever block
and however often, does it in the same epoch with the same model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from beliefs.learning.online import learn
from mechanisms.coins import Coins
from mechanisms.contract import Integers
from stream.epochs import adopt
from stream.errors import StateRefused
from stream.learning.carried import carry_out_scored, new_evidence, new_test
from stream.learning.choice import choose
from stream.learning.epochs import Epochs, Turn, next_look, standing_of
from stream.learning.mark import decode_mark, encode_mark, first_mark
from stream.learning.pairs import count_pairs, last_releases, new_counts
from stream.learning.promises import apart_in, promise_of
from stream.learning.record import LEARNT, Epoch, decode_epoch, epoch_key, model_of_epoch
from stream.learning.standing import Standing
from stream.pipeline import PartitionPipeline
from stream.policy import Bench, Events, Releases, new_releases
from stream.promise import Promise
from stream.protocol.control import LEARNING_KEY, PROGRESS_KEY, decode_progress
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Loaded, UserStore


class Told(Protocol):
    """Hears where a partition stands."""

    def stands(self, partition: int, standing: Standing) -> None: ...


class OnlinePipeline:
    """The bench may be shared, because a block never waits half-way. `told` hears where the partition stands when it is
    taken over.
    """

    deadlines = None

    def __init__(
        self, promise: Promise, topic: str, topic_id: bytes, partition: int, bench: Bench, told: Told | None = None
    ) -> None:
        if promise.learning is None:
            raise ValueError("the settings name a model")
        self._promise, self._topic, self._topic_id, self._partition = promise, topic, topic_id, partition
        self._bench, self._told = bench, told
        self._where = f"topic {topic}, partition {partition}"
        self._setup = promise.learning.setup
        self._epochs = Epochs(self._setup, promise.alphabet, self._where)
        self._committed: tuple[bytes, Turn] | None = None
        self._reached: tuple[bytes | None, int, Turn] | None = None
        self._carrier: _EpochPipeline | None = None

    def adopt(self, store: UserStore) -> int:
        """Start from what was committed; a mark that cannot be read is found now, and not at the first record."""
        waiting = self._carrier_of(self._reach(store, 0)).adopt(store)
        mark = store.marks().get(LEARNING_KEY)
        if mark is not None and self._told is not None:
            reached = decode_progress(store.marks()[PROGRESS_KEY], self._where)
            turn = self._turn_of(mark, store)
            self._told.stands(self._partition, standing_of(turn, self._setup.epsilon_units, reached))
        return waiting

    def cut(self, store: UserStore, first: int) -> int:
        return next_look(self._reach(store, first).mark)

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        turn = self._reach(store, int(records.offsets[0]))
        carrier = self._carrier_of(turn)
        carrier.counts, carrier.score = turn.mark.counts.copy(), turn.mark.score.copy()
        effects = carrier.prepare(records, store)
        after = replace(turn, mark=replace(turn.mark, counts=carrier.counts, score=carrier.score))
        mark = encode_mark(after.mark)
        effects.marks = {LEARNING_KEY: mark, **turn.begun}
        effects.learning = standing_of(after, self._setup.epsilon_units, effects.next_offset)
        self._committed = mark, Turn(after.mark, turn.epoch)
        return effects

    def warm_up(self, block: InputBlock, store: UserStore) -> None:
        """Compile what an informed epoch and the decision for one need; nothing of it stays."""
        counts = np.full((self._setup.symbols,) * 2, 1) + np.eye(self._setup.symbols, dtype=np.int64) * 1000
        learnt = learn(self._setup, counts, 1)
        choose(self._setup, learnt)
        model = model_of_epoch(self._promise.alphabet, learnt.chain, 1, LEARNT)
        epoch = Epoch(1, 0, LEARNT, model, learnt.withheld_units, counts=counts)
        self._carrier_of(Turn(first_mark(self._setup.symbols, 0), epoch)).prepare(block, store)
        self._carrier = None

    def prepare_overdue(self, store: UserStore, clock: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def _reach(self, store: UserStore, first: int) -> Turn:
        """Where the partition stands when the record at this offset comes. What a look finds is worked out once."""
        stored = store.marks().get(LEARNING_KEY)
        known = self._reached
        if known is not None and known[:2] == (stored, first):
            return known[2]
        turn = self._epochs.start(first) if stored is None else self._turn_of(stored, store)
        turn = self._epochs.reach(turn, first)
        self._reached = stored, first, turn
        return turn

    def _turn_of(self, stored: bytes, store: UserStore) -> Turn:
        """Where the partition stood after the last commit."""
        if self._committed is not None and self._committed[0] == stored:
            return self._committed[1]
        mark = decode_mark(stored, self._setup.symbols, self._where)
        record = store.marks().get(epoch_key(mark.epoch))
        if record is None:
            raise StateRefused(
                f"The record of epoch {mark.epoch} is missing in the belief changelog.",
                where=self._where,
                why="the epoch mark names it, and both are written in one transaction",
                fix="restore the belief changelog from a copy, or give the pipeline a new name, so that it starts anew",
            )
        return Turn(mark, decode_epoch(record, self._where))

    def _carrier_of(self, turn: Turn) -> _EpochPipeline:
        if self._carrier is None or self._carrier.epoch != turn.epoch.number:
            promise = promise_of(self._promise, turn.epoch)
            self._carrier = _EpochPipeline(promise, self._topic, self._topic_id, self._partition, self._bench)
            self._carrier.epoch, self._carrier.informed = turn.epoch.number, turn.epoch.informed
            self._carrier.apart = apart_in(turn.epoch)
        return self._carrier


class _EpochPipeline(PartitionPipeline):
    """The pipeline of a partition in one epoch; what it learns from a block it adds to the arrays that it was given."""

    epoch = 0
    informed = False
    apart = 0.0

    def __init__(self, promise: Promise, topic: str, topic_id: bytes, partition: int, bench: Bench) -> None:
        super().__init__(promise, topic, topic_id, partition, bench)
        self.counts, self.score = new_counts(promise.alphabet.size), new_evidence()

    def _carry_out(self, rows: Loaded, owners: Integers, events: Events, coins: Coins) -> Releases:
        promise = self._promise
        adopt(rows.heads, rows.codes, promise.policy)
        if self.informed:
            return self._scored(rows, events, coins)
        last = last_releases(rows.codes)
        releases = super()._carry_out(rows, owners, events, coins)
        count_pairs(last, events.slot, releases, self.counts)
        return releases

    def _scored(self, rows: Loaded, events: Events, coins: Coins) -> Releases:
        promise, releases = self._promise, new_releases(events.slot.shape[0])
        test = new_test(self.apart, promise.alphabet.size, rows.heads.shape[1])
        bench, score = self._benches[0], self.score
        carry_out_scored(
            promise.policy, promise.chain, bench, rows.heads, rows.codes, events, coins, releases, test, score
        )
        return releases
