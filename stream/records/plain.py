"""Plain JSON values: the few whose bytes alone prove what they mean, found by compiled walks.

Each walk starts at a place in the buffer and answers where the thing ends, or NOT_PLAIN. It relies on a zero byte
behind every text: no rule takes a zero byte for anything, so a walk ends there at the latest.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel

Bytes = NDArray[np.uint8]

NOT_PLAIN: Final = -1  # instead of an end

QUOTE: Final = 0x22
MINUS: Final = 0x2D
ZERO: Final = 0x30
NINE: Final = 0x39
_POINT: Final = 0x2E
_TAB, _NEWLINE, _RETURN, _SPACE = 0x09, 0x0A, 0x0D, 0x20
_TRUE = np.frombuffer(b"true", dtype=np.uint8)
_FALSE = np.frombuffer(b"false", dtype=np.uint8)
_NULL = np.frombuffer(b"null", dtype=np.uint8)
# Printable ASCII but the quote and the backslash: these bytes mean themselves in a JSON text.
_PLAIN = np.array([0x20 <= byte <= 0x7E and byte not in b'"\\' for byte in range(256)], dtype=np.bool_)

_LONGEST_WHOLE: Final = 18  # 10^18 < 2^63
_EXACT_DIGITS: Final = 15
_ONE: Final = np.uint64(1)


def is_plain(text: bytes) -> bool:
    return bool(_PLAIN[np.frombuffer(text, dtype=np.uint8)].all())


@kernel
def blank_end(data: Bytes, at: int) -> int:
    while data[at] == _SPACE or data[at] == _NEWLINE or data[at] == _RETURN or data[at] == _TAB:
        at += 1
    return at


@kernel
def text_end(data: Bytes, at: int) -> int:
    """The place of the quote that closes the plain text starting here, or NOT_PLAIN."""
    # Unsigned, because numba would ask of every signed place whether it counts from the end.
    place = np.uint64(at)
    while _PLAIN[data[place]]:
        place += _ONE
    return int(np.int64(place)) if data[place] == QUOTE else NOT_PLAIN


@kernel
def value_end(data: Bytes, at: int) -> int:
    """The end of the plain value that starts here, or NOT_PLAIN."""
    if data[at] == QUOTE:
        end = text_end(data, at + 1)
        return NOT_PLAIN if end == NOT_PLAIN else end + 1
    if data[at] == _TRUE[0]:
        return _word_end(data, at, _TRUE)
    if data[at] == _FALSE[0]:
        return _word_end(data, at, _FALSE)
    if data[at] == _NULL[0]:
        return _word_end(data, at, _NULL)
    return _number_end(data, at)


@kernel
def _word_end(data: Bytes, at: int, word: Bytes) -> int:
    for i in range(word.shape[0]):
        if data[at + i] != word[i]:
            return NOT_PLAIN
    return at + len(word)


@kernel
def _digits_end(data: Bytes, at: int) -> int:
    while ZERO <= data[at] <= NINE:
        at += 1
    return at


@kernel
def _number_end(data: Bytes, at: int) -> int:
    """The end of the plain number that starts here, or NOT_PLAIN.

    `-0` is an integer to one reader and a double to the next, so it is not plain.
    """
    whole = at + 1 if data[at] == MINUS else at
    point = _digits_end(data, whole)
    zero = data[whole] == ZERO
    if point == whole or point - whole > _LONGEST_WHOLE or (zero and point - whole > 1):
        return NOT_PLAIN
    if data[point] != _POINT:
        return NOT_PLAIN if zero and whole > at else point
    end = _digits_end(data, point + 1)
    return NOT_PLAIN if end == point + 1 else end


@kernel
def stays(data: Bytes, start: int, end: int) -> bool:
    """Whether the writer would write this plain value byte for byte as it stands.

    It does so with texts, words and integers. Of a decimal it writes the shortest digits that give the same double.
    Two decimals of at most 15 digits never share a double: they differ by more than 10^-15 of their size, and what
    rounds to one double lies within 2^-52 < 0.23 * 10^-15 of it. So with at most 15 digits, none of them a zero at the
    end that could be left out, the shortest digits are these. From 10^-4 on, and below 10^15, the writer uses no
    exponent and puts at least one digit behind the point: `0.5`, `12.25`, `1.0` and `0.0` stay, `0.50` and `0.00001`
    do not.
    """
    if data[start] != MINUS and not ZERO <= data[start] <= NINE:
        return True
    whole = start + 1 if data[start] == MINUS else start
    point = _digits_end(data, whole)
    if point == end:
        return True
    fraction = point + 1
    digits = (point - whole) + (end - fraction)
    shortest = data[end - 1] != ZERO or end - fraction == 1
    large = data[whole] != ZERO or end - fraction <= 4
    for at in range(fraction, min(fraction + 4, end)):
        large = large or data[at] != ZERO
    return digits <= _EXACT_DIGITS and shortest and large
