"""Headless Chromium for the tests of pages, spoken to over two pipes in its DevTools protocol; no port is opened.

It cannot resolve any name, so nothing outside of this machine is asked for anything; what a page asks for is counted
all the same. When the pipes close, also because the tests were killed, Chromium ends.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import machine

_ANSWER_SECONDS: Final = 60.0
_FLAGS: Final = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
# Chromium reads commands from descriptor 3 and writes to 4; copies above both come first, so that neither is lost.
_ON_3_AND_4: Final = (
    "import fcntl, os, sys; copies = [fcntl.fcntl(int(text), fcntl.F_DUPFD, 10) for text in sys.argv[1:3]]; "
    "[os.dup2(copy, place) for place, copy in enumerate(copies, 3)]; os.closerange(5, 256); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
_MEASURE: Final = Path(__file__).with_name("browser_measure.js")


@dataclass
class Seen:
    """What one look at a page found. `said` is what the console showed, `asked` every address that was asked for."""

    width: int
    measured: dict[str, Any]
    said: list[str]
    asked: list[str]
    picture: bytes = field(repr=False, default=b"")


class Browser:
    def __init__(self, process: subprocess.Popen[bytes], commands: int, answers: int, log: Path) -> None:
        self._process, self._commands, self._answers, self._log = process, commands, answers, log
        self._unread = b""
        self._events: list[dict[str, Any]] = []
        self._number = 0
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")
        self.ask("Page.setLifecycleEventsEnabled", enabled=True)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._ask(method, parameters, self._session)

    def look(self, url: str, *, width: int, dark: bool) -> Seen:
        """Load a page anew and measure it; the picture is of the whole page, however long."""
        self._shape(width, dark)
        self._events.clear()
        self._load(url)
        answer = self.ask("Runtime.evaluate", expression=_MEASURE.read_text(encoding="utf-8"), returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        said, asked = list(self._said()), list(self._asked())
        return Seen(width, answer["result"]["value"], said, asked, base64.b64decode(shot))

    def _load(self, url: str) -> None:
        """Until everything of this very load is there; an earlier one may still report what it did."""
        loader = self.ask("Page.navigate", url=url)["loaderId"]
        wanted = {"loaderId": loader, "name": "load"}
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not any(wanted.items() <= event["params"].items() for event in self._events):
            self._take(self._read(deadline, url))

    def _shape(self, width: int, dark: bool) -> None:
        phone = width < 600
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": phone}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def _said(self) -> Iterator[str]:
        """Errors and warnings of scripts, of the network and of the page's own policy."""
        for event in self._events:
            told = event["params"]
            if event["method"] == "Log.entryAdded":
                yield f"{told['entry']['level']}: {told['entry']['text']}"
            elif event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
                yield json.dumps(told)

    def _asked(self) -> Iterator[str]:
        for event in self._events:
            if event["method"] == "Network.requestWillBeSent":
                yield event["params"]["request"]["url"]

    def _ask(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _ANSWER_SECONDS
        while True:
            told = self._read(deadline, method)
            if told.get("id") == self._number:
                assert "error" not in told, f"{method}: {told['error']}"
                found: dict[str, Any] = told["result"]
                return found
            self._take(told)

    def _take(self, told: dict[str, Any]) -> None:
        if "method" in told:
            self._events.append(told)

    def _read(self, deadline: float, waiting_for: str) -> dict[str, Any]:
        while b"\0" not in self._unread:
            left = max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([self._answers], [], [], left)
            assert ready, f"Chromium did not answer within {_ANSWER_SECONDS:g} s: {waiting_for}"
            came = os.read(self._answers, 1 << 16)
            assert came, f"Chromium ended while {waiting_for} was under way: {self._last_words()}"
            self._unread += came
        message, _, self._unread = self._unread.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told

    def _last_words(self) -> str:
        said = self._log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        return f"status {self._process.wait()}; run as root, or allow user namespaces, if it has no sandbox\n{said}"


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser whose profile is in this folder, where it also writes what it complains of."""
    machine.ensure([machine.CHROMIUM])
    program = machine.chromium()
    assert program is not None
    # Chromium refuses its sandbox to root.
    flags = [*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else []), f"--user-data-dir={folder / 'profile'}"]
    its_read, commands = os.pipe()
    answers, its_write = os.pipe()
    start = [sys.executable, "-c", _ON_3_AND_4, str(its_read), str(its_write), program, *flags, "about:blank"]
    log = folder / "chromium.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            start, stdin=subprocess.DEVNULL, stdout=out, stderr=out, pass_fds=(its_read, its_write)
        )
    os.close(its_read)
    os.close(its_write)
    try:
        yield Browser(process, commands, answers, log)
    finally:
        os.close(commands)
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answers)
