"""The state of a grouper as bytes: whole numbers one behind the other, small ones short. Proof: flow.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import pack as bytes_of
from struct import unpack as read_bytes

from beliefs.checks import Invalid


def pack(numbers: Iterable[int]) -> bytes:
    """Seven bits a byte, lowest first, the eighth says that more follow; the sign is the lowest bit of all."""
    found = bytearray()
    for number in numbers:
        left = 2 * number if number >= 0 else -2 * number - 1
        while left >= 128:
            found.append(left & 127 | 128)
            left >>= 7
        found.append(left)
    return bytes(found)


def unpack(data: bytes) -> Iterator[int]:
    left = shift = 0
    for byte in data:
        left |= (byte & 127) << shift
        shift += 7
        if left >> 64:
            raise Invalid("state", "holds a number of more than 64 bits")
        if byte < 128:
            yield -(left + 1 >> 1) if left & 1 else left >> 1
            left = shift = 0
    if shift:
        raise Invalid("state", "ends within a number")


def float_bits(number: float) -> int:
    """A double as a whole number, bit for bit."""
    return int.from_bytes(bytes_of(">d", number), "big")


def float_of(bits: int) -> float:
    if not 0 <= bits < 1 << 64:
        raise Invalid("state", "holds no double where one stands")
    return float(read_bytes(">d", bits.to_bytes(8, "big"))[0])


def numbered(numbers: Iterator[int], count: int) -> int:
    """The next one, which numbers one of so many."""
    number = next(numbers)
    if not 0 <= number < count:
        raise Invalid("state", "names something that is not there")
    return number
