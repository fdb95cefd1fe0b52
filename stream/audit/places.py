"""Where a released value stands in its window, from the header `window`: which value, of how many if that is said, and
what the channel drew, if anything.

The three numbers are packed into one while records are read, so that single releases pay for one column more, not
three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from stream import names
from stream.audit.amounts import Integers

_CACHED: Final = 1 << 16
_LARGEST: Final = 10**4


class Places:
    """Reads the headers of a pipeline with so many values."""

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self._known: dict[bytes, tuple[int, bool]] = {}

    def read(self, headers: Sequence[tuple[str, bytes]]) -> tuple[int, bool]:
        """The packed numbers, and whether the header is missing or says nothing that a window can."""
        text = next((value for name, value in headers if name == names.HEADER_WINDOW), b"")
        found = self._known.get(text)
        if found is None:
            found = self._parse(text)
            if len(self._known) < _CACHED:
                self._known[text] = found
        return found

    def _parse(self, text: bytes) -> tuple[int, bool]:
        parts = text.split(b"/")
        if len(parts) != 3 or not parts[0] or not all(part == b"" or _is_number(part) for part in parts):
            return 0, True
        place, length, drawn = (int(part) if part else -1 for part in parts)
        if max(place, length) >= _LARGEST or drawn >= self._symbols:
            return 0, True
        return place | (length + 1) << 16 | (drawn + 1) << 32, False


def _is_number(text: bytes) -> bool:
    return text.isdigit() and len(text) < 10 and (len(text) == 1 or text[:1] != b"0")


def unpacked(places: Integers) -> tuple[Integers, Integers, Integers]:
    """Which value of its window, of how many (-1 = not said), and what was drawn (-1 = nothing)."""
    return places & 0xFFFF, (places >> 16 & 0xFFFF) - 1, (places >> 32) - np.int64(1)
