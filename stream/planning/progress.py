"""How far a plan has come: a moving line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from typing import Final, TextIO

LINE_SECONDS: Final = 5.0
MOVE_SECONDS: Final = 0.2


class Progress:
    """Says what is done and how far, never on standard output."""

    def __init__(self, name: str, out: TextIO) -> None:
        self._name, self._out, self._moves = name, out, out.isatty()
        self._said = 0.0
        self._began = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._said and self._moves:
            self._out.write("\r\x1b[K")
            self._out.flush()

    def __call__(self, doing: str, done: int, of: int) -> None:
        now = time.monotonic()
        if now - self._said < (MOVE_SECONDS if self._moves else LINE_SECONDS):
            return
        self._said = now
        text = f"{self._name}: {doing}: {done} of {of}, {now - self._began:.0f} s"
        self._out.write(f"\r\x1b[K{text}" if self._moves else f"{text}\n")
        self._out.flush()
