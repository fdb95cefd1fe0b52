"""The belief changelog as the auditor reads it, and the comparison with what it has worked out itself.

A user's row is laid out here once more, from the description of version 1: 64 bytes and four for each state of the
model, little-endian; and of version 3, which has 8 bytes more between the two, for the clock. Versions 4 and 5
are the same with listed states in place of all (listing.py). Versions 6 to 9 are 1, 3, 4 and 5 with the charges of the
user's last events, upper and lower, before the belief.

Where fields are protected each by itself, words about them stand between all that and the belief, and are read apart
(field_words.py): version and check are those of a row without them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import Integers
from stream.audit.book import (
    ADRIFT,
    CLOCK,
    DRIFT,
    LEAST_LOWER,
    LEAST_UPPER,
    LOWER,
    MARKS,
    MOST_LOWER,
    MOST_UPPER,
    STEPS,
    STOPPED,
    UNSETTLED,
    UNSURE,
    UPPER,
    WINDOW,
    Book,
)
from stream.audit.law import code_of
from stream.audit.listing import words_of

Truths = NDArray[np.bool_]

_FIELDS: Final = (
    ("version", "u1"),
    ("flags", "u1"),
    ("check", "<u2"),
    ("tag", "<u4"),
    ("watermark", "<i8"),
    ("upper", "<i8"),
    ("lower", "<i8"),
    ("window_upper", "<i8"),
    ("window_lower", "<i8"),
    ("steps", "<i8"),
    ("window", "<u4"),
    ("drift", "<u4"),
)
_CHARGES: Final = ("upper_charges", "lower_charges")
_PLAIN_OF_SLIDING: Final = {6: 1, 7: 3, 8: 4, 9: 5}
ROW_VERSION, CLOCK_VERSION, LISTED_VERSION, LISTED_CLOCK_VERSION = 1, 3, 4, 5
_TAG_AT: Final = slice(4, 8)
EVERY_TAG: Final = -1
_WORDS: Final = "words"
_EXACT: Final = ("upper", "lower", "steps", "drift", "clock")


class Words(Protocol):
    """What is known of the words about a user's fields: how many they are, and which rows of them can be read."""

    @property
    def count(self) -> int: ...

    def readable(self, words: Integers) -> Truths: ...


class StoredRows(NamedTuple):
    """The readable rows of one partition: whose they are, what they hold, and their offsets in the changelog; the
    others; and the words about fields, one row of them for each user.
    """

    users: dict[bytes, int]
    rows: NDArray[np.void]
    offsets: Integers
    quarantined: dict[bytes, int]
    words: Integers


def row_type(states: int, by_clock: bool, listed: int = 0, sliding: int = 0, words: int = 0) -> np.dtype[np.void]:
    clock = [("clock", "<i8")] if by_clock else []
    charges = [(name, "<i8", (sliding,)) for name in _CHARGES] if sliding else []
    between = [(_WORDS, "<i8", (words,))] if words else []
    return np.dtype([*_FIELDS, *clock, *charges, *between, ("codes", "<u4", (words_of(states, listed),))])


def by_tag(found: dict[bytes, tuple[bytes, int]], tags: Sequence[int]) -> list[dict[bytes, tuple[bytes, int]]]:
    """The rows of each of these models; a row that bears none of their tags is put with those of the first."""
    if len(tags) == 1:
        return [found]
    parts: list[dict[bytes, tuple[bytes, int]]] = [{} for _ in tags]
    numbers = {tag.to_bytes(4, "little"): number for number, tag in enumerate(tags)}
    for user, kept in found.items():
        parts[numbers.get(kept[0][_TAG_AT], 0)][user] = kept
    return parts


def read_rows(
    found: dict[bytes, tuple[bytes, int]],
    states: int,
    tag: int,
    *,
    by_clock: bool,
    listed: int = 0,
    sliding: int = 0,
    words: Words | None = None,
) -> StoredRows:
    """Rows by user, each with its offset. A row of another length, version, check or model is set aside, and one whose
    words about fields cannot be read; with EVERY_TAG a row of any model but the one of tag 0.
    """
    plain, version = row_type(states, by_clock, listed, sliding), version_of(by_clock, listed > 0, sliding > 0)
    layout = plain if words is None else row_type(states, by_clock, listed, sliding, words.count)
    users = [user for user, (row, _) in found.items() if len(row) == layout.itemsize]
    whole = np.frombuffer(b"".join([found[user][0] for user in users]), dtype=layout)
    offsets = np.array([found[user][1] for user in users], dtype=np.int64)
    rows, about_fields = whole, np.zeros((whole.shape[0], 0), dtype=np.int64)
    if words is not None:
        rows, about_fields = _without_words(whole, plain), whole[_WORDS].astype(np.int64)
    of_model = rows["tag"] > 0 if tag == EVERY_TAG else rows["tag"] == tag
    fine = (rows["version"] == version) & of_model & (rows["check"] == checks_of(rows))
    if words is not None:
        fine &= words.readable(about_fields)
    kept = [user for user, right in zip(users, fine.tolist(), strict=True) if right]
    good = {user: i for i, user in enumerate(kept)}
    set_aside = {user: at for user, (_, at) in found.items() if user not in good}
    return StoredRows(good, rows[fine], offsets[fine], set_aside, about_fields[fine])


def _without_words(rows: NDArray[np.void], plain: np.dtype[np.void]) -> NDArray[np.void]:
    found = np.empty(rows.shape[0], dtype=plain)
    for name in plain.names or ():
        found[name] = rows[name]
    return found


def version_of(by_clock: bool, lists: bool, slides: bool = False) -> int:
    if slides:
        plain = version_of(by_clock, lists)
        return next(version for version, same in _PLAIN_OF_SLIDING.items() if same == plain)
    if lists:
        return LISTED_CLOCK_VERSION if by_clock else LISTED_VERSION
    return CLOCK_VERSION if by_clock else ROW_VERSION


def has_clock(rows: NDArray[np.void]) -> bool:
    return "clock" in (rows.dtype.names or ())


def slides(rows: NDArray[np.void]) -> bool:
    return _CHARGES[0] in (rows.dtype.names or ())


def checks_of(rows: NDArray[np.void]) -> NDArray[np.uint16]:
    return folded(np.ascontiguousarray(rows).view("<u4").reshape(rows.shape[0], rows.dtype.itemsize // 4))


def folded(words: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """FNV-1a over the words of each row, the check taken as zero; both halves of the result combined."""
    value = np.full(words.shape[0], 2166136261, dtype=np.uint32)
    for place in range(words.shape[1]):
        word = words[:, place] & np.uint32(0xFFFF) if place == 0 else words[:, place]
        value = (value ^ word) * np.uint32(16777619)
    return ((value >> np.uint32(16)) ^ (value & np.uint32(0xFFFF))).astype(np.uint16)


def expected_rows(book: Book, users: Integers, stored: NDArray[np.void], tag: int) -> NDArray[np.void]:
    """The rows as they should be. The watermark is taken over: source offsets are not public."""
    rows = np.zeros(users.shape[0], dtype=stored.dtype)
    lists = book.words.shape[1] > 0
    rows["version"], rows["tag"] = version_of(has_clock(rows), lists, slides(rows)), max(tag, 0)
    rows["flags"] = np.where(book.column(MARKS)[users] & STOPPED, 1, 0) + 2 * book.column(UNSETTLED)[users]
    rows["watermark"] = stored["watermark"]
    rows["upper"], rows["lower"] = book.column(UPPER)[users], book.column(LOWER)[users]
    rows["window_upper"], rows["window_lower"] = book.column(MOST_UPPER)[users], book.column(MOST_LOWER)[users]
    rows["steps"], rows["drift"] = book.column(STEPS)[users], book.column(DRIFT)[users]
    rows["window"] = np.maximum(book.column(WINDOW)[users], 0)
    rows["codes"] = book.words[users] if lists else code_of(book.beliefs[users])
    if has_clock(rows):
        rows["clock"] = book.column(CLOCK)[users]
    if slides(rows):
        for name, charges in zip(_CHARGES, book.latest_charges(), strict=True):
            rows[name] = charges[users]
    _take_over_hidden_windows(rows, book, users, stored)
    rows["check"] = checks_of(rows)
    return rows


def _take_over_hidden_windows(rows: NDArray[np.void], book: Book, users: Integers, stored: NDArray[np.void]) -> None:
    """Where a suppressed event may have opened a window unseen, every later window with an amount in range is right."""
    later = (book.column(MARKS)[users] & UNSURE != 0) & (stored["window"] >= rows["window"])
    for side, least, most in (
        ("window_upper", book.column(LEAST_UPPER), book.column(MOST_UPPER)),
        ("window_lower", book.column(LEAST_LOWER), book.column(MOST_LOWER)),
    ):
        later &= (stored[side] >= least[users]) & (stored[side] <= most[users])
    for name in ("window", "window_upper", "window_lower"):
        rows[name] = np.where(later, stored[name], rows[name])


def differences(book: Book, users: Integers, stored: NDArray[np.void], tag: int) -> dict[str, Truths]:
    """For each field, in which rows it differs; rows of users that can no longer be followed are left out."""
    expected = expected_rows(book, users, stored, tag)
    followed = book.column(MARKS)[users] & ADRIFT == 0
    names = {"belief": "codes", "window": "window", "window_upper": "window_upper", "window_lower": "window_lower"}
    if slides(stored):
        names.update(zip(_CHARGES, _CHARGES, strict=True))
    exact: list[str] = [name for name in ("flags", *_EXACT) if name != "clock" or has_clock(stored)]
    found = {name: followed & (stored[name] != expected[name]) for name in exact}
    for name, field in names.items():
        differs = stored[field] != expected[field]
        found[name] = followed & (differs.any(axis=1) if differs.ndim > 1 else differs)
    return {name: rows for name, rows in found.items() if rows.any()}


def release_id(topic_id: bytes, partition: int, offset: int, fingerprint: bytes) -> bytes:
    """The id that an input must bear; an auditor knows the offset of each user's latest input only."""
    text = topic_id + partition.to_bytes(4, "big") + offset.to_bytes(8, "big") + fingerprint
    return hashlib.sha256(text).digest()[:16]


def wrong_watermarks(
    watermarks: Sequence[int], ids: Sequence[bytes], topic_id: bytes, partition: int, fingerprint: bytes
) -> list[int]:
    """Places where the latest release does not bear the id of the input that the watermark names."""
    return [
        place
        for place, (offset, seen) in enumerate(zip(watermarks, ids, strict=True))
        if offset < 0 or release_id(topic_id, partition, offset, fingerprint) != seen
    ]
