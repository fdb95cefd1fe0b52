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
from mechanisms.coins import KEY_BYTES, WORDS_PER_OFFSET, Coins, keystream
from mechanisms.contract import Integers


def field_key(key: bytes, field: str) -> bytes:
    return _derived(key, b"sottovoce field v1", field.encode())


def permanent_coins(key: bytes, user: bytes, value: int, words: int) -> Coins:
    """The coins of one user's permanent bits for one value: one row."""
    derived = _derived(key, b"sottovoce permanent v1", user, struct.pack(">Q", value))
    return report_coins(derived, 0, 1, words)


def memoised_coins(key: bytes, users: Sequence[bytes], values: Integers, first: int, words: int) -> Coins:
    """Rows for reports from permanent bits: the first half follows from user and value, the other from the report.

    However many reports a user makes of a value, wherever and after whatever restart: the permanent bits are the same.
    """
    fresh = report_coins(key, first, len(users), words // 2)
    kept: dict[tuple[bytes, int], Coins] = {}
    rows = np.empty((len(users), words), dtype=np.uint64)
    rows[:, words // 2 :] = fresh
    for place, owner in enumerate(zip(users, values.tolist(), strict=True)):
        if owner not in kept:
            kept[owner] = permanent_coins(key, *owner, words // 2)[0]
        rows[place, : words // 2] = kept[owner]
    return rows


def report_coins(key: bytes, first: int, count: int, words: int) -> Coins:
    """A row of so many words for each of `count` consecutive reports."""
    require(words >= 1, "a report takes at least one word")
    blocks = -(-words // WORDS_PER_OFFSET)
    rows = keystream(key, first * blocks, count * blocks).reshape(count, blocks * WORDS_PER_OFFSET)
    return rows[:, :words]


def _derived(key: bytes, purpose: bytes, *parts: bytes) -> bytes:
    require(len(key) == KEY_BYTES, "a key has 32 bytes")
    # Every part has its length in front, so that no two lists of parts can share a key.
    info = purpose + b"".join(struct.pack(">I", len(part)) + part for part in parts)
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(key)
