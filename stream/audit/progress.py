"""How far an audit has come: a moving line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from typing import Final, TextIO

LINE_SECONDS: Final = 5.0
MOVE_SECONDS: Final = 0.2


class Shown:
    """Counts what has been read and says so, never on standard output."""

    def __init__(self, out: TextIO, who: str = "audit") -> None:
        self._out, self._who = out, who
        self._moves = out.isatty()
        self._counts: dict[str, int] = {}
        self._said = time.monotonic()
        self._wrote = False

    def __enter__(self) -> Shown:
        self._write(f"{self._who}: begins; the first one on a machine compiles its arithmetic for some seconds")
        return self

    def __exit__(self, *_: object) -> None:
        if self._wrote and self._moves:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def __call__(self, doing: str, records: int) -> None:
        self._counts[doing] = self._counts.get(doing, 0) + records
        now = time.monotonic()
        if now - self._said < (MOVE_SECONDS if self._moves else LINE_SECONDS):
            return
        self._said = now
        self._write(f"{self._who}: " + ", ".join(f"{count:,} {name}" for name, count in self._counts.items()))

    def _write(self, text: str) -> None:
        self._wrote = True
        self._out.write(f"\r\x1b[K{text}" if self._moves else f"{text}\n")
        self._out.flush()
