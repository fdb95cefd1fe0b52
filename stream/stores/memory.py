"""The states of one partition's users in two growing arrays; the default store.

A user costs the row (64 + 4|X| bytes), one entry of a dict (about 100 bytes with its key object) and, because the
arrays double, up to as much again in reserve. Loading a block gathers rows and applying one scatters them: both are
one step of numpy for the whole block.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from stream.protocol.ports import NOTHING_HELD, Codes, Heads, Loaded, RowCodec

_SMALLEST = 1024


class MemoryStore:
    def __init__(self, codec: RowCodec) -> None:
        self._codec = codec
        self._new_head = codec.new_users(1)[0][0]
        self.clear()

    @property
    def unreadable(self) -> Collection[bytes]:
        return self._unreadable

    def load(self, keys: Sequence[bytes]) -> Loaded:
        slots = self._slots_of(keys)
        known = slots >= 0
        heads, codes = self._heads[slots], self._codes[slots]
        if not known.all():
            heads[~known] = self._new_head
            codes[~known] = 0
        return Loaded(heads, codes, known)

    def load_held(self, keys: Sequence[bytes]) -> list[bytes | None]:
        find = self._held.get
        return [find(key) for key in keys]

    def apply(
        self,
        keys: Sequence[bytes],
        heads: Heads,
        codes: Codes,
        position: int,
        marks: Mapping[bytes, bytes],
        held: Mapping[bytes, bytes] = NOTHING_HELD,
    ) -> None:
        if keys:
            slots = self._slots_of(keys)
            (new,) = np.nonzero(slots < 0)
            if len(new):
                slots[new] = self._new_slots([keys[i] for i in new.tolist()])
            self._heads[slots] = heads
            self._codes[slots] = codes
        if self._unreadable:
            for key in keys:
                self._unreadable.pop(key, None)
        for key, record in held.items():
            if record:
                self._held[key] = record
            else:
                self._held.pop(key, None)
        self._marks.update(marks)
        self._position = position

    def quarantine(self, rows: Mapping[bytes, bytes]) -> None:
        self._forget(rows)
        self._unreadable.update(rows)

    def remove(self, keys: Sequence[bytes]) -> None:
        self._forget(keys)
        for key in keys:
            self._unreadable.pop(key, None)
            self._held.pop(key, None)

    def all_heads(self) -> Iterator[Heads]:
        yield self._heads[list(self._slots.values())]

    def held(self) -> Iterator[tuple[bytes, bytes]]:
        return iter(self._held.items())

    def marks(self) -> Mapping[bytes, bytes]:
        return dict(self._marks)

    def position(self) -> int:
        return self._position

    def clear(self) -> None:
        self._slots: dict[bytes, int] = {}
        self._free: list[int] = []
        self._used = 0
        # One row more than needed: slot -1 of an unknown user reads the last row, which must exist.
        self._heads = np.zeros((_SMALLEST, len(self._new_head)), np.int64)
        self._codes = np.zeros((_SMALLEST, self._codec.symbols), np.uint32)
        self._unreadable: dict[bytes, bytes] = {}
        self._held: dict[bytes, bytes] = {}
        self._marks: dict[bytes, bytes] = {}
        self._position = 0

    def close(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return len(self._slots)

    def _slots_of(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        find = self._slots.get
        return np.array([find(key, -1) for key in keys], np.int64)

    def _new_slots(self, keys: Sequence[bytes]) -> list[int]:
        reused = [self._free.pop() for _ in range(min(len(self._free), len(keys)))]
        fresh = len(keys) - len(reused)
        slots = [*reused, *range(self._used, self._used + fresh)]
        self._used += fresh
        self._make_room(self._used + 1)
        self._slots.update(zip(keys, slots, strict=True))
        return slots

    def _make_room(self, rows: int) -> None:
        have = len(self._heads)
        if rows <= have:
            return
        size = max(rows, 2 * have)
        heads, codes = (
            np.zeros((size, self._heads.shape[1]), np.int64),
            np.zeros((size, self._codes.shape[1]), np.uint32),
        )
        heads[:have], codes[:have] = self._heads, self._codes
        self._heads, self._codes = heads, codes

    def _forget(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            slot = self._slots.pop(key, None)
            if slot is not None:
                self._free.append(slot)
