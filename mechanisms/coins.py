"""Keyed coins: the only randomness of a release.

The keystream of ChaCha20 under a key derived for one partition of one topic gives 64 bytes to every offset: a whole
block's coins are one call, and offset o has the same coins for ever, so a block that is repeated after a crash shows
the same bytes again.

    partition key = HKDF-SHA256(epoch key, info = "sottovoce coins v1" | pipeline | topic id | partition)
    coins(o)      = block (o mod 2^32) of ChaCha20 with the 96-bit nonce (o div 2^32)

The topic id is part of the key because a topic that is deleted and made again starts over with offset 0.
"""

from __future__ import annotations

import struct

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from beliefs.checks import require
from beliefs.native import kernel
from mechanisms.contract import Integers

KEY_BYTES = 32
BYTES_PER_OFFSET = 64
WORDS_PER_OFFSET = BYTES_PER_OFFSET // 8
_COUNTERS = 1 << 32

Coins = NDArray[np.uint64]


def partition_key(epoch_key: bytes, pipeline: str, topic_id: bytes, partition: int) -> bytes:
    require(len(epoch_key) == KEY_BYTES, "an epoch key has 32 bytes")
    require(len(topic_id) == 16, "a topic id has 16 bytes")
    name = pipeline.encode()
    # Every part has a fixed length or its length in front, so that no two pipelines can share a key.
    info = b"sottovoce coins v1" + struct.pack(">I", len(name)) + name + topic_id + struct.pack(">I", partition)
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(epoch_key)


def keystream(key: bytes, first_offset: int, count: int, lane: int = 0) -> Coins:
    """The coins of `count` consecutive offsets: eight 64-bit words each. Lanes under one key have nothing in common."""
    require(first_offset >= 0 and count >= 0, "offsets are not negative")
    parts = []
    offset, left = first_offset, count
    while left > 0:
        # A cipher's 32-bit block counter must not run over: the nonce changes every 2^32 offsets.
        run = min(left, _COUNTERS - offset % _COUNTERS)
        nonce = struct.pack("<IQI", offset % _COUNTERS, offset // _COUNTERS, lane)
        encryptor = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
        parts.append(encryptor.update(bytes(run * BYTES_PER_OFFSET)))
        offset += run
        left -= run
    return np.frombuffer(b"".join(parts), dtype="<u8").reshape(count, WORDS_PER_OFFSET)


def coins_of(key: bytes, offsets: Integers) -> Coins:
    """The coins of ascending offsets; a gap (compaction, transaction markers) costs one more call, not its length."""
    if offsets.shape[0] == 0:
        return np.zeros((0, WORDS_PER_OFFSET), dtype=np.uint64)
    first, last = int(offsets[0]), int(offsets[-1])
    if last - first < 2 * offsets.shape[0] + 64:
        return keystream(key, first, last - first + 1)[offsets - first]
    ends = np.flatnonzero(np.diff(offsets) != 1) + 1
    runs = np.split(offsets, ends)
    return np.concatenate([keystream(key, int(run[0]), run.shape[0]) for run in runs])


@kernel
def pick(weights: Integers, count: int, coin: int) -> int:
    """The place in a row of integers with the sum 2^62 that the top 62 bits of a coin select: exact and unbiased."""
    point = np.int64(np.uint64(coin) >> np.uint64(2))
    for i in range(count):
        point -= weights[i]
        if point < 0:
            return i
    return count - 1
