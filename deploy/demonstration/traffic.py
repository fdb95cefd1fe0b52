"""The demonstration's own traffic: phones in, releases out, and one view a second of what happened between."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import secrets
import time
from collections.abc import Sequence

from feeder import Feeder, rounds_to_remember
from figures import Look, beside, figures
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


class Side:
    """One pipeline and the reader of what it releases."""

    def __init__(self, brokers: str, names: Names, worker: Worker, truth: RecordOfTruth, held: int = 0) -> None:
        self.worker = worker
        self.reader = Reader(brokers, names.released, names.partitions, truth)
        self._held = held
        """As many events as may wait in its windows."""

    def carried_out(self) -> int:
        """At least so many events cannot come back sooner, whatever is fed."""
        return self.reader.seen + self._held

    async def look(self) -> Look:
        if not self.worker.running:
            raise WorkerError(f"the worker is gone; the end of its log:\n{self.worker.log_tail()}")
        return Look(await self.worker.metrics(), self.reader.seen, self.reader.agreement)


class Traffic:
    def __init__(self, brokers: str, names: Names, workers: Sequence[Worker], chosen: argparse.Namespace) -> None:
        begin = (int(time.time()) - DAYS_AGO * 86_400) * 1000 // STEP_MILLISECONDS * STEP_MILLISECONDS
        phones = Phones(chosen.phones, chosen.seed, begin)
        rivals = tuple(
            RandomisedResponse(factor * EPSILON, len(ACTIVITIES), secrets.token_bytes(32)) for factor in (1, 2)
        )
        self._window_events: int = chosen.windows or 0
        rounds = rounds_to_remember(chosen.phones, names.partitions, self._window_events)
        truth = RecordOfTruth(chosen.phones, rounds, rivals)
        self._sides = [Side(brokers, names, workers[0], truth)]
        if self._window_events:
            held = chosen.phones * (self._window_events - 1)
            self._sides.append(Side(brokers, names.in_windows, workers[1], truth, held))
        self._feeder = Feeder(brokers, names.raw, names.partitions, phones, truth, self._carried_out)
        self._seconds: float | None = chosen.seconds
        self._rate: float | None = chosen.rate

    @property
    def fed(self) -> int:
        return self._feeder.fed

    def _carried_out(self) -> int:
        return min(side.carried_out() for side in self._sides)

    async def run(self, view: View, stop: asyncio.Event) -> None:
        """Until the time is over or `stop` is set, and until everything that was fed came back."""
        async with asyncio.TaskGroup() as together:
            reading = [together.create_task(side.reader.read()) for side in self._sides]
            feeding = together.create_task(self._feeder.feed(self._rate, stop))
            await self._watch(view, stop)
            await feeding
            await self._drain()
            for task in reading:
                task.cancel()

    async def _watch(self, view: View, stop: asyncio.Event) -> None:
        began = time.monotonic()
        before = [await side.look() for side in self._sides]
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), VIEW_EVERY_SECONDS)
            after = [await side.look() for side in self._sides]
            windows = beside(before[1], after[1], self._window_events) if len(after) > 1 else None
            view.show(figures(began, self.fed, before[0], after[0], windows))
            before = after
            if self._seconds is not None and time.monotonic() - began >= self._seconds:
                stop.set()

    async def _drain(self) -> None:
        """What waits in windows comes when their deadline has passed."""
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
        for side in self._sides:
            while side.reader.seen < self.fed:
                if time.monotonic() > deadline:
                    missing = self.fed - side.reader.seen
                    log = side.worker.log_tail()
                    raise WorkerError(f"{missing} of {self.fed} events did not come back; log:\n{log}")
                await asyncio.sleep(0.05)
