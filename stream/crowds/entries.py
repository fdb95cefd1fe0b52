"""What one user gives to one window of a crowd, event by event, and how it is written down.

A contribution is a list of whole numbers: the times of the user's first and last event in the window, the place of his
type, the tag of his household (0: none), then his cells: of a count 1 or 0, of amounts their steps of the grid, of a
histogram the place of his value, of records a place for each attribute and one for the sensitive value.

`first` and `last` go by the event's time, and of equal times the one that stands first in the topic stays; `largest`
and `smallest` look at the value alone. So an event that is repeated changes nothing. Type and household are those of
the first event where `first` is taken, else of the last one: who is there is known to everybody, so it must not depend
on a value.

As an entry it is, little-endian but for the tag:

    offset  size
         0    16  the tag: the user's pseudonym
        16     2  the type
        18     8  the household
        26     8  the time of the event that type and household are of
        34     8  each cell
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.contract import Integers
from stream.crowds.promise import CrowdPromise, Release
from stream.gathering.people import Contribution
from stream.settings.crowd import Take

FIRST, LAST, TYPE, HOUSEHOLD, CELLS = range(5)

Members = dict[bytes, Contribution]
"""Of one window: the contributions of its users, by pseudonym."""

Entries = NDArray[np.void]


class CrowdRules:
    """What events do to contributions. An event's values are those of the promise's forms: cells, type, household."""

    def __init__(self, promise: CrowdPromise) -> None:
        self._take: Take = promise.release.take
        self._cells = cells = len(promise.release.forms)
        typed = promise.type_form is not None
        self._type = cells if typed else None
        self._household = cells + typed if promise.household_path is not None else None
        self.longest = CELLS + cells

    def empty(self) -> Members:
        return {}

    def begin(self, key: bytes, time: int, values: Sequence[int], tally: Members) -> Contribution:
        """The first event of a user in a window."""
        mine = [time, time, *self._whose(values), *values[: self._cells]]
        tally[key] = mine
        return mine

    def change(self, mine: Contribution, time: int, values: Sequence[int], tally: Members) -> bool:  # noqa: ARG002
        """A further event; answers whether it was new: of another time than those that are known, or a change."""
        new = time not in (mine[FIRST], mine[LAST])
        take = self._take
        whose = time < mine[FIRST] if take == "first" else time > mine[LAST]
        if whose:
            mine[TYPE:CELLS] = self._whose(values)
        if take == "largest":
            counts = values[0] > mine[CELLS]
        else:
            counts = values[0] < mine[CELLS] if take == "smallest" else whose
        if counts:
            mine[CELLS:], new = values[: self._cells], True
        mine[FIRST], mine[LAST] = min(time, mine[FIRST]), max(time, mine[LAST])
        return new

    def add(self, key: bytes, mine: Contribution, tally: Members) -> None:
        tally[key] = mine

    def _whose(self, values: Sequence[int]) -> tuple[int, int]:
        type_ = 0 if self._type is None else values[self._type]
        return type_, 0 if self._household is None else values[self._household]


class EntryForm:
    """How the entries of a pipeline are written and read."""

    def __init__(self, promise: CrowdPromise) -> None:
        cells = len(promise.release.forms)
        self._time = FIRST if promise.release.take == "first" else LAST
        self._packed = struct.Struct(f"<16sHqq{cells}q")
        shape = [("high", ">u8"), ("low", ">u8"), ("type", "<u2"), ("household", "<i8"), ("time", "<i8")]
        self._read = np.dtype([*shape, ("cells", "<i8", (cells,))])
        self.size: Final = self._packed.size

    def write(self, members: Mapping[bytes, Contribution]) -> list[bytes]:
        """The entries of a window, ascending by tag."""
        pack, time = self._packed.pack, self._time
        return [
            pack(bytes.fromhex(key.decode()), mine[TYPE], mine[HOUSEHOLD], mine[time], *mine[CELLS:])
            for key, mine in sorted(members.items())
        ]

    def read(self, text: bytes) -> Entries:
        found: Entries = np.frombuffer(text, self._read)
        return found


class Group(NamedTuple):
    """The people of one window over all partitions, each once, ascending by tag. Of a tag there are the first eight
    bytes: of 200,000 users two share them with a chance of 1e-9.
    """

    tags: NDArray[np.uint64]
    types: Integers
    households: Integers
    cells: Integers

    @property
    def users(self) -> int:
        return int(self.tags.shape[0])


def anybody(release: Release) -> Group:
    """A group to warm up with, as many of each sensitive value."""
    each = release.sizes[-1] if release.sensitive is not None else 1
    users = each * -(-(1 if release.rule is None else release.rule.k) // each)
    cells = np.tile(np.array(release.offsets, np.int64), (users, 1))
    cells[:, -1] += np.arange(users) % each
    nothing = np.zeros(users, np.int64)
    return Group(np.arange(users, dtype=np.uint64), nothing, nothing, cells)


def joined(parts: Sequence[Entries], take: Take) -> Group:
    """One entry of each user, whatever number of partitions he comes from. `parts` stand by partition: of equal events
    that of the lower one counts.
    """
    entries = np.concatenate(parts)
    if len(parts) == 1:
        return _group(entries, entries["cells"].astype(np.int64))
    time = entries["time"] if take == "first" else -entries["time"]
    entries = entries[np.lexsort((time, entries["low"], entries["high"]))]
    cells = entries["cells"].astype(np.int64)
    first = np.ones(entries.shape[0], np.bool_)
    first[1:] = (entries["high"][1:] != entries["high"][:-1]) | (entries["low"][1:] != entries["low"][:-1])
    if take in ("first", "last") or first.all():
        return _group(entries[first], cells[first])
    extreme = np.maximum if take == "largest" else np.minimum
    return _group(entries[first], extreme.reduceat(cells, np.flatnonzero(first), axis=0))


def _group(entries: Entries, cells: Integers) -> Group:
    types, households = entries["type"].astype(np.int64), entries["household"].astype(np.int64)
    return Group(entries["high"].astype(np.uint64), types, households, cells)
