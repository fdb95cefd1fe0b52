"""Coins of reports: as many words as a report needs, the same for ever for one report of one field.

    field key       = HKDF-SHA256(key, info = "sottovoce field v1" | field)
    permanent key   = HKDF-SHA256(field key, info = "sottovoce permanent v1" | user | value)

Report i of a field that takes w words has the blocks i B .. (i + 1) B - 1 of the field key's keystream, B = w/8 rounded
up. Permanent bits have a key of their own for each user and value, so that nobody has to remember them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from beliefs.checks import require
from mechanisms.coins import KEY_BYTES, WORDS_PER_OFFSET, Coins, coins_of, keystream
from mechanisms.contract import Integers


def field_key(key: bytes, field: str) -> bytes:
    return _derived(key, b"sottovoce field v1", field.encode())


def permanent_coins(key: bytes, user: bytes, value: int, words: int) -> Coins:
    """The coins of one user's permanent bits for one value: one row."""
    derived = _derived(key, b"sottovoce permanent v1", user, struct.pack(">Q", value))
    return report_coins(derived, 0, 1, words)


class KeptCoins:
    """Permanent coins of users and values; those asked for last are remembered, which changes nothing but the time."""

    def __init__(self, key: bytes, words: int, most: int = 1 << 16) -> None:
        self._key, self._words, self._most = key, words, most
        self._known: dict[tuple[bytes, int], Coins] = {}

    def beside(self, users: Sequence[bytes], values: Integers, fresh: Coins) -> Coins:
        """Rows for reports from permanent bits: the first half follows from user and value, the other is fresh."""
        rows = np.empty((len(users), self._words + fresh.shape[1]), dtype=np.uint64)
        rows[:, self._words :] = fresh
        for place, owner in enumerate(zip(users, values.tolist(), strict=True)):
            rows[place, : self._words] = self._of(owner)
        return rows

    def _of(self, owner: tuple[bytes, int]) -> Coins:
        kept = self._known.pop(owner, None)
        if kept is None:
            kept = permanent_coins(self._key, *owner, self._words)[0]
            if len(self._known) >= self._most:
                del self._known[next(iter(self._known))]
        self._known[owner] = kept
        return kept


def memoised_coins(key: bytes, users: Sequence[bytes], values: Integers, first: int, words: int) -> Coins:
    """Rows for consecutive reports from permanent bits.

    However many reports a user makes of a value, wherever and after whatever restart: the permanent bits are the same.
    """
    return KeptCoins(key, words // 2).beside(users, values, report_coins(key, first, len(users), words // 2))


def report_coins(key: bytes, first: int, count: int, words: int) -> Coins:
    """A row of so many words for each of `count` consecutive reports."""
    require(words >= 1, "a report takes at least one word")
    blocks = -(-words // WORDS_PER_OFFSET)
    rows = keystream(key, first * blocks, count * blocks).reshape(count, blocks * WORDS_PER_OFFSET)
    return rows[:, :words]


def coins_at(key: bytes, offsets: Integers, words: int) -> Coins:
    """A row of so many words for the report of each of these ascending offsets: report number `offset` of the field."""
    require(words >= 1, "a report takes at least one word")
    blocks = -(-words // WORDS_PER_OFFSET)
    if blocks == 1:
        return coins_of(key, offsets)[:, :words]
    places = (offsets[:, None] * blocks + np.arange(blocks)).ravel()
    return coins_of(key, places).reshape(offsets.shape[0], blocks * WORDS_PER_OFFSET)[:, :words]


def _derived(key: bytes, purpose: bytes, *parts: bytes) -> bytes:
    require(len(key) == KEY_BYTES, "a key has 32 bytes")
    # Every part has its length in front, so that no two lists of parts can share a key.
    info = purpose + b"".join(struct.pack(">I", len(part)) + part for part in parts)
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(key)
