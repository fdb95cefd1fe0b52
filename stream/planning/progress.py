"""How far a plan has come."""

from __future__ import annotations

import time
from typing import TextIO

from stream.moving_line import MovingLine


class Progress:
    """Says what is done and how far, never on standard output."""

    def __init__(self, name: str, out: TextIO) -> None:
        self._name, self._line = name, MovingLine(out, at_once=True)
        self._began = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def clear(self) -> None:
        self._line.clear()

    def __call__(self, doing: str, done: int, of: int) -> None:
        if self._line.is_due():
            seconds = time.monotonic() - self._began
            self._line.write(f"{self._name}: {doing}: {done} of {of}, {seconds:.0f} s")
