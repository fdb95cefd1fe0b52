"""What is kept about one user, as bytes. Version 1, little-endian, 64 + 4 |S| bytes for the |S| states of the model:

    offset  size  field
         0     1  version, 1
         1     1  flags: bit 0 = stopped; bits 1 to 7 = how many predictions are still to be made until the drift of
                  this user's belief is known (Settle in drift.py), 0 elsewhere
         2     2  check: folded FNV-1a over all 32-bit words of the row, this field taken as zero
         4     4  model tag: first four bytes of the model's hash
         8     8  watermark: the last offset of the user's partition that was carried out for this user
        16     8  upper leakage so far, 2^-40 nat
        24     8  lower leakage so far
        32     8  upper leakage in the current budget window
        40     8  lower leakage in the current budget window
        48     8  steps: events of this user so far
        56     4  index of the current budget window
        60     4  drift: how far the stored belief may be from the exact one, 2^-32 nat in Hilbert's metric; all ones
                     = unknown
        64  4|S|     the belief after the last event: one code per state of the model, in a model of order 1 per symbol

Version 3 is that of pipelines whose model goes by the clock, and has one word more, 72 + 4 |S| bytes:

        64     8     clock: the index of the step of time that the user has reached
        72  4|S|     the belief

(Version 2 is not used here.) Versions 4 and 5 are the same as 1 and 3, but for the belief: that of a model with a tail
over very many states, kept as K listed entries and one multiple of the tail (beliefs/listed.md), in 8 + 8 K bytes:

         0     4     the code of the multiple divided by 2^32
         4     4     how many entries are listed
         8   4 K     the listed states, ascending, then zeros
   8 + 4 K   4 K     their codes, then zeros

Versions 6, 7, 8 and 9 are 1, 3, 4 and 5 with the charges of the user's last N events before the belief, where any N
events in a row have the budget (beliefs/sliding.md): N words of upper charges, then N of lower ones, the event of step
s at place (s - 1) mod N. The two words at 32 and 40 are then their sums, and the index at 56 is 0.

A code is a positive double between 2^-126 and 1 rounded to 25 bits of mantissa (7 bits of exponent, 25 of mantissa,
no sign): a relative error of at most 2^-26. Code 0 is exactly 0. A positive belief below 2^-126 becomes the smallest
code and makes the drift unknown.

In memory a partition's users are two arrays, `heads` int64[users, 8 or 9 or 2 N more] and `codes` uint32[users, |S| or
2 + 2 K]: the same bytes. How many words a head has, and whether entries are listed, decides the version.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from beliefs.listed import Listing, choose, level, spread_out
from beliefs.native import kernel
from mechanisms.contract import DRIFT_UNKNOWN, Floats, Integers

VERSION, CLOCK_VERSION = 1, 3
LISTED_VERSION, LISTED_CLOCK_VERSION = 4, 5
SLIDING_VERSION = 6  # and 1 more by the clock, 2 more with listed entries
HEAD_WORDS, CLOCK_HEAD_WORDS = 8, 9
WORD_BYTES = 8
STOPPED = 1
UNSETTLED_BIT, UNSETTLED_MOST = 1, 127

Codes = NDArray[np.uint32]

_SHIFT = 27  # 52 - 25 bits of mantissa
_BIAS = (1023 - 127) << 25  # so that 2^-126 has the code 2^25 and 1.0 has 127 * 2^25 < 2^32
_SMALLEST = 1 << 25
_LARGEST = (1 << 32) - 1
MULTIPLE, COUNT, LISTED = 0, 1, 2
"""Places in the codes of a listed belief."""
_MULTIPLE_UNIT = 2.0**-32


class Word(IntEnum):
    """The 8-byte words of a head."""

    MARKS = 0  # version, flags, check, model tag
    WATERMARK = 1
    UPPER = 2
    LOWER = 3
    WINDOW_UPPER = 4
    WINDOW_LOWER = 5
    STEPS = 6
    WINDOW_AND_DRIFT = 7
    CLOCK = 8  # in version 3 only


class Unreadable(IntEnum):
    """Why a row is refused; the user is quarantined."""

    FINE = 0
    LENGTH = 1
    VERSION = 2
    CHECK = 3
    MODEL = 4


def codes_of(states: int, listed: int) -> int:
    """How many codes a row has, for so many listed entries; 0 is a belief whose entries are all written out."""
    return LISTED + 2 * listed if listed else states


def row_bytes(codes: int, words: int = HEAD_WORDS) -> int:
    return WORD_BYTES * words + 4 * codes


def head_words(by_clock: bool, sliding: int | None = None) -> int:
    return (CLOCK_HEAD_WORDS if by_clock else HEAD_WORDS) + 2 * (sliding or 0)


@kernel
def version_of(words: int, listed: bool = False) -> int:
    if words > CLOCK_HEAD_WORDS:  # rings are two words an event
        return SLIDING_VERSION + words % 2 + (2 if listed else 0)
    if listed:
        return LISTED_CLOCK_VERSION if words == CLOCK_HEAD_WORDS else LISTED_VERSION
    return CLOCK_VERSION if words == CLOCK_HEAD_WORDS else VERSION


@kernel
def check_of(head: Integers, codes: Codes) -> int:
    value = np.uint32(2166136261)
    prime = np.uint32(16777619)
    low = np.uint64(0xFFFFFFFF)
    for i in range(head.shape[0]):
        word = np.uint64(head[i])
        if i == 0:
            word &= np.uint64(0xFFFFFFFF0000FFFF)
        value = np.uint32((value ^ np.uint32(word & low)) * prime)
        value = np.uint32((value ^ np.uint32(word >> np.uint64(32))) * prime)
    for i in range(codes.shape[0]):
        value = np.uint32((value ^ codes[i]) * prime)
    return int((value >> np.uint32(16)) ^ (value & np.uint32(0xFFFF)))


@kernel
def seal(head: Integers, codes: Codes, flags: int, tag: int, listed: bool = False) -> None:
    """Write version, flags, tag and check of a finished row."""
    head[0] = np.int64(version_of(head.shape[0], listed)) | (np.int64(flags) << 8) | (np.int64(tag) << 32)
    head[0] |= np.int64(check_of(head, codes)) << 16


@kernel
def unsettled(head: Integers) -> int:
    """How many predictions are still to be made until the drift of this row is known; 0 where nothing is counted."""
    return int((head[0] >> (8 + UNSETTLED_BIT)) & UNSETTLED_MOST)


@kernel
def _code_of(bits: int) -> int:
    """Zero, or a number that is a code if it is from 2^25 to 2^32 - 1."""
    return 0 if bits == 0 else int((bits + (1 << (_SHIFT - 1))) >> _SHIFT) - _BIAS


@kernel
def _bits_of(code: int) -> int:
    wide = np.int64(code)
    return 0 if wide == 0 else int((wide + _BIAS) << _SHIFT)


@kernel
def encode_belief(belief: Floats, bits: Integers, codes: Codes) -> bool:
    """Codes of a belief; `bits` are the same doubles viewed as integers. False if a positive belief was too small."""
    exact = True
    for x in range(belief.shape[0]):
        if belief[x] == 0.0:
            codes[x] = 0
            continue
        code = _code_of(bits[x])
        if code < _SMALLEST:
            code = _SMALLEST
            exact = False
        codes[x] = np.uint32(code)
    return exact


@kernel
def decode_belief(codes: Codes, bits: Integers) -> None:
    """The doubles of the codes, written through their integer view."""
    for x in range(codes.shape[0]):
        bits[x] = _bits_of(codes[x])


@kernel
def encode_listed(belief: Floats, bits: Integers, base: Floats, room: Listing, codes: Codes) -> tuple[bool, float]:
    """The codes of a belief of which as many entries are listed as there is room for.

    Answers whether every number could be kept with its precision, and the largest ratio to the base of what is not
    listed, divided by the smallest.
    """
    most = (codes.shape[0] - LISTED) // 2
    low, high = choose(belief, base, most, room)
    multiple, spread = level(belief, base, low, high, room)
    count, exact = 0, True
    for x in range(belief.shape[0]):
        if not low <= room.bits[x] <= high:
            codes[LISTED + count] = np.uint32(x)
            code = _code_of(bits[x])
            exact = exact and (code == 0 or code >= _SMALLEST)
            codes[LISTED + most + count] = np.uint32(max(code, _SMALLEST) if code != 0 else 0)
            count += 1
    codes[COUNT] = np.uint32(count)
    for i in range(count, most):
        codes[LISTED + i] = 0
        codes[LISTED + most + i] = 0
    room.ratio[0] = multiple * _MULTIPLE_UNIT
    code = _code_of(room.bits[0])
    exact = exact and (code == 0 or _SMALLEST <= code <= _LARGEST)
    codes[MULTIPLE] = np.uint32(min(max(code, _SMALLEST), _LARGEST) if code != 0 else 0)
    return exact, spread


@kernel
def decode_listed(codes: Codes, base: Floats, room: Listing, belief: Floats, bits: Integers) -> None:
    """The doubles that a listed belief stands for, up to a common factor."""
    room.bits[0] = _bits_of(codes[MULTIPLE])
    spread_out(base, room.ratio[0] / _MULTIPLE_UNIT, belief)
    most = (codes.shape[0] - LISTED) // 2
    for i in range(min(np.int64(codes[COUNT]), most)):
        x = np.int64(codes[LISTED + i])
        if x < belief.shape[0]:  # whatever a row holds, nothing outside is written
            bits[x] = _bits_of(codes[LISTED + most + i])


def row_matrix(heads: Integers, codes: Codes) -> NDArray[np.uint8]:
    """The rows of these users, one below the other."""
    users, words = heads.shape
    width, head_bytes = row_bytes(codes.shape[1], words), WORD_BYTES * words
    joined = np.empty((users, width), dtype=np.uint8)
    joined[:, :head_bytes] = np.ascontiguousarray(heads).view(np.uint8).reshape(users, head_bytes)
    joined[:, head_bytes:] = np.ascontiguousarray(codes).view(np.uint8).reshape(users, width - head_bytes)
    return joined


def to_rows(heads: Integers, codes: Codes) -> list[bytes]:
    width = row_bytes(codes.shape[1], heads.shape[1])
    whole = row_matrix(heads, codes).tobytes()
    return [whole[start : start + width] for start in range(0, len(whole), width)]


def from_rows(
    rows: Sequence[bytes], states: int, tag: int, words: int = HEAD_WORDS, listed: bool = False
) -> tuple[Integers, Codes, NDArray[np.int8]]:
    """Heads, codes and, per row, why it is refused (0 = fine). Refused rows are zero. `states` is how many codes a row
    has.
    """
    version = version_of(words, listed)
    width, head_bytes = row_bytes(states, words), WORD_BYTES * words
    verdicts = np.zeros(len(rows), dtype=np.int8)
    blank = bytes(width)
    fitting = list(rows)
    for i, row in enumerate(rows):
        if len(row) != width:
            verdicts[i] = Unreadable.LENGTH if row[:1] == bytes([version]) else Unreadable.VERSION
            fitting[i] = blank
    joined = np.frombuffer(b"".join(fitting), dtype=np.uint8).reshape(len(rows), width)
    heads = joined[:, :head_bytes].copy().view("<i8").reshape(len(rows), words)
    codes = joined[:, head_bytes:].copy().view("<u4").reshape(len(rows), states)
    _judge(heads, codes, version, tag, verdicts)
    return heads, codes, verdicts


@kernel
def _judge(heads: Integers, codes: Codes, version: int, tag: int, verdicts: NDArray[np.int8]) -> None:
    for i in range(heads.shape[0]):
        if verdicts[i] == 0:
            marks = heads[i, 0]
            if (marks & 0xFF) != version:
                verdicts[i] = 2
            elif ((marks >> 16) & 0xFFFF) != check_of(heads[i], codes[i]):
                verdicts[i] = 3
            elif ((marks >> 32) & 0xFFFFFFFF) != tag:
                verdicts[i] = 4
        if verdicts[i] != 0:
            heads[i] = 0
            codes[i] = 0


def new_users(count: int, states: int, words: int = HEAD_WORDS) -> tuple[Integers, Codes]:
    """Rows of users that were never seen: no offset carried out, no step taken."""
    heads = np.zeros((count, words), dtype=np.int64)
    heads[:, Word.WATERMARK] = -1
    return heads, np.zeros((count, states), dtype=np.uint32)


def drift_of(heads: Integers) -> NDArray[np.int64]:
    return (heads[:, Word.WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN


def is_stopped(heads: Integers) -> NDArray[np.bool_]:
    stopped: NDArray[np.bool_] = (heads[:, Word.MARKS] >> 8) & STOPPED != 0
    return stopped
