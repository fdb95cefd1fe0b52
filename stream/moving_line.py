"""How far something has come: a line that moves on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import math
import time
from typing import Final, TextIO

LINE_SECONDS: Final = 5.0
MOVE_SECONDS: Final = 0.2


class MovingLine:
    """Written to whatever is given, which is never the standard output; to nothing, where nothing is."""

    def __init__(self, out: TextIO | None, *, at_once: bool = False) -> None:
        """The first line is due a while from now, or at once."""
        self._out = out
        self._moves = out is not None and out.isatty()
        self._wrote = False
        self._said = -math.inf if at_once else time.monotonic()

    def wait(self) -> None:
        """The next line is due a while from now."""
        self._said = time.monotonic()

    def is_due(self) -> bool:
        """Whether to write now; if so, the next line is due a while from now."""
        now = time.monotonic()
        if now - self._said < (MOVE_SECONDS if self._moves else LINE_SECONDS):
            return False
        self._said = now
        return True

    def write(self, text: str) -> None:
        if self._out is None:
            return
        self._wrote = True
        self._out.write(f"\r\x1b[K{text}" if self._moves else f"{text}\n")
        self._out.flush()

    def clear(self) -> None:
        """What moved is taken away; plain lines stay."""
        if self._wrote and self._moves and self._out is not None:
            self._out.write("\r\x1b[K")
            self._out.flush()
