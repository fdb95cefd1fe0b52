"""The demonstration's own traffic: phones in, releases out, and one view a second of what happened between."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import secrets
import time

from feeder import Feeder, rounds_to_remember
from figures import figures
from phones import ACTIVITIES, STEP_MILLISECONDS, Phones
from pipeline_files import EPSILON
from reader import Reader
from record_of_truth import RecordOfTruth
from rivals import RandomisedResponse
from topics import Names
from view import View
from worker import Worker, WorkerError

VIEW_EVERY_SECONDS = 1.0
DRAIN_SECONDS_MAX = 60.0
DAYS_AGO = 365
"""At full speed the phones live through most of a day in a second, so their story begins a while ago."""


class Traffic:
    def __init__(self, brokers: str, names: Names, worker: Worker, chosen: argparse.Namespace) -> None:
        begin = (int(time.time()) - DAYS_AGO * 86_400) * 1000 // STEP_MILLISECONDS * STEP_MILLISECONDS
        phones = Phones(chosen.phones, chosen.seed, begin)
        rivals = tuple(
            RandomisedResponse(factor * EPSILON, len(ACTIVITIES), secrets.token_bytes(32)) for factor in (1, 2)
        )
        self._truth = RecordOfTruth(chosen.phones, rounds_to_remember(chosen.phones, names.partitions), rivals)
        self._reader = Reader(brokers, names.released, names.partitions, self._truth)
        self._feeder = Feeder(brokers, names.raw, names.partitions, phones, self._truth, lambda: self._reader.seen)
        self._worker = worker
        self._seconds: float | None = chosen.seconds
        self._rate: float | None = chosen.rate

    @property
    def fed(self) -> int:
        return self._feeder.fed

    async def run(self, view: View, stop: asyncio.Event) -> None:
        """Until the time is over or `stop` is set, and until everything that was fed came back."""
        async with asyncio.TaskGroup() as together:
            reading = together.create_task(self._reader.read())
            feeding = together.create_task(self._feeder.feed(self._rate, stop))
            await self._watch(view, stop)
            await feeding
            await self._drain()
            reading.cancel()

    async def _watch(self, view: View, stop: asyncio.Event) -> None:
        began = time.monotonic()
        scrape, seen, agreement = await self._worker.metrics(), self._reader.seen, self._truth.agreement
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), VIEW_EVERY_SECONDS)
            if not self._worker.running:
                raise WorkerError(f"the worker is gone; the end of its log:\n{self._worker.log_tail()}")
            before = scrape, seen, agreement
            scrape, seen, agreement = await self._worker.metrics(), self._reader.seen, self._truth.agreement
            pairs = (before[1], seen), (before[0], scrape), (before[2], agreement)
            view.show(figures(began, self.fed, *pairs))
            if self._seconds is not None and time.monotonic() - began >= self._seconds:
                stop.set()

    async def _drain(self) -> None:
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
        while self._reader.seen < self.fed:
            if time.monotonic() > deadline:
                missing = self.fed - self._reader.seen
                raise WorkerError(f"{missing} of {self.fed} events did not come back; log:\n{self._worker.log_tail()}")
            await asyncio.sleep(0.05)
