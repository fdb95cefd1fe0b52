"""What is kept about a user's fields: words between the head of his row and its belief.

    word  field
       0  byte 0: version, 1; bytes 2 and 3: check, folded FNV-1a over these words, the check itself taken as zero;
          bytes 4 to 7: tag, four bytes of the hash of what the words mean
       1  index of the window of event time that the words are about; 0 where caps are for ever
    then for each field, in declared order, in units of 2^-40 nat:
    2 + 2i  levels of its reports so far, added up
    3 + 2i  levels of its coarse reports so far, added up

The tag is a hash of the fields in their order, their window, and how values that last are told (meaning.py), so that
words written for others are never taken for these. The head and the belief are what they would be without fields, and
have a check of their own.

From every cap twice the budget of the field of record.protect is set aside, which its counters do not pass. Where they
did, under a larger budget of earlier settings, nothing would hold: such a user's fields count as told without bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from beliefs.rounding import INFINITE
from mechanisms.contract import Integers
from stream.protocol.ports import Codes, Heads, RowCodec
from stream.state import WORD_BYTES, Word, check_of

VERSION = 1
MARKS, WINDOW, ACCOUNT = 0, 1, 2
WORDS_OF_FIELD = 2

_NO_CODES = np.zeros(0, dtype=np.uint32)


def words_of_fields(fields: int) -> int:
    return ACCOUNT + WORDS_OF_FIELD * fields


@kernel
def seal_words(words: Integers, tag: int) -> None:
    """Write version, tag and check of finished words, one row for each user."""
    for user in range(words.shape[0]):
        words[user, 0] = np.int64(1) | (np.int64(tag) << 32)
        words[user, 0] |= np.int64(check_of(words[user], _NO_CODES)) << 16


@kernel
def _sealed(words: Integers, tag: int, right: NDArray[np.bool_]) -> None:
    for user in range(words.shape[0]):
        marks = words[user, 0]
        right[user] = (
            (marks & 0xFF) == 1
            and ((marks >> 32) & 0xFFFFFFFF) == tag
            and ((marks >> 16) & 0xFFFF) == check_of(words[user], _NO_CODES)
        )


def readable_words(words: Integers, tag: int) -> NDArray[np.bool_]:
    """Which rows of words were written by `seal_words` with this tag, and hold no negative amount."""
    right = np.zeros(words.shape[0], dtype=np.bool_)
    _sealed(np.ascontiguousarray(words), tag, right)
    return right & (words[:, WINDOW:] >= 0).all(axis=1)


class FieldRows:
    """Rows of users with fields: those of `followed`, which knows the head and the belief, with the words between."""

    def __init__(self, followed: RowCodec, fields: int, tag: int, budget: int | None = None) -> None:
        """`budget` is what the field of record.protect may tell in units, where there is one."""
        self._followed, self._tag, self._budget = followed, tag, budget
        self.words = words_of_fields(fields)
        self.symbols = followed.symbols
        self.head_words = int(followed.new_users(1)[0].shape[1])

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        start, end = WORD_BYTES * self.head_words, WORD_BYTES * (self.head_words + self.words)
        own, codes, readable = self._followed.from_rows([row[:start] + row[end:] for row in rows])
        whole = np.array([len(row) >= end for row in rows], dtype=np.bool_)
        blank = bytes(end - start)
        texts = b"".join(row[start:end] if fits else blank for row, fits in zip(rows, whole.tolist(), strict=True))
        words = np.frombuffer(texts, dtype="<i8").reshape(len(rows), self.words).astype(np.int64)
        readable = readable & whole & readable_words(words, self._tag)
        if self._budget is not None:
            beyond = (own[:, [Word.WINDOW_UPPER, Word.WINDOW_LOWER]] > self._budget).any(axis=1)
            words[beyond, ACCOUNT:] = INFINITE
        heads, blank_codes = self.new_users(len(rows))
        heads[readable, : self.head_words] = own[readable]
        heads[readable, self.head_words :] = words[readable]
        blank_codes[readable] = codes[readable]
        return heads, blank_codes, readable

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]:
        own = self._followed.to_rows(np.ascontiguousarray(heads[:, : self.head_words]), codes)
        words = np.ascontiguousarray(heads[:, self.head_words :])
        start = WORD_BYTES * self.head_words
        return [row[:start] + each.tobytes() + row[start:] for row, each in zip(own, words, strict=True)]

    def new_users(self, count: int) -> tuple[Heads, Codes]:
        own, codes = self._followed.new_users(count)
        return np.concatenate([own, np.zeros((count, self.words), dtype=own.dtype)], axis=1), codes
