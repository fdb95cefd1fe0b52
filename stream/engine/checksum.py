"""CRC-32C (Castagnoli), the checksum of a record batch, in half of the library's time.

Eight bytes are looked up at once, as the library does it, but each lookup needs the result of the one before, so the
processor mostly waits. Here three thirds of the data are worked on side by side. The checksum is linear: the state
behind "first, second" is the state behind "first, then as many zeros as second is long", plus (xor) the state that
second gives by itself. Feeding n zero bytes is a multiplication by x^(8n) modulo the polynomial.
"""

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint32]

# The polynomial, x^0 and x^8; the highest bit of a word is the lowest power.
_POLYNOMIAL = 0x82F63B78
_ONE = np.uint32(1 << 31)
_EIGHTH_POWER = np.uint32(1 << 23)
_ALL = np.uint32(0xFFFFFFFF)
_WORD = np.uint64(8)
_BYTE = np.uint64(0xFF)


def _lookup_table() -> Words:
    """Row k: the state after a byte and k zero bytes, for each of the 256 bytes."""
    table = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        state = byte
        for _ in range(8):
            state = (state >> 1) ^ (_POLYNOMIAL if state & 1 else 0)
        table[0, byte] = state
    for row in range(1, 8):
        table[row] = (table[row - 1] >> 8) ^ table[0, table[row - 1] & 0xFF]
    return table


_TABLE = _lookup_table()


def crc32c(data: bytes | bytearray | memoryview) -> int:
    return int(_checksum(np.frombuffer(memoryview(data).toreadonly(), np.uint8), _TABLE))


@kernel
def _checksum(data: Bytes, table: Words) -> np.uint32:
    words = data.shape[0] // 24
    third = np.uint64(words) * _WORD
    first, second, last = _ALL, np.uint32(0), np.uint32(0)
    for i in range(np.uint64(words)):
        at = i * _WORD
        first = _after_word(table, first, data, at)
        second = _after_word(table, second, data, at + third)
        last = _after_word(table, last, data, at + third + third)
    zeros = _power(8 * words)
    state = _product(_product(first, zeros) ^ second, zeros) ^ last
    for i in range(24 * words, data.shape[0]):
        state = table[0, (state ^ data[i]) & np.uint32(0xFF)] ^ (state >> np.uint32(8))
    return state ^ _ALL


@kernel
def _after_word(table: Words, state: np.uint32, data: Bytes, at: np.uint64) -> np.uint32:
    """The state after the eight bytes at this place."""
    word = np.uint64(state)
    for j in range(8):
        word ^= np.uint64(data[at + np.uint64(j)]) << np.uint64(8 * j)
    after = np.uint32(0)
    for j in range(8):
        after ^= table[np.uint64(7 - j), (word >> np.uint64(8 * j)) & _BYTE]
    return after


@kernel
def _product(one: np.uint32, other: np.uint32) -> np.uint32:
    """The product of two polynomials, modulo the polynomial."""
    product = np.uint32(0)
    for i in range(32):
        if one & (_ONE >> np.uint32(i)):
            product ^= other
        other = (other >> np.uint32(1)) ^ (np.uint32(_POLYNOMIAL) if other & np.uint32(1) else np.uint32(0))
    return product


@kernel
def _power(count: int) -> np.uint32:
    """x^(8 count) modulo the polynomial, by squaring."""
    power, square = _ONE, _EIGHTH_POWER
    while count:
        if count & 1:
            power = _product(power, square)
        square = _product(square, square)
        count >>= 1
    return power
