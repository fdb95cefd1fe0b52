"""What the machine has to bring (venv, Java, Maven; for tests Chromium, Prometheus), and how to get what is missing.

Only the standard library is used here: this runs before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

JAVA_VERSION_MIN = 17
REPORT_EVERY_SECONDS = 10.0


class MachineError(Exception):
    """Something outside the project is missing or failed; the text says what to run."""


@dataclass(frozen=True)
class Need:
    """One thing that a system package provides."""

    what: str
    present: Callable[[], bool]
    debian: str
    elsewhere: str


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def java_version() -> int | None:
    """The major version of the `java` on the PATH, or None when there is none that answers."""
    java = shutil.which("java")
    if java is None:
        return None
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', answer.stderr + answer.stdout)
    return int(found.group(1)) if found and answer.returncode == 0 else None


def has_java() -> bool:
    version = java_version()
    return version is not None and version >= JAVA_VERSION_MIN


def has_maven() -> bool:
    return shutil.which("mvn") is not None


def chromium() -> str | None:
    """The headless browser that the tests look at pages with, under any of its names."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def has_chromium() -> bool:
    return chromium() is not None


def has_prometheus() -> bool:
    return all(map(shutil.which, ("prometheus", "promtool")))


def has_venv() -> bool:
    """Debian ships Python without `ensurepip`; `venv` then imports well and fails half-way."""
    return (
        subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode
        == 0
    )


VENV = Need(
    "the Python modules venv and ensurepip",
    has_venv,
    f"python{sys.version_info.major}.{sys.version_info.minor}-venv",
    "install the venv module of your Python",
)
JAVA = Need(
    f"Java {JAVA_VERSION_MIN} or newer",
    has_java,
    "default-jre-headless",
    "Fedora: sudo dnf install java-21-openjdk-headless; macOS with Homebrew: brew install openjdk",
)
MAVEN = Need(
    "Maven (mvn)", has_maven, "maven", "Fedora: sudo dnf install maven; macOS with Homebrew: brew install maven"
)
CHROMIUM = Need(
    "Chromium, for the tests of pages",
    has_chromium,
    "chromium",
    "Fedora: sudo dnf install chromium; macOS with Homebrew: brew install --cask chromium",
)
PROMETHEUS = Need(
    "Prometheus and promtool, for the tests of alerts and dashboards",
    has_prometheus,
    "prometheus",
    "Fedora: sudo dnf install golang-github-prometheus; macOS with Homebrew: brew install prometheus",
)


def ensure(needs: Sequence[Need]) -> None:
    """Installs what is missing where that is allowed (root with apt-get), otherwise raises with the commands to run."""
    missing = [need for need in needs if not need.present()]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        packages = [need.debian for need in missing]
        say(
            f"installing the system packages {', '.join(packages)} ({', '.join(need.what for need in missing)} missing)"
        )
        quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run_with_progress(["apt-get", "update", "-qq"], "apt-get update", env=quietly)
        run_with_progress(["apt-get", "install", "-y", "-qq", *packages], "apt-get install", env=quietly)
        missing = [need for need in missing if not need.present()]
    if missing:
        lines = ["this machine lacks something that sottovoce needs here:"]
        for need in missing:
            lines.append(f"  {need.what}")
            lines.append(f"    Debian or Ubuntu: sudo apt-get install {need.debian}")
            lines.append(f"    {need.elsewhere}")
        raise MachineError("\n".join(lines))


def run_with_progress(
    command: Sequence[str],
    doing: str,
    *,
    env: dict[str, str] | None = None,
    count: tuple[str, str] | None = None,
) -> None:
    """Runs a command that may be silent for minutes and reports every ten seconds that it is alive.

    `count` = (pattern, noun) adds how many lines of its output matched so far. The output is shown only if it fails.
    """
    started = time.monotonic()
    matched = 0
    done = threading.Event()

    def report() -> None:
        while not done.wait(REPORT_EVERY_SECONDS):
            so_far = f", {matched} {count[1]}" if count else ""
            say(f"  {doing}: {time.monotonic() - started:.0f} s{so_far}")

    pattern = re.compile(count[0]) if count else None
    output: list[str] = []
    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        with subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                output.append(line)
                if pattern is not None and pattern.search(line):
                    matched += 1
    finally:
        done.set()
        reporter.join()
    if process.returncode != 0:
        tail = "".join(output[-40:])
        raise MachineError(f"{doing} failed with status {process.returncode}: {' '.join(command)}\n{tail}")
