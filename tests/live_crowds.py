"""Windows of crowds on the real broker: their topics, their workers, and what must have come of their raw records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from random import Random
from typing import Any

from aggregate_lives import told
from aggregate_recount import Recount, closings_by_clock
from crowd_lives import Walk, flat_law
from crowd_recount import Expected, people_of
from live_house import TwoStageHouse, lived_in
from live_kafka import consume_all
from live_writing import PARTITIONS, Raw

from stream.crowds.opening import open_crowds
from stream.crowds.promise import CrowdPromise
from stream.engine.connection import Connection
from stream.engine.topics import facts_of
from stream.keys import derived_key
from stream.names import PURPOSE_NOISE

SECTION = """\
crowd:
  k: 5
  over: {over}
  window: 1s
  from: {start}
  lateness: 2s
  grace: 1s
  ahead: 5s
  release: {{{release}}}
  {believes}
"""
NOTHING = "believes: nothing_declared"
TOPPED = "believes: {law: law.json, known: 0.1}\n  target: {epsilon: 1.0, delta: 0.01, beyond: top_up}"
FRESH = "believes: {law: law.json, windows: fresh}\n  target: {epsilon: 1.0, delta: 0.5, windows: 3}"


def walked(chance: Random, user: int, event: int, now: int) -> Raw:
    """Other people every second, for some seconds; mostly from one partition of two, some from both; the third is
    silent.
    """
    user = now // 1_000 % 9 * 20 + user % 25
    value, job, ill = chance.randrange(-6, 24) / 2, chance.choice("abc"), chance.choice(("flu", "cold"))
    walk = Walk(b"person-%03d" % user, event, now, value, job, ill)
    partition = chance.randrange(2) if user % 7 == 0 else user % 2
    return Raw(partition, walk.user, walk.text, timestamp=now)


class CrowdHouse(TwoStageHouse):
    between_suffix = "crowds"

    def __init__(self, broker: str, folder: Path, start: str, release: str, believes: str, over: str) -> None:
        super().__init__(broker, folder)
        self._said = {"start": start, "release": release, "believes": believes, "over": over}
        (folder / "law.json").write_bytes(flat_law(release) if "law.json" in believes else b"{}")

    @property
    def section(self) -> str:
        return SECTION.format(**self._said)

    @property
    def promise(self) -> CrowdPromise:
        return open_crowds(self.files[0], {}).promise

    @property
    def streams(self) -> list[range]:
        """The partitions of the raw topic that make windows together, by partition of the released topic."""
        return [range(PARTITIONS)] if self._said["over"] == "all" else [range(i, i + 1) for i in range(PARTITIONS)]

    async def released_past(self, time: int) -> None:
        """Returns when every window that ends by then has its record, in every stream."""
        places = range(len(self.streams))

        def is_past(records: Sequence[Any]) -> bool:
            latest = [
                max((each.timestamp for each in records if each.partition == place), default=0) for place in places
            ]
            return min(latest) >= time

        await self.until_released(is_past)

    async def check(self, time: int) -> Counter[str]:
        """Everything that was released up to this time, against a recount; answers how often there was which reason."""
        promise, timing = self.promise, self.promise.windowed
        facts = await facts_of(Connection((self.broker,)), [self.raw])
        records = await consume_all(self.broker, self.out)  # before the recount: windows go on closing
        recounts = await self.recount(promise)
        reasons = Counter[str]()
        for place, senders in enumerate(self.streams):
            apart = "" if promise.over == "all" else f" {place}"
            name = f"{promise.pipeline} {facts[self.raw].id.hex}{apart}"
            key = derived_key(promise.ring.current.secret, PURPOSE_NOISE, name)
            here = told(each for each in records if each.partition == place)
            windows = [each for each in here if "outcome" in each]
            assert [each["window"]["number"] for each in windows] == list(range(len(windows)))
            assert len(windows) >= (time - timing.start) // timing.length
            self.check_windows(promise, here, [recounts[sender] for sender in senders], key)
            reasons.update(str(each["reason"]) for each in windows)
        await self.check_same_bytes()
        return reasons

    def check_windows(self, promise: CrowdPromise, here: list[Any], recounts: list[Recount], key: bytes) -> None:
        expected, crowds = Expected(promise), list[Any]()
        for each in here:
            if "crowd" in each:
                crowds.append(each)
                continue
            people = people_of(promise, recounts, each["window"]["number"])
            if promise.release.kind == "records":
                reason, _ = expected.reason(people)
                assert (each["reason"], each["users"]) == (reason, len(people))
                if reason is None:
                    assert [some["crowd"] for some in crowds] == list(range(each["crowds"]))
                    assert sum(some["users"] for some in crowds) + each["suppressed"] == len(people)
                    assert all(some["users"] >= promise.k for some in crowds)
                    assert {some["window"]["number"] for some in crowds} <= {each["window"]["number"]}
                crowds.clear()
            else:
                expected.check(each, people, key)

    async def recount(self, promise: CrowdPromise) -> list[Recount]:
        """Of every partition, from the raw topic and from when the clock closed windows."""
        changelog = await consume_all(self.broker, self.changelogs[0])
        raw, refused, found = await consume_all(self.broker, self.raw), list[tuple[int, int, str]](), []
        for partition in range(PARTITIONS):
            by_clock = closings_by_clock((each.key, each.value) for each in changelog if each.partition == partition)
            timing = promise.windowed
            recount = Recount(timing, timing.start, timing.start)
            for record in (record for record in raw if record.partition == partition):
                recount.closed = max([recount.closed, *(to for offset, to in by_clock if offset <= record.offset)])
                said = json.loads(record.value)
                walk = Walk(record.key, said["t"], record.timestamp, said["v"], said["job"], said["ill"])
                recount.see(walk)
                if recount.outcomes[-1] != "counted":
                    refused.append((partition, record.offset, recount.outcomes[-1]))
            found.append(recount)
        letters = [json.loads(record.value) for record in await consume_all(self.broker, self.dead)]
        assert sorted((each["partition"], each["offset"], each["reason"]) for each in letters) == refused
        return found


def housed(
    broker: str, folder: Path, start: str, release: str, believes: str = NOTHING, over: str = "all"
) -> AbstractAsyncContextManager[CrowdHouse]:
    """A pipeline whose workers have not been started. Whatever happens, they and the topics are gone afterwards."""
    return lived_in(CrowdHouse(broker, folder, start, release, believes, over))
