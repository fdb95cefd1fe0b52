"""Worker processes that tests kill, freeze and wake; nothing of them outlives the tests."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from worker import SOTTOVOCE, Worker

END_SECONDS_MAX = 60.0
ENDED = (FileNotFoundError, ProcessLookupError)
"""What the machine says of a process that is gone: before its file was opened, or while it was being read."""
ANOTHER = "a fresh one starts"


class FaultWorker(Worker):
    """A supervisor and its worker. The supervisor leads a process group, and `attached.py` kills that group, frozen or
    not, when the tests end."""

    def __init__(self, name: str, settings: Path, log: Path, admin_port: int) -> None:
        super().__init__(settings, log, admin_port)
        self.name = name

    @property
    def supervisor(self) -> int:
        return self._pid

    @property
    def restarts(self) -> int:
        return self.said().count(ANOTHER)

    def kill(self) -> None:
        """Whatever is left of it, frozen or not: the end of the pipe makes `attached.py` kill the whole group."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()
        process.wait(END_SECONDS_MAX)

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def ended_with(self) -> int | None:
        return None if self._process is None else self._process.poll()

    async def child(self) -> int:
        """The worker itself; between two of them, the next one."""
        async with asyncio.timeout(END_SECONDS_MAX):
            while not (found := children(self._pid)):
                await asyncio.sleep(0.02)
        return found[0]

    async def kill_child(self) -> None:
        """Returns when it is gone, so that whoever asks next is answered by its successor."""
        child = await self.child()
        os.kill(child, signal.SIGKILL)
        await gone(child)

    async def kill_supervisor(self) -> int:
        """Answers the worker that it leaves behind."""
        child = await self.child()
        os.kill(self._pid, signal.SIGKILL)
        await gone(self._pid)
        return child

    async def terminate(self) -> tuple[int | None, float]:
        """SIGTERM; the exit status and how many seconds the end took."""
        assert self._process is not None
        process, began = self._process, time.monotonic()
        os.kill(self._pid, signal.SIGTERM)
        async with asyncio.timeout(END_SECONDS_MAX):
            while process.poll() is None:
                await asyncio.sleep(0.01)
        took = time.monotonic() - began
        return await asyncio.to_thread(self.stop), took


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except ENDED:
        return []


def lives(pid: int) -> bool:
    """A process that has ended and was not yet asked how is gone, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ENDED:
        return False


async def gone(pid: int) -> None:
    async with asyncio.timeout(END_SECONDS_MAX):
        while lives(pid):
            await asyncio.sleep(0.005)


@dataclass(frozen=True)
class Answer:
    """What a command said, and its exit status."""

    status: int
    out: str
    said: str


async def command(*arguments: str) -> Answer:
    process = await asyncio.create_subprocess_exec(
        *SOTTOVOCE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, said = await process.communicate()
        return Answer(process.returncode or 0, out.decode(), said.decode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
