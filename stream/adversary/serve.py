"""A page of metrics about the adversary beside a running pipeline: sums over all users, on loopback unless told
otherwise.

Nobody is a label. What is about fewer users than the floor is left out.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stream.adversary.attack import Task, result_of
from stream.adversary.facts import Facts
from stream.adversary.result import Result
from stream.adversary.truth import RawValues, require_topic_id
from stream.adversary.watcher import SegmentsWatch
from stream.attack.scores import HEARD_U, SCORED_U
from stream.audit.world import ReadsOn
from stream.errors import CannotAudit
from stream.exposition import Page, Sample, family
from stream.names import METRIC_PREFIX

_PREFIX: Final = METRIC_PREFIX + "adversary_"
WHAT: Final = "The adversary's metrics"
_SECONDS: Final = 5.0
_QUANTILES: Final = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))


def exposition(result: Result | None, floor: int, *, up: bool = True) -> str:
    """The text format of Prometheus. Without a result, or with fewer users than the floor, only whether it reads."""
    texts = [_family("up", "gauge", "Whether the last look at the topics succeeded.", [("", float(up))])]
    if result is not None:
        texts += [_family(*each) for each in _families(result, floor)]
    return "".join(texts)


def _families(result: Result, floor: int) -> Iterator[tuple[str, str, str, Sequence[Sample]]]:
    scores, users = result.scores, result.scores.users
    heard, scored = int((users[:, HEARD_U] > 0).sum()), int((users[:, SCORED_U] > 0).sum())
    unit = f'{{per="{scores.unit.name}"}}'
    bound = [(unit, scores.limits.reader)] if math.isfinite(scores.limits.reader) else []
    yield "bound_nats", "gauge", "By how much an event, or a window, may move a value for this reader.", bound
    yield (
        "users",
        "gauge",
        "Users of whom releases were read; 0 below the floor.",
        [("", heard if heard >= floor else 0)],
    )
    if heard >= floor:
        yield "releases_total", "counter", "Releases read.", [("", scores.released)]
        yield (
            "releases_beyond_total",
            "counter",
            "Releases of values moved beyond the bound.",
            [("", scores.beyond)],
        )
        over = float(result.beyond_the_ledger > 0)
        yield "ledger_exceeded", "gauge", "1 where a user was told more than the ledger's account.", [("", over)]
        means = [('{knows="releases"}', scores.mean("sure")), ('{knows="model"}', scores.mean("blind"))]
        sure = [(label, value) for label, value in means if value is not None]
        yield "sure_ratio", "gauge", "How sure the likeliest guess is, mean over releases.", sure
        yield (
            "gain_nats",
            "gauge",
            "What was learnt of a value, mean over releases.",
            [("", scores.mean("gain") or 0.0)],
        )
        yield "user_furthest_nats", "gauge", "By how much a user's furthest value moved.", quantiles_of(result, floor)
    if scored >= floor:
        rates = {"releases": scores.rate("right"), "model": scores.rate("blind_right"), "bound": scores.rate("allowed")}
        labelled = [(f'{{knows="{name}"}}', rate) for name, rate in rates.items() if rate is not None]
        yield (
            "guess_ratio",
            "gauge",
            "Share of right guesses; `bound`: what epsilon allows those by `releases`.",
            labelled,
        )
        yield "guesses_total", "counter", "Guesses held against the truth.", [("", scores.scored)]
        yield (
            "calibration_error",
            "gauge",
            "How far off the adversary's sureness is.",
            [("", scores.calibration_error or 0.0)],
        )
        yield "evidence_log10", "gauge", "Evidence against the bound; 3 is 99.9 %.", [("", scores.evidence.log10)]


def quantiles_of(result: Result, floor: int) -> list[Sample]:
    """Each over so many users that at least `floor` of them stand on either side of it."""
    furthest = sorted(result.furthest())
    found = []
    for name, part in _QUANTILES:
        place = math.ceil(part * len(furthest)) - 1
        if len(furthest) - place >= floor and place + 1 >= floor:
            found.append((f'{{quantile="{name}"}}', furthest[place]))
    return found


def _family(name: str, kind: str, text: str, samples: Sequence[Sample]) -> str:
    return family(_PREFIX + name, kind, text, samples)


@dataclass
class Follower:
    """Reads on where it stopped: the raw topic first, so that the truth is there when its release comes."""

    task: Task
    topics: ReadsOn
    watches: dict[int, SegmentsWatch] = field(default_factory=dict)
    raw: dict[int, RawValues] = field(default_factory=dict)
    _next: dict[tuple[str, int], int] = field(default_factory=dict)

    async def look(self) -> Result | None:
        """All that has come since the last look; None while there is no partition."""
        public = self.task.public
        for partition in await self.topics.partitions(public.released_topic):
            # What is released by now has its raw record by now.
            end = (await self.topics.bounds(public.released_topic, partition)).stable
            await self._read_raw(partition)
            watched = self._watch(partition)
            at = self._next.get((public.released_topic, partition), 0)
            async for records in self.topics.read(public.released_topic, partition, end, committed=True, first=at):
                watched.take(records)
            self._next[public.released_topic, partition] = end
        return result_of(self.task, list(self.watches.values())) if self.watches else None

    async def _read_raw(self, partition: int) -> None:
        if not self.task.raw_truth:
            return
        require_topic_id(self.task.naming, self.task.public)
        topic = self.task.raw_topic
        raw = self.raw.setdefault(partition, RawValues(self.task.public, self.task.naming, partition))
        end = (await self.topics.bounds(topic, partition)).stable
        at = self._next.get((topic, partition), 0)
        async for records in self.topics.read(topic, partition, end, committed=True, first=at):
            raw.take(records)
        self._next[topic, partition] = end

    def _watch(self, partition: int) -> SegmentsWatch:
        if partition not in self.watches:
            truth = self.raw[partition].known if self.task.raw_truth else self.task.truth
            facts = Facts(truth, self.task.side, use_up=self.task.raw_truth)
            self.watches[partition] = SegmentsWatch(self.task.readers, facts)
        return self.watches[partition]


async def follow(
    follower: Follower, page: Page, *, floor: int, every: float = _SECONDS, going: Callable[[], bool] = lambda: True
) -> None:
    """Look, show, wait, until told to stop. Brokers that go away later are waited for: what was read before a look
    broke off is passed over when it is read again, for its steps are known.
    """
    result = await follower.look()
    page.show(exposition(result, floor))
    while going():
        await asyncio.sleep(every)
        try:
            result = await follower.look()
            page.show(exposition(result, floor))
        except CannotAudit:
            page.show(exposition(result, floor, up=False))
