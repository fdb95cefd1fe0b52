"""The supervisor: a fresh worker after every stop but the last, and no fresh one where it would be refused again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stream.supervisor import Pauses, Supervisor

QUICK = Pauses(first=0.01, longest=0.05, recovered_after=60.0)
WAIT_FOR_WORD = """
import asyncio, signal, sys
from stream.supervisor import watch_lifeline
async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    watch_lifeline(stop.set)
    open(sys.argv[1], "w").write("here")
    await stop.wait()
    open(sys.argv[1], "w").write("done")
asyncio.run(main())
"""


def counting(folder: Path, *statuses: str) -> list[str]:
    """A worker that ends with the next of these statuses each time it is started; `kill` means by a signal."""
    code = f"""
import os, pathlib, signal, sys
file = pathlib.Path({str(folder / "starts")!r})
number = int(file.read_text()) if file.exists() else 0
file.write_text(str(number + 1))
status = {statuses!r}[min(number, {len(statuses) - 1})]
if status == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(int(status))
"""
    return [sys.executable, "-c", code]


async def exists(file: Path, text: str = "here") -> None:
    async with asyncio.timeout(20):
        while not file.exists() or file.read_text() != text:
            await asyncio.sleep(0.01)


async def test_a_worker_that_stops_or_is_killed_is_followed_by_a_fresh_one(tmp_path: Path) -> None:
    started: list[int] = []
    command = counting(tmp_path, "3", "kill", "1", "0", "2")
    status = await Supervisor(command, stop_seconds=5, pauses=QUICK, on_start=started.append).run()
    assert status == 2
    assert len(set(started)) == 5


async def test_a_refusal_ends_both(tmp_path: Path) -> None:
    assert await Supervisor(counting(tmp_path, "2"), stop_seconds=5, pauses=QUICK).run() == 2
    assert (tmp_path / "starts").read_text() == "1"


async def test_the_word_to_stop_is_passed_on_and_the_worker_finishes(tmp_path: Path) -> None:
    file = tmp_path / "worker"
    supervisor = Supervisor([sys.executable, "-c", WAIT_FOR_WORD, str(file)], stop_seconds=10, pauses=QUICK)
    running = asyncio.create_task(supervisor.run())
    await exists(file)
    supervisor.stop()
    assert await running == 0
    assert file.read_text() == "done"


async def test_a_worker_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "worker"
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"open({str(file)!r}, 'w').write('here'); time.sleep(60)"
    )
    supervisor = Supervisor([sys.executable, "-c", code], stop_seconds=0.2, pauses=QUICK)
    running = asyncio.create_task(supervisor.run())
    await exists(file)
    supervisor.stop()
    assert await running == -signal.SIGKILL


async def test_the_word_to_stop_during_a_pause_is_heard(tmp_path: Path) -> None:
    slow = Pauses(first=60.0, longest=60.0)
    supervisor = Supervisor(counting(tmp_path, "3"), stop_seconds=5, pauses=slow)
    running = asyncio.create_task(supervisor.run())
    await exists(tmp_path / "starts", "1")
    await asyncio.sleep(0.5)
    supervisor.stop()
    assert await asyncio.wait_for(running, 5) == 0


def test_pauses_double_up_to_a_bound_and_start_small_after_a_long_life() -> None:
    pauses = Pauses(first=1.0, longest=5.0, recovered_after=60.0)
    seen = [0.0]
    for _ in range(5):
        seen.append(pauses.next(seen[-1], lived=2.0))
    assert seen[1:] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert pauses.next(5.0, lived=61.0) == 1.0


def test_a_worker_outlives_its_supervisor_by_no_more_than_its_drain(tmp_path: Path) -> None:
    """`kill -9` of the supervisor: nobody would start a successor, so the worker stops as if told to."""
    file = tmp_path / "worker"
    code = (
        "import sys; from stream.supervisor import supervise; "
        f"supervise([sys.executable, '-c', {WAIT_FOR_WORD!r}, {str(file)!r}], stop_seconds=10)"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 20
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(supervisor.pid, signal.SIGKILL)
    supervisor.wait()
    while file.read_text() != "done" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert file.read_text() == "done"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_worker_through_a_real_supervisor(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "worker"
    code = (
        "import sys; from stream.supervisor import supervise; "
        f"sys.exit(supervise([sys.executable, '-c', {WAIT_FOR_WORD!r}, {str(file)!r}], stop_seconds=10))"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 20
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    supervisor.send_signal(number)
    assert supervisor.wait(20) == 0
    assert file.read_text() == "done"
