"""A pipeline of windows of crowds carried out in memory, with its topics as an auditor finds them, who may falsify
them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from aggregate_lives import MINUTE, RING, SECOND, START, TOPIC_ID, Life, block_of_partials
from audit_memory import Kept, Memory
from crowd_lives import NOTHING, SETTINGS, SUM, TIMES, Walk, block_of, flat_law

from beliefs.crowd.law_file import parse
from stream.audit.crowd_audit import audit_crowds
from stream.audit.crowd_report import CrowdReport
from stream.audit.crowd_task import CrowdTask, task_of_crowds
from stream.crowds.gather import CrowdGather
from stream.crowds.opening import compile_crowds
from stream.crowds.windows import CrowdWindows
from stream.gathering.second import RawTopic
from stream.protocol.ports import Outgoing
from stream.settings.load import parse_settings
from stream.settings.model import Settings

PARTITIONS = 2
ILLS = ("flu", "cold", "none", "other")
RECORDS = (
    "records: mondrian, by: {v: {of: $.v, low: -2, high: 8, grid: 0.5}, "
    "job: {of: $.job, tree: {any: {letters: [a, b], other: [c]}}}}, "
    "sensitive: {of: $.ill, values: [flu, cold, none, other], diverse: 2, close: 0.6}"
)
RING_KEYS = {epoch.number: epoch.secret for epoch in RING.epochs}
RAW, OUT, DEAD = "walkers.raw", "walkers.out", "w.dead"
GATHERED, SENT, TOTAL = "walkers-beliefs-changelog", "walkers-crowds", "walkers-total-beliefs-changelog"


class AuditedHouse:
    """Settings, and the topics of a pipeline of crowds."""

    settings: Settings
    memory: Memory

    @property
    def released(self) -> list[Kept]:
        return self.memory.logs[OUT][0]

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(record.value or b"") for record in self.released]

    def place(self, wanted: Callable[[dict[str, Any]], bool]) -> int:
        """Of the first released record that is like this."""
        return next(place for place, said in enumerate(self.said()) if wanted(said))

    def task(self, **changes: Any) -> CrowdTask:
        return replace(task_of_crowds(self.settings), **changes)

    async def audit(self, **changes: Any) -> CrowdReport:
        return await audit_crowds(self.task(**changes), self.memory, lambda _doing, _records: None)

    def change(self, place: int, change: Callable[[dict[str, Any]], None]) -> None:
        """One released record says something else."""
        record = self.released[place]
        said = json.loads(record.value or b"")
        change(said)
        self.released[place] = replace(record, value=json.dumps(said).encode())


class House(AuditedHouse):
    """Windows: what was made of the settings as well."""

    def __init__(
        self,
        folder: Path,
        release: str = SUM,
        believes: str = NOTHING,
        *,
        law: bytes | None = None,
        k: int = 3,
        over: str = "all",
        minutes: int = 6,
        sent: Sequence[Sequence[Walk]] = (),
        after: Callable[[list[list[Outgoing]]], object] = lambda _: None,
    ) -> None:
        lines = [f"k: {k}", f"over: {over}", *TIMES.splitlines(), f"release: {{{release}}}", *believes.splitlines()]
        text = SETTINGS + "".join(f"  {line}\n" for line in lines)
        believed = law if law is not None else flat_law(release) if "law.json" in believes else None
        (folder / "law.json").write_bytes(believed or b"")
        self.settings = parse_settings(text.encode(), folder / "c.yaml")
        assert self.settings.crowd is not None
        read = None if believed is None else parse(believed)
        self.promise = compile_crowds(self.settings, self.settings.crowd, RING, read)
        self.walks = sent or [some_walks(Random(place), minutes, place) for place in range(PARTITIONS)]
        self.memory = self._memory(START + minutes * MINUTE, over, after)

    def _memory(self, until: int, over: str, after: Callable[[list[list[Outgoing]]], object]) -> Memory:
        parts, letters, marks, raw = [], list[Outgoing](), list[list[Kept]](), list[list[Kept]]()
        for partition, walks in enumerate(self.walks):
            life = Life(CrowdGather(self.promise, RAW, TOPIC_ID, partition))
            if walks:
                life.carry_out(block_of(walks))
            life.close_by_clock(until + 15 * SECOND)
            parts.append(life.released)
            letters += [letter for effects in life.effects for letter in effects.dead_letters]
            raw.append([Kept(at, walk.user, walk.text, walk.record) for at, walk in enumerate(walks)])
            progress = len(walks).to_bytes(8, "big")
            marks.append([Kept(0, b"c", control()), Kept(1, b"o", progress), Kept(2, b"a", life.store.marks()[b"a"])])
        after(parts)
        together = [part for each in parts for part in each]
        topic, count = RawTopic(TOPIC_ID, len(parts)), len(parts) if over == "partition" else 1
        totals = [Life(CrowdWindows(self.promise, topic, SENT, partition)) for partition in range(count)]
        for place, life in enumerate(totals):
            life.carry_out(block_of_partials(parts[place] if over == "partition" else together))
        return Memory(
            {
                RAW: raw,
                OUT: [kept(life.released) for life in totals],
                DEAD: [kept(letters)],
                GATHERED: marks,
                SENT: [kept(each) for each in parts] if over == "partition" else [kept(together)],
                TOTAL: [[Kept(0, b"a", life.store.marks()[b"a"])] for life in totals],
            }
        )


def some_walks(chance: Random, minutes: int, partition: int) -> list[Walk]:
    """Some people in each minute, others in each; some events are late, far ahead, or too early."""
    found = []
    for minute in range(minutes):
        for person in range(30):
            if chance.random() < 0.3:
                continue
            time = START + minute * MINUTE + chance.randrange(MINUTE)
            found.append(some_walk(chance, b"u%d-%d" % (partition, person + 30 * (minute % 3)), time))
    found.sort(key=lambda walk: walk.record)
    found += [walk._replace(record=found[-1].record) for walk in found[:3]]
    found += [found[-1]._replace(time=START - 1), found[-1]._replace(time=found[-1].record + 10 * MINUTE)]
    return found


def some_walk(chance: Random, user: bytes, time: int) -> Walk:
    value = chance.choice((-9.0, -1.0, 0.0, 0.25, 0.75, 2.0, 3.5, 7.5, 99.0))
    kind = chance.choice(("walker", "runner"))
    home = None if chance.random() < 0.5 else f"h{user[-2:].decode()}"
    return Walk(user, time, time + 1, value, chance.choice("abc"), chance.choice(ILLS), kind, home)


def kept(records: Sequence[Outgoing]) -> list[Kept]:
    return [
        Kept(offset, record.key, record.value, record.timestamp, tuple(record.headers))
        for offset, record in enumerate(records)
    ]


def control() -> bytes:
    digits = TOPIC_ID.hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return json.dumps({"topic_id": "-".join(parts)}).encode()
