"""The `release-id` of a record: the first 16 bytes of SHA-256(topic id | partition | offset | policy fingerprint), in
hexadecimal.

An input keeps its id however often it is read, so a consumer of uncommitted data can drop repeats by it. The message
has 36 bytes, which is one block of SHA-256; a whole Kafka block of offsets is hashed in one compiled call, because
one call of a library for each record would cost as much as the release itself.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from beliefs.native import kernel
from mechanisms.contract import Integers
from stream.protocol.texts import Texts

ID_CHARACTERS = 32
_MESSAGE_BYTES = 36


def _fractional_bits(root: int, count: int) -> list[int]:
    """The first 32 fractional bits of the square or cube roots of the first primes: the constants of SHA-256."""
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return [_integer_root(prime << (32 * root), root) & 0xFFFFFFFF for prime in primes]


def _integer_root(value: int, root: int) -> int:
    low, high = 0, 1 << 40
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**root <= value else (low, middle - 1)
    return low


_START = np.array(_fractional_bits(2, 8), dtype=np.uint32)
_ROUND = np.array(_fractional_bits(3, 64), dtype=np.uint32)
_HEX = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


def release_ids(topic_id: bytes, partition: int, offsets: Integers, fingerprint: bytes) -> list[bytes]:
    """The ids of the given offsets, as 32 hexadecimal characters each."""
    return release_id_texts(topic_id, partition, offsets, fingerprint).all()


def release_id_texts(topic_id: bytes, partition: int, offsets: Integers, fingerprint: bytes) -> Texts:
    """The same ids as one array, with no object for each."""
    require(len(topic_id) == 16 and len(fingerprint) == 8, "a topic id has 16 bytes and a fingerprint 8")
    message = topic_id + struct.pack(">I", partition) + bytes(8) + fingerprint
    block = message + b"\x80" + bytes(64 - _MESSAGE_BYTES - 1 - 8) + struct.pack(">Q", 8 * _MESSAGE_BYTES)
    words = np.zeros(64, dtype=np.uint32)
    words[:16] = np.frombuffer(block, dtype=">u4")
    text = np.empty((offsets.shape[0], ID_CHARACTERS), dtype=np.uint8)
    _hash_all(words, offsets, _START, _ROUND, _HEX, np.zeros(8, dtype=np.uint32), text)
    return Texts.of_rows(text)


@kernel
def _turn(word: np.uint32, by: int) -> np.uint32:
    return np.uint32((word >> np.uint32(by)) | (word << np.uint32(32 - by)))


@kernel
def _hash_all(
    words: NDArray[np.uint32],
    offsets: Integers,
    start: NDArray[np.uint32],
    rounds: NDArray[np.uint32],
    digits: NDArray[np.uint8],
    state: NDArray[np.uint32],
    text: NDArray[np.uint8],
) -> None:
    for i in range(offsets.shape[0]):
        words[5] = np.uint32(offsets[i] >> 32)
        words[6] = np.uint32(offsets[i] & 0xFFFFFFFF)
        _compress(words, start, rounds, state)
        for j in range(4):
            value = np.uint32(start[j] + state[j])
            for k in range(8):
                text[i, 8 * j + k] = digits[(value >> np.uint32(28 - 4 * k)) & np.uint32(15)]


@kernel
def _compress(
    words: NDArray[np.uint32], start: NDArray[np.uint32], rounds: NDArray[np.uint32], state: NDArray[np.uint32]
) -> None:
    """The compression function on the first block, as FIPS 180-4 section 6.2.2 states it."""
    for t in range(16, 64):
        near, far = words[t - 2], words[t - 15]
        mixed_near = _turn(near, 17) ^ _turn(near, 19) ^ (near >> np.uint32(10))
        mixed_far = _turn(far, 7) ^ _turn(far, 18) ^ (far >> np.uint32(3))
        words[t] = np.uint32(mixed_near + words[t - 7] + mixed_far + words[t - 16])
    a, b, c, d = start[0], start[1], start[2], start[3]
    e, f, g, h = start[4], start[5], start[6], start[7]
    for t in range(64):
        choice = (e & f) ^ (~e & g)
        one = np.uint32(h + (_turn(e, 6) ^ _turn(e, 11) ^ _turn(e, 25)) + choice + rounds[t] + words[t])
        majority = (a & b) ^ (a & c) ^ (b & c)
        two = np.uint32((_turn(a, 2) ^ _turn(a, 13) ^ _turn(a, 22)) + majority)
        h, g, f, e = g, f, e, np.uint32(d + one)
        d, c, b, a = c, b, a, np.uint32(one + two)
    state[0], state[1], state[2], state[3] = a, b, c, d
    state[4], state[5], state[6], state[7] = e, f, g, h
