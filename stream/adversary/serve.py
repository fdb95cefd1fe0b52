"""A page of metrics about the adversary beside a running pipeline: sums over all users, on loopback unless told
otherwise.

Nobody is a label. What is about fewer users than the floor is left out.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Protocol

from stream.adversary.attack import Task, result_of
from stream.adversary.facts import Facts
from stream.adversary.result import Result
from stream.adversary.truth import RawValues, require_topic_id
from stream.adversary.watcher import SegmentsWatch
from stream.attack.scores import HEARD_U, SCORED_U
from stream.audit.records import Record
from stream.audit.world import Bounds
from stream.errors import CannotAudit, Refused
from stream.names import METRIC_PREFIX

_PREFIX: Final = METRIC_PREFIX + "adversary_"
_SECONDS: Final = 5.0
_QUANTILES: Final = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
Sample = tuple[str, float]


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
    full = _PREFIX + name
    head = f"# HELP {full} {text}\n# TYPE {full} {kind}\n"
    return head + "".join(f"{full}{label} {_number(value)}\n" for label, value in samples)


def _number(value: float) -> str:
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else repr(float(value))


class ReadsOn(Protocol):
    """Topics that can be read from an offset on, as `stream.audit.kafka_world` has them."""

    async def partitions(self, topic: str) -> Sequence[int]: ...

    async def bounds(self, topic: str, partition: int) -> Bounds: ...

    def read(
        self, topic: str, partition: int, until: int, *, committed: bool, first: int = 0
    ) -> AsyncIterator[Sequence[Record]]: ...


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


class Page:
    """Answers GET /metrics with what was told to it last."""

    def __init__(self, host: str, port: int) -> None:
        self._text = exposition(None, 1).encode()
        page = self

        class Handler(BaseHTTPRequestHandler):
            timeout = _SECONDS

            def do_GET(self) -> None:
                found = self.path.partition("?")[0] == "/metrics"
                body = page._text if found else b"404 Not Found\n"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8" if found else "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Nothing: an address asked for is nobody's business."""

        try:
            self._server = ThreadingHTTPServer((str(_address(host)), port), Handler)
        except OSError as error:
            raise Refused(
                "The adversary's metrics cannot be served.",
                where=f"{host}, port {port}",
                why=error.strerror or type(error).__name__,
                fix="give --serve a free port, and --host an address of this machine; port 0 takes any free one",
            ) from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="adversary page", daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def show(self, text: str) -> None:
        self._text = text.encode()

    def __enter__(self) -> Page:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _address(host: str) -> ipaddress.IPv4Address:
    try:
        return ipaddress.IPv4Address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        why, fix = "it is no IPv4 address", "write an address such as 127.0.0.1"
        raise CannotAudit("The adversary's metrics cannot be served.", f"--host {host}", why, fix) from None


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
