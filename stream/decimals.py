"""Whole numbers as decimal digits, a block of them in one compiled call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from beliefs.native import kernel
from mechanisms.contract import Integers
from stream.protocol.texts import Texts

# 2^63 - 1 has 19 digits.
_LONGEST = 19


def decimals(numbers: Integers) -> Texts:
    """The numbers, none of which is negative, as ASCII digits."""
    require(numbers.shape[0] == 0 or int(numbers.min()) >= 0, "only numbers from 0 on are written as decimals")
    data = np.empty(_LONGEST * numbers.shape[0], dtype=np.uint8)
    ends = np.empty(numbers.shape[0], dtype=np.int64)
    return Texts(data[: _write(numbers, data, ends)], ends)


@kernel
def _write(numbers: Integers, data: NDArray[np.uint8], ends: Integers) -> int:
    at = 0
    for i in range(numbers.shape[0]):
        digits, rest = 1, numbers[i] // 10
        while rest > 0:
            digits, rest = digits + 1, rest // 10
        rest = numbers[i]
        for place in range(at + digits - 1, at - 1, -1):
            data[place] = np.uint8(48 + rest % 10)
            rest //= 10
        at += digits
        ends[i] = at
    return at
