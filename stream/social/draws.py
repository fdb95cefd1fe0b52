"""Numbers that follow from a seed, the same for ever: for worlds that are made up, never for what is released."""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from mechanisms.coins import WORDS_PER_OFFSET, Coins, keystream
from mechanisms.local.coins import field_key

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Draws:
    """Each name has numbers of its own, so that a part that is added later changes no other one."""

    key: bytes

    @classmethod
    def of(cls, seed: int) -> Draws:
        require(0 <= seed < 1 << 64, "a seed is a whole number from 0 to 2^64 - 1")
        return cls(hashlib.sha256(b"sottovoce social v1" + struct.pack(">Q", seed)).digest())

    def words(self, name: str, count: int) -> Coins:
        blocks = -(-count // WORDS_PER_OFFSET)
        return keystream(field_key(self.key, name), 0, blocks).ravel()[:count]

    def even(self, name: str, *shape: int) -> Floats:
        """Between 0 and 1, neither included."""
        drawn: Floats = (self.words(name, math.prod(shape)) >> np.uint64(11)).astype(np.float64)
        return ((drawn + 0.5) * 2.0**-53).reshape(shape)

    def normal(self, name: str, *shape: int) -> Floats:
        """Mean 0, variance 1, by Box and Muller."""
        radius, angle = self.even(name, 2, math.prod(shape))
        drawn: Floats = np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * np.pi * angle)
        return drawn.reshape(shape)

    def order(self, name: str, count: int) -> NDArray[np.int64]:
        """All numbers below `count`, shuffled."""
        return np.argsort(self.even(name, count), kind="stable").astype(np.int64)
