"""How far the reading has come."""

from __future__ import annotations

import time
from typing import TextIO

from stream.moving_line import MovingLine


class Progress:
    """Says rows, users, rate and share; never on standard output."""

    def __init__(self, out: TextIO | None) -> None:
        self._line = MovingLine(out)
        self.begin("")

    def begin(self, doing: str) -> None:
        self._doing = doing
        self._rows = 0
        self._began = time.monotonic()
        self._line.wait()

    def read(self, rows: int, users: int, share: float) -> None:
        self._rows += rows
        rate = self._rows / max(time.monotonic() - self._began, 1e-9)
        self.meanwhile(f"{self._doing}: {self._rows:,} rows, {users:,} users, {rate:,.0f} rows/s, {share:.0%}")

    def meanwhile(self, text: str) -> None:
        """Now and then only."""
        if self._line.is_due():
            self.say(text)

    def say(self, text: str) -> None:
        self._line.write(f"fit: {text}")

    def end(self) -> None:
        self._line.clear()
