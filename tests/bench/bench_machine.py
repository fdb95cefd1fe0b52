"""The machine the figures come from: its size, its versions, and how much of it others used while we measured."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

from bench_processes import CPU_TICKS_PER_SECOND

# Fields of the first line of /proc/stat after its name: user nice system idle iowait irq softirq steal.
IDLE_FIELDS = (3, 4)
QUIET_SHARE = 0.10
QUIET_LOOK_SECONDS = 2.0
LIBRARIES = ("faust-streaming", "aiokafka", "orjson", "numpy", "numba")


def describe_machine() -> dict[str, str | int | float]:
    facts: dict[str, str | int | float] = {
        "cores": os.cpu_count() or 0,
        "processor": _line_of(Path("/proc/cpuinfo"), "model name"),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30), 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "java": _java_version(),
    }
    facts.update({library: version(library) for library in LIBRARIES})
    return facts


def _line_of(path: Path, name: str) -> str:
    for line in path.read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"


def _java_version() -> str:
    answer = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return answer.stderr.splitlines()[0]


def busy_seconds() -> float:
    """Processor seconds that all cores together have been busy since the machine started, stolen time included."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(ticks) - sum(ticks[field] for field in IDLE_FIELDS)) / CPU_TICKS_PER_SECOND


async def await_quiet(patience_seconds: float) -> None:
    """Wait until the machine rests, as long as patience lasts; each measurement itself says how quiet it was."""
    until = time.monotonic() + patience_seconds
    while time.monotonic() < until:
        began, busy = time.monotonic(), busy_seconds()
        await asyncio.sleep(QUIET_LOOK_SECONDS)
        share = (busy_seconds() - busy) / ((time.monotonic() - began) * (os.cpu_count() or 1))
        if share < QUIET_SHARE:
            return
