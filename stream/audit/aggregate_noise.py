"""The noise of aggregates, worked out a second time: its scales, its intervals, and with the key its draws.

Shared with the rooms that release windows is only what their notes say:

* What moves by s steps is hidden with the scale s 2^40 / loss, or the fraction with the smallest denominator from there
  to 1 + 2^-30 times that; no scale is below 2^-10.
* P(Z = z) is proportional to exp(-|z| / scale), on whole numbers; the 95 % interval is the smallest m for which at most
  5 % lie farther away than m.
* The words of query j in window k are those of ChaCha20 with the key of the pipeline's noise, the block counter from 0
  and the nonce k (8 bytes) and j (4), both little-endian, in the order k's low half behind the counter.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from stream.audit.amounts import UNITS

_LEAST = Fraction(1, 1024)
_ROOM = 1 + Fraction(1, 1 << 30)
_BLOCK, _AT_ONCE = 64, 32


def scale_of(shift: int, loss: int) -> Fraction:
    """The scale with which a shift of so many steps tells at most this loss."""
    return scale_from(Fraction(shift * UNITS, loss))


def scale_from(wanted: Fraction) -> Fraction:
    """The plainest fraction that is not below what is wanted, and hardly above."""
    least = max(wanted, _LEAST)
    return _plainest(least, least * _ROOM)


def loss_of(shift: int, scale: Fraction) -> int:
    """What a shift tells, in units, rounded up."""
    return ceil(shift * UNITS / scale)


def _plainest(low: Fraction, high: Fraction) -> Fraction:
    """By the continued fraction that both ends share."""
    parts: list[int] = []
    while True:
        whole = ceil(low)
        if whole <= high:
            parts.append(whole)
            break
        parts.append(whole - 1)
        low, high = 1 / (high - (whole - 1)), 1 / (low - (whole - 1))
    found = Fraction(parts[-1])
    for part in reversed(parts[:-1]):
        found = part + 1 / found
    return found


@lru_cache(maxsize=4096)
def reach_of(scale: Fraction, confidence: Fraction) -> int:
    """The smallest m with P(|Z| > m) = 2 q^(m+1) / (1 + q) at most 1 - confidence, q = exp(-1/scale)."""
    with localcontext() as context:
        context.prec = 100
        rate = Decimal(scale.denominator) / scale.numerator
        bound = 1 - confidence
        limit = Decimal(bound.numerator) / bound.denominator * (1 + (-rate).exp()) / 2
        return max(0, int((-limit.ln() / rate).to_integral_value(rounding=ROUND_CEILING)) - 1)


class Draws:
    """The noise of one query of one window, in the order in which its cells are drawn."""

    def __init__(self, key: bytes, window: int, query: int) -> None:
        self._words = _words(key, window, query)

    def one(self, scale: Fraction) -> int:
        """A whole number with P(z) proportional to exp(-|z|/scale): an even part below the numerator kept with
        exp(-part/numerator), whole numerators by trials of exp(-1), divided by the denominator, and a sign.
        """
        top, bottom = scale.numerator, scale.denominator
        while True:
            part = self._below(top)
            if not self._kept(part, top):
                continue
            rounds = 0
            while self._kept(1, 1):
                rounds += 1
            size, negative = (part + top * rounds) // bottom, self._below(2) == 1
            if size or not negative:
                return -size if negative else size

    def _kept(self, above: int, below: int) -> bool:
        """True with exp(-above/below): the first of falling coins above/(below k) that fails has an odd number."""
        number = 1
        while above and self._below(below * number) < above:
            number += 1
        return number % 2 == 1

    def _below(self, limit: int) -> int:
        width = (limit - 1).bit_length()
        if not width:
            return 0
        words = -(-width // 64)
        while True:
            number = 0
            for _ in range(words):
                number = number << 64 | next(self._words)
            number >>= 64 * words - width
            if number < limit:
                return number


def _words(key: bytes, window: int, query: int) -> Iterator[int]:
    block = 0
    while True:
        start = struct.pack("<IQI", block, window, query)
        stream = Cipher(algorithms.ChaCha20(key, start), mode=None).encryptor().update(bytes(_BLOCK * _AT_ONCE))
        yield from struct.unpack(f"<{8 * _AT_ONCE}Q", stream)
        block += _AT_ONCE
