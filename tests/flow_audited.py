"""A flow of crowds carried out in memory, with its topics as an auditor finds them, who may falsify them."""

from __future__ import annotations

from random import Random

from aggregate_lives import SECOND, TOPIC_ID, Life
from audit_memory import Kept, Memory
from crowd_audited import DEAD, GATHERED, OUT, RAW, SENT, TOTAL, AuditedHouse, control, kept
from flow_lives import (
    ILL,
    FlowLife,
    Sent,
    Turn,
    flow_promise,
    flow_settings,
    flow_text,
    forward_of,
    random_events,
    raw_block,
)

from stream.crowds.flow import FlowPipeline


class FlowHouse(AuditedHouse):
    """Settings, what was made of them, and the topics; some events still wait."""

    def __init__(
        self, grouper: str = "castle", *, seed: int = 1, count: int = 60, more: str = ILL, over: str = "all"
    ) -> None:
        self.settings = flow_settings(flow_text(grouper, more=more, over=over))
        self.promise = flow_promise(grouper, more=more, over=over)
        chance = Random(seed)
        self.sent = [[*random_events(chance, count, users=15), Sent(b"x", -1, 1.0, "clerk", "flu")] for _ in range(2)]
        self.memory = self._memory(chance, over)

    def _memory(self, chance: Random, over: str) -> Memory:
        tuples, letters, marks, raw = [], [], [], []
        for partition, sent in enumerate(self.sent):
            life = Life(forward_of(self.promise, partition))
            life.carry_out(raw_block(sent))
            tuples.append(life.released)
            letters += [letter for effects in life.effects for letter in effects.dead_letters]
            raw.append([Kept(at, one.user, one.text, max(0, one.time)) for at, one in enumerate(sent)])
            marks.append([Kept(0, b"c", control()), Kept(1, b"o", len(sent).to_bytes(8, "big"))])
        if over == "all":
            turns = [0] * len(tuples[0]) + [1] * len(tuples[1])
            chance.shuffle(turns)
            left = [iter(each) for each in tuples]
            tuples = [[next(left[turn]) for turn in turns]]
        topics: dict[str, list[list[Kept]]] = {OUT: [], TOTAL: []}
        for partition, some in enumerate(tuples):
            sources = range(2) if over == "all" else range(partition, partition + 1)
            life = FlowLife(FlowPipeline(self.promise, TOPIC_ID, SENT, partition, sources))
            first = self.sent[0][0].time
            life.turns(Turn(first + 2 * place * SECOND, each.value, None) for place, each in enumerate(some))
            topics[OUT].append(kept(life.released))
            topics[TOTAL].append([Kept(0, b"a", life.store.marks()[b"a"])])
        return Memory(
            {RAW: raw, DEAD: [kept(letters)], GATHERED: marks, SENT: [kept(each) for each in tuples], **topics}
        )
