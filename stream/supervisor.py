"""The parent of one worker: starts it, starts a fresh one when it stops by itself, and passes on the word to stop.

    exit 0    the worker was told to stop and finished what it held; so does the supervisor exit 2    settings, model,
    keys or state are refused: starting again would be refused again, so the supervisor ends too else      the worker
    was fenced, could not publish, or was killed: a fresh one starts after a pause that doubles

A worker that lived for a minute had recovered, so the pause starts small again.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stream.names import EXIT_DONE, EXIT_REFUSED, EXIT_STOPPED

# The worker reads from this descriptor, which nobody writes to: when it ends, the supervisor is gone, and the worker
# stops instead of holding its partitions without anybody to start its successor.
LIFELINE_VARIABLE = "SOTTOVOCE_LIFELINE"
# How often a worker was started anew, for its metrics.
RESTARTS_VARIABLE = "SOTTOVOCE_RESTARTS"

log = logging.getLogger("sottovoce.supervisor")


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds before a fresh worker starts. The first is short: a fenced worker can be replaced at once."""

    first: float = 0.2
    longest: float = 30.0
    recovered_after: float = 60.0

    def next(self, last: float, lived: float) -> float:
        if lived >= self.recovered_after or last == 0.0:
            return self.first
        return min(self.longest, 2 * last)


class Supervisor:
    """Runs one worker after another until it is told to stop, or until starting again makes no sense."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stop_seconds: float,
        pauses: Pauses | None = None,
        on_start: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._command = tuple(command)
        self._stop_seconds = stop_seconds
        self._pauses = pauses or Pauses()
        self._on_start = on_start
        self._stopping = asyncio.Event()
        self._restarts = 0

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        pause = 0.0
        while True:
            started = loop.time()
            status = await self._one_worker()
            if self._stopping.is_set():
                # A worker that was stopped before it took signals over had nothing to finish.
                return EXIT_DONE if status == -signal.SIGTERM else status
            if status == EXIT_REFUSED:
                return status
            pause = self._pauses.next(pause, loop.time() - started)
            log.warning("The worker stopped (%s); a fresh one starts in %.1f s.", _in_words(status), pause)
            if await self._told_to_stop(pause):
                return EXIT_DONE
            self._restarts += 1

    async def _one_worker(self) -> int:
        theirs, ours = os.pipe()
        try:
            worker = await asyncio.create_subprocess_exec(
                *self._command,
                pass_fds=(theirs,),
                env={**os.environ, LIFELINE_VARIABLE: str(theirs), RESTARTS_VARIABLE: str(self._restarts)},
            )
            os.close(theirs)
            theirs = -1
            self._on_start(worker.pid)
            return await self._until_it_ends(worker)
        finally:
            os.close(ours)
            if theirs >= 0:
                os.close(theirs)

    async def _until_it_ends(self, worker: asyncio.subprocess.Process) -> int:
        ending = asyncio.create_task(worker.wait())
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({ending, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not ending.done():
            worker.send_signal(signal.SIGTERM)
            await asyncio.wait({ending}, timeout=self._stop_seconds)
        if not ending.done():
            log.error(
                "The worker did not stop within %g s and is killed; its open block is repeated.", self._stop_seconds
            )
            worker.kill()
        return await ending

    async def _told_to_stop(self, within: float) -> bool:
        try:
            async with asyncio.timeout(within):
                await self._stopping.wait()
        except TimeoutError:
            return False
        return True


def supervise(command: Sequence[str], *, stop_seconds: float) -> int:
    """Run workers in child processes; answers the exit status for this process."""
    status = asyncio.run(_supervise(command, stop_seconds))
    return status if status >= 0 else EXIT_STOPPED


async def _supervise(command: Sequence[str], stop_seconds: float) -> int:
    return await Supervisor(command, stop_seconds=stop_seconds).run()


def is_supervised() -> bool:
    """Whether this process is the worker of a supervisor, which runs the same command line."""
    return LIFELINE_VARIABLE in os.environ


def watch_lifeline(stop: Callable[[], None]) -> None:
    """In a worker: call `stop` when the supervisor is gone. Without a supervisor this does nothing."""
    number = os.environ.get(LIFELINE_VARIABLE)
    if number is not None:
        loop = asyncio.get_running_loop()
        descriptor = int(number)

        def ended() -> None:
            loop.remove_reader(descriptor)
            stop()

        loop.add_reader(descriptor, ended)


def _in_words(status: int) -> str:
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
