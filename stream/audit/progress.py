"""How far an audit has come."""

from __future__ import annotations

from typing import TextIO

from stream.moving_line import MovingLine


class Shown:
    """Counts what has been read and says so, never on standard output."""

    def __init__(self, out: TextIO, who: str = "audit") -> None:
        self._line, self._who = MovingLine(out), who
        self._counts: dict[str, int] = {}

    def __enter__(self) -> Shown:
        self._line.write(f"{self._who}: begins; the first one on a machine compiles its arithmetic for some seconds")
        return self

    def __exit__(self, *_: object) -> None:
        self._line.clear()

    def __call__(self, doing: str, records: int) -> None:
        self._counts[doing] = self._counts.get(doing, 0) + records
        if self._line.is_due():
            counts = ", ".join(f"{count:,} {name}" for name, count in self._counts.items())
            self._line.write(f"{self._who}: {counts}")
