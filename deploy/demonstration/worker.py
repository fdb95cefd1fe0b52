"""`sottovoce` as a separate process, started, watched and ended as an operator would do it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

ATTACHED = Path(__file__).resolve().parents[1] / "kafka" / "attached.py"
SOTTOVOCE = (sys.executable, "-m", "stream")
READY_SECONDS_MAX = 300.0
"""The first start on a machine compiles the native loops; later ones take them from a cache."""
STOP_SECONDS_MAX = 30.0
ANSWER_SECONDS_MAX = 5.0

Sample = tuple[str, tuple[tuple[str, str], ...]]


class WorkerError(Exception):
    """The worker did not do what was asked; the text holds the end of its log."""


class Metrics:
    """One scrape. A series that is absent counts as 0, as for any reader of counters."""

    def __init__(self, text: str) -> None:
        self.when = time.monotonic()
        self._values: dict[Sample, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                self._values[sample.name, tuple(sorted(sample.labels.items()))] = sample.value

    def value(self, name: str, **labels: str) -> float:
        return self._values.get((name, tuple(sorted(labels.items()))), 0.0)

    def total(self, name: str) -> float:
        return sum(value for (found, _), value in self._values.items() if found == name)

    def buckets(self, name: str) -> list[tuple[float, float]]:
        """Upper edges and cumulative counts of a histogram without other labels."""
        found = [
            (dict(labels)["le"], value) for (key, labels), value in self._values.items() if key == f"{name}_bucket"
        ]
        return sorted((float(edge), value) for edge, value in found)


class Worker:
    """One worker under its supervisor. It dies with this process, whatever ends this process."""

    def __init__(self, settings: Path, log: Path, admin_port: int) -> None:
        self.settings = settings
        self._log = log
        self._address = f"http://127.0.0.1:{admin_port}"
        self._process: subprocess.Popen[str] | None = None
        self._pid = 0

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(ATTACHED), *SOTTOVOCE, "run", str(self.settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        self._pid = int(self._process.stdout.readline())

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def ready(self, say: Callable[[str], None], stop: asyncio.Event) -> None:
        """Returns when the worker has joined and recovered everything, or when `stop` is set."""
        began = time.monotonic()
        told = began
        while not stop.is_set():
            if not self.running or time.monotonic() - began > READY_SECONDS_MAX:
                raise WorkerError(f"the worker did not become ready; the end of its log:\n{self.log_tail()}")
            if await asyncio.to_thread(self._answers, "/readyz"):
                return
            if time.monotonic() - told > 5:
                told = time.monotonic()
                say(f"  waiting for the worker, {told - began:.0f} s (the first start compiles its loops)")
            await asyncio.sleep(0.2)

    def _answers(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(self._address + path, timeout=ANSWER_SECONDS_MAX) as answer:
                return int(answer.status) == 200
        except OSError:  # refused while it starts, 503 until it is ready
            return False

    async def metrics(self) -> Metrics:
        return await asyncio.to_thread(self._scrape)

    def _scrape(self) -> Metrics:
        try:
            with urllib.request.urlopen(f"{self._address}/metrics", timeout=ANSWER_SECONDS_MAX) as answer:
                return Metrics(answer.read().decode())
        except OSError as error:
            raise WorkerError(
                f"the worker's metrics do not answer ({error}); its log ends:\n{self.log_tail()}"
            ) from error

    def stop(self) -> int | None:
        """SIGTERM: it finishes what it holds and leaves. The exit status, or None if it had to be killed."""
        process, self._process = self._process, None
        if process is None:
            return 0
        if process.poll() is None:
            os.kill(self._pid, signal.SIGTERM)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            return process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.stdin.close()  # whatever is left of it is killed by this
            process.stdout.close()
            process.wait()

    def log_tail(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-4000:] if self._log.exists() else ""


async def sottovoce(*arguments: str, hear: Callable[[str], None]) -> int:
    """Runs one command to its end and passes on each line as it comes. The answer is its exit status."""
    process = await asyncio.create_subprocess_exec(
        *SOTTOVOCE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        async for line in process.stdout:
            hear(line.decode(errors="replace").rstrip())
        return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
