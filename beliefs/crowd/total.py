"""What the last windows tell together about somebody who is in all of them, his values there being independent.
Proof: total.md.

A window is kept as what can be known of it by its name: how many people of each kind, rounded down, and its noise.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from beliefs.checks import Invalid, require
from beliefs.crowd.account import CrowdAccount, Present
from beliefs.crowd.composed import Losses, of_curve
from beliefs.crowd.informed import Others
from beliefs.crowd.noise import LADDER

WINDOWS_MAX: Final = 1 << 12
KINDS_MAX: Final = 14
_WIDE_MAX: Final = 7
"""So many kinds have two bytes each; more have one."""

_NAME_BITS: Final = 64
_DENSE: Final = 64
_STEPS: Final = 40
"""Steps of losses in epsilon/sqrt(windows)."""


class Total:
    """delta at the account's epsilon over so many windows in a row."""

    def __init__(self, account: CrowdAccount, windows: int) -> None:
        if account.kinds > KINDS_MAX:
            raise Invalid("windows", f"are added up for at most {KINDS_MAX} types, or sizes of households")
        if not 1 <= windows <= WINDOWS_MAX:
            raise Invalid("windows", f"must be from 1 to {WINDOWS_MAX:,}")
        self._account, self._windows = account, windows
        self._step = account.epsilon / (_STEPS * math.sqrt(windows))
        self._end = math.ceil((account.epsilon + min(4.0, 4.0 * account.epsilon)) / self._step)
        self._bits = 8 if account.kinds == 1 else 6 if account.kinds <= _WIDE_MAX else 4
        self._losses = lru_cache(maxsize=WINDOWS_MAX)(self._of)
        self._equal = lru_cache(maxsize=WINDOWS_MAX)(self._equal_of)
        self._together = lru_cache(maxsize=4 * WINDOWS_MAX)(self._together_of)
        self._nothing = Losses.nothing(self._step, self._end)

    def item(self, present: Present, scale: Fraction | None = None) -> bytes:
        """What is kept of a window: at most 16 bytes."""
        width = 2 if self._bits > 4 else 1
        noise = 0 if scale is None else LADDER.index(scale) + 1
        counts = self._account.counts(present)
        return noise.to_bytes(2, "big") + b"".join(_packed(each, self._bits).to_bytes(width, "big") for each in counts)

    def delta_with(self, history: Sequence[bytes], item: bytes) -> float:
        """Of this window and those before, of which only the last matter; rounded up. Empty ones tell nothing.

        The same history gives the same bits, whatever was asked before and in whatever order its windows were.
        """
        before = [each for each in history[max(0, len(history) - self._windows + 1) :] if each]
        named = sorted((_digest(each), each) for each in before) if self._windows > 1 else []
        older = self._together(tuple(named), 0) if named else self._nothing
        return older.told_with(self._losses(item), self._account.epsilon)

    def alike(self, item: bytes) -> float:
        """Of a whole row of windows that are all like this one; rounded up."""
        return self._equal(item, self._windows).told_with(self._nothing, self._account.epsilon)

    def _together_of(self, named: tuple[tuple[int, bytes], ...], bit: int) -> Losses:
        """Halves by one bit of their names after the other: what changes is on one path only."""
        if named[0] == named[-1]:
            return self._equal(named[0][1], len(named))
        split = next((at for at, (name, _) in enumerate(named) if name >> (_NAME_BITS - 1 - bit) & 1), len(named))
        halves = [self._together(half, bit + 1) for half in (named[:split], named[split:]) if half]
        return halves[0] if len(halves) == 1 else halves[0].and_also(halves[1])

    def _equal_of(self, item: bytes, count: int) -> Losses:
        if count == 1:
            return self._losses(item)
        half = self._equal(item, count // 2)
        both = half.and_also(half)
        return both.and_also(self._losses(item)) if count % 2 else both

    def _of(self, item: bytes) -> Losses:
        """One window's: its curve of delta over epsilon, at places that lie wider the less they matter."""
        counts, most, scale = self._unpacked(item)
        known = math.ceil(self._account.known * most)
        curve = self._account.curve(counts, known, scale, self._account.epsilon / math.sqrt(self._windows))
        places, found = [0], [curve(0.0)]
        negligible = self._account.delta * 2.0**-14 / self._windows
        while places[-1] < self._end and found[-1] > negligible:
            place = min(self._end, places[-1] + max(1, (places[-1] - _DENSE) // 8))
            places.append(place)
            found.append(min(found[-1], curve(place * self._step)))
        return of_curve(self._step, self._end, places, np.array(found))

    def _unpacked(self, item: bytes) -> tuple[Others, int, Fraction | None]:
        width = 2 if self._bits > 4 else 1
        packed = [int.from_bytes(item[at : at + width], "big") for at in range(2, len(item), width)]
        require(len(packed) == self._account.kinds, "what is kept of a window has a number for each kind")
        counts = tuple(_unpacked(each, self._bits) for each in packed)
        most = sum(
            size * (_unpacked(each + 1, self._bits) - 1) for each, size in zip(packed, self._sizes(), strict=True)
        )
        noise = int.from_bytes(item[:2], "big")
        return counts, most, LADDER[noise - 1] if noise else None

    def _sizes(self) -> Iterator[int]:
        yield from (max(1, kind - self._account.types + 1) for kind in range(self._account.kinds))


@lru_cache(maxsize=WINDOWS_MAX)
def _digest(item: bytes) -> int:
    return int.from_bytes(hashlib.sha256(item).digest()[: _NAME_BITS // 8], "big")


def _packed(count: int, bits: int) -> int:
    """The number rounded down to so many binary digits: those after the first, and where they stand."""
    shift = max(0, count.bit_length() - bits)
    return (shift << (bits - 1)) + (count >> shift) if shift else count


def _unpacked(packed: int, bits: int) -> int:
    half = 1 << (bits - 1)
    if packed < 2 * half:
        return packed
    shift, digits = divmod(packed, half)
    return (half + digits) << (shift - 1)
