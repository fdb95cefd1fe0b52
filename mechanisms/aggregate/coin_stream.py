"""Coins of aggregates: a stream without end for each query of each window, the same for ever. Note: geometric.md.

Word i of query j in window k is word i mod 8 of block i div 8 of ChaCha20 with the nonce k | j: no two of them share a
word, and a window that is totalled again after a crash draws what it drew before.
"""

from __future__ import annotations

import numpy as np

from beliefs.checks import require
from beliefs.learning.noise import below_from_bits
from mechanisms.coins import KEY_BYTES, WORDS_PER_OFFSET, Coins, keystream

WORD = 64
_BLOCKS = 1 << 32
_FEWEST = 8


class CoinStream:
    def __init__(self, key: bytes, window: int, query: int) -> None:
        require(len(key) == KEY_BYTES, "a key has 32 bytes")
        require(0 <= window < 1 << 63 and 0 <= query < 1 << 32, "windows and queries are numbered from 0")
        self._key, self._window, self._query = key, window, query
        self._words: Coins = np.zeros(0, dtype=np.uint64)
        self._place = self._blocks = 0
        self.below = below_from_bits(self.bits)

    def bits(self, width: int) -> int:
        """A number of so many even bits: the top ones of as few words as hold them, the first word highest."""
        count = -(-width // WORD)
        number = 0
        for word in self.ahead(count)[:count].tolist():
            number = number << WORD | word
        self.skip(count)
        return number >> (count * WORD - width)

    def bernoulli(self, top: int, bottom: int) -> bool:
        """True with probability top/bottom."""
        return self.below(bottom) < top

    def ahead(self, count: int) -> Coins:
        """At least the next so many words; they stay where they are."""
        missing = count - (self._words.size - self._place)
        if missing > 0:
            blocks = max(-(-missing // WORDS_PER_OFFSET), _FEWEST)
            require(self._blocks + blocks <= _BLOCKS, "a stream has 2^35 words")
            more = keystream(self._key, self._window * _BLOCKS + self._blocks, blocks, self._query)
            self._words = np.concatenate([self._words[self._place :], more.reshape(-1)])
            self._place = 0
            self._blocks += blocks
        return self._words[self._place :]

    def skip(self, count: int) -> None:
        require(count <= self._words.size - self._place, "what is left out was looked at before")
        self._place += count
