"""Inputs that were released more than once: records with the same release id, found in bounded memory.

Ids are kept in memory up to a limit, then sorted into files by their first bits; equal ids are always in the same file.
The files hold what the released topic shows to everybody, and vanish with the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from stream.audit.records import Parsed

_LAYOUT: Final = np.dtype(
    [("high", ">u8"), ("low", ">u8"), ("offset", "<i8"), ("content", "<i8"), ("value", "<i4"), ("partition", "<i4")]
)
FILES: Final = 64
MEMORY_ROWS: Final = 2_000_000  # 80 MB


@dataclass
class Repeats:
    """`again` counts records beyond the first of their input; the others inputs. Places are (partition, offset)."""

    again: int = 0
    two_values: int = 0
    other_bytes: int = 0
    places_again: list[tuple[int, int]] = field(default_factory=list)
    places_two_values: list[tuple[int, int]] = field(default_factory=list)
    places_other_bytes: list[tuple[int, int]] = field(default_factory=list)


class IdIndex:
    """Takes records in any order; `repeats` may be asked once."""

    def __init__(self, memory_rows: int = MEMORY_ROWS) -> None:
        self._limit = memory_rows
        self._held: list[NDArray[np.void]] = []
        self._count = 0
        self._files: list[IO[bytes]] = []
        self._open = ExitStack()

    def __enter__(self) -> IdIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, partition: int, parsed: Parsed, usable: NDArray[np.bool_]) -> None:
        rows = np.empty(int(usable.sum()), dtype=_LAYOUT)
        halves = parsed.id[usable].view(">u8").reshape(-1, 2)
        rows["high"], rows["low"] = halves[:, 0], halves[:, 1]
        rows["offset"], rows["content"] = parsed.offset[usable], parsed.content[usable]
        rows["value"], rows["partition"] = parsed.value[usable], partition
        self._held.append(rows)
        self._count += rows.shape[0]
        if self._count > self._limit:
            self._spill()

    def _spill(self) -> None:
        if not self._files:
            self._files = [self._open.enter_context(tempfile.TemporaryFile()) for _ in range(FILES)]  # noqa: SIM115 the stack closes them
        rows = np.concatenate(self._held)
        home = (rows["high"] >> np.uint64(58)).astype(np.int64)
        order = np.argsort(home, kind="stable")
        ends = np.searchsorted(home[order], np.arange(FILES), side="right")
        for number, part in enumerate(np.split(rows[order], ends[:-1])):
            self._files[number].write(part.tobytes())
        self._held, self._count = [], 0

    def _parts(self) -> Iterator[NDArray[np.void]]:
        if not self._files:
            if self._held:
                yield np.concatenate(self._held)
            return
        self._spill_rest()
        for file in self._files:
            file.seek(0)
            yield np.frombuffer(file.read(), dtype=_LAYOUT)

    def _spill_rest(self) -> None:
        if self._held:
            self._spill()

    def repeats(self, places: int) -> Repeats:
        """What was found, with at most so many places of each kind."""
        found = Repeats()
        for rows in self._parts():
            _count(rows, found, places)
        return found


def _count(rows: NDArray[np.void], found: Repeats, places: int) -> None:
    order = np.lexsort((rows["offset"], rows["partition"], rows["low"], rows["high"]))
    rows = rows[order]
    same = (rows["high"][1:] == rows["high"][:-1]) & (rows["low"][1:] == rows["low"][:-1])
    if not same.any():
        return
    later = np.flatnonzero(same) + 1
    first = np.flatnonzero(np.concatenate([[True], ~same]))
    group = np.searchsorted(first, later, side="right") - 1
    leader = rows[first[group]]
    repeated = rows[later]
    values = leader["value"] != repeated["value"]
    contents = (leader["content"] != repeated["content"]) & ~values
    found.again += later.shape[0]
    found.two_values += int(np.unique(group[values]).shape[0])
    found.other_bytes += int(np.unique(group[contents]).shape[0])
    for kind, which in (
        (found.places_again, np.ones(later.shape[0], dtype=bool)),
        (found.places_two_values, values),
        (found.places_other_bytes, contents),
    ):
        more = repeated[which][: max(0, places - len(kind))]
        kind += list(zip(more["partition"].tolist(), more["offset"].tolist(), strict=True))
