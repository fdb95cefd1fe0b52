"""Child processes of the benchmark. Each leads a session of its own: what it starts is counted and ended with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PROC = Path("/proc")
CPU_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Fields of /proc/<pid>/stat, counted after the closing bracket of the command's name.
SESSION_FIELD, USER_TICKS_FIELD, SYSTEM_TICKS_FIELD = 3, 11, 12
LOG_TAIL_LINES = 25
# Where the system has it, the kernel ends a contestant whose benchmark was killed; everywhere else `stop` does.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()


class BenchFailure(Exception):
    """A contestant or the broker did not do its part; the message says which, and shows the end of its log."""


class Child:
    """A started process, its log file, and its end."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.name = name
        self._log = folder / f"{name}.log"
        self.started_at = time.monotonic()
        with self._log.open("ab") as sink:
            self._process = subprocess.Popen(
                [*DIE_WITH_PARENT, *command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**os.environ, **environment},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def require_alive(self) -> None:
        status = self._process.poll()
        if status is not None:
            raise BenchFailure(f"{self.name} ended with status {status}\n{self.log_tail()}")

    def log_tail(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        return "\n".join(f"    {line}" for line in lines)

    def cpu_seconds(self) -> float:
        """Processor time of the whole session so far."""
        return sum(_cpu_seconds(fields) for _, fields in _session_members(self.pid))

    def memory_bytes(self) -> int:
        """Memory the whole session holds now, shared pages divided fairly among those who share them."""
        return sum(_proportional_memory(pid) for pid, _ in _session_members(self.pid))

    def stop(self, patience_seconds: float = 15.0) -> float:
        """Ask the leader to end, then end whatever is left of the session. Returns the seconds that it took."""
        began = time.monotonic()
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(patience_seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        self._kill_session()
        return time.monotonic() - began

    def kill(self) -> None:
        """End the whole session at once, as a crash would."""
        self._kill_session()
        self._process.wait(10)

    def _kill_session(self) -> None:
        for pid, _ in list(_session_members(self.pid)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # it ended by itself between the listing and now


def cpu_seconds_of(pid: int) -> float:
    """Processor time of one process so far; 0.0 for one that has ended."""
    fields = _stat_fields(PROC / str(pid))
    return _cpu_seconds(fields) if fields else 0.0


def _cpu_seconds(fields: list[str]) -> float:
    return (int(fields[USER_TICKS_FIELD]) + int(fields[SYSTEM_TICKS_FIELD])) / CPU_TICKS_PER_SECOND


def _stat_fields(process: Path) -> list[str]:
    try:
        stat = (process / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []  # ended between the listing and now
    return stat[stat.rindex(")") + 2 :].split()


def _session_members(leader: int) -> Iterator[tuple[int, list[str]]]:
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            fields = _stat_fields(entry)
            if fields and int(fields[SESSION_FIELD]) == leader:
                yield int(entry.name), fields


def _proportional_memory(pid: int) -> int:
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0  # ended between the listing and now
    return 0
