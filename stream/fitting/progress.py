"""How far the reading has come: a moving line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from typing import Final, TextIO

LINE_SECONDS: Final = 5.0
MOVE_SECONDS: Final = 0.2


class Progress:
    """Says rows, users, rate and share; never on standard output."""

    def __init__(self, out: TextIO | None) -> None:
        self._out = out
        self._moves = out is not None and out.isatty()
        self._wrote = False
        self.begin("")

    def begin(self, doing: str) -> None:
        self._doing = doing
        self._rows = 0
        self._began = self._said = time.monotonic()

    def read(self, rows: int, users: int, share: float) -> None:
        self._rows += rows
        rate = self._rows / max(time.monotonic() - self._began, 1e-9)
        self.meanwhile(f"{self._doing}: {self._rows:,} rows, {users:,} users, {rate:,.0f} rows/s, {share:.0%}")

    def meanwhile(self, text: str) -> None:
        """Now and then only."""
        now = time.monotonic()
        if now - self._said >= (MOVE_SECONDS if self._moves else LINE_SECONDS):
            self._said = now
            self.say(text)

    def say(self, text: str) -> None:
        self._write(f"fit: {text}")

    def end(self) -> None:
        if self._wrote and self._moves and self._out is not None:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def _write(self, text: str) -> None:
        if self._out is None:
            return
        self._wrote = True
        self._out.write(f"\r\x1b[K{text}" if self._moves else f"{text}\n")
        self._out.flush()
