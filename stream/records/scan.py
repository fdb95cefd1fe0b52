"""The compiled look at a block of records: which of them are plain, what they hold, and where.

A plain record is one whose meaning these few rules prove, so that the reader's definition would accept it and read the
same fields. Its text is one flat JSON object and nothing else, with JSON's own white space; names and texts are
printable ASCII (0x20 to 0x7e) without a backslash, so their bytes are their meaning; no name is empty or stands twice;
a number is an integer of at most 18 digits, which fits 64 bits, or such an integer with a point and a fraction, which
is finite; the rest is true, false or null. The protected value is in the alphabet, and every public value is written
as the writer would write it (`stays`). Whatever is not plain gets the symbol CLOSELY and is read by the
definition: being too careful here costs time, never a wrong answer.

A text is a place in the bytes that the brokers sent, and other bytes follow it. A walk that leaves its text ends
somewhere behind it, which is not the end that is asked for; zero bytes stand behind the last record, and no rule takes
a zero byte for anything, so it never leaves the buffer.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from beliefs.native import kernel
from stream.protocol.inputs import KEY, KEY_END, VALUE, VALUE_END
from stream.records.lookups import ABSENT, CLOSELY, Integers, Members, Names, field_of, same, symbol_of
from stream.records.parse import END_OF_TIME_MS, LONGEST_USER_BYTES
from stream.records.plain import NOT_PLAIN, QUOTE, Bytes, blank_end, stays, text_end, value_end

MOST_MEMBERS: Final = 32  # names that nobody declared are compared pair by pair

_COMMA, _COLON, _OPEN, _CLOSE = 0x2C, 0x3A, 0x7B, 0x7D


class Sources(NamedTuple):
    """What is looked at: the bytes of a block, where its records' parts stand in them, and what they say besides."""

    data: Bytes
    spans: Integers
    times: Integers
    max_bytes: int


@kernel
def scan(
    block: Sources, names: Names, members: Members, strangers: Integers, places: Integers, symbols: Integers
) -> int:
    """Fill each record's symbol, or CLOSELY, and where the values of its declared fields stand; count the CLOSELY."""
    protected = names.ends.shape[0] - 1
    closely = 0
    for i in range(symbols.shape[0]):
        start, end = block.spans[i, VALUE], block.spans[i, VALUE_END]
        user, user_end = block.spans[i, KEY], block.spans[i, KEY_END]
        symbols[i] = CLOSELY
        if (
            0 <= start < end <= start + block.max_bytes
            and 0 <= user < user_end <= user + LONGEST_USER_BYTES
            and 0 <= block.times[i] < END_OF_TIME_MS
            and _object_end(block.data, start, names, strangers, places[i]) == end
        ):
            symbols[i] = symbol_of(block.data, places[i, protected, 0], places[i, protected, 1], members)
        if symbols[i] == CLOSELY:
            closely += 1
    return closely


@kernel
def _object_end(data: Bytes, at: int, names: Names, strangers: Integers, places: Integers) -> int:
    """The end of the plain object that starts here, white space included, or NOT_PLAIN."""
    protected = places.shape[0] - 1
    for field in range(protected + 1):
        places[field, 0] = ABSENT
    unknown = 0
    at = blank_end(data, at)
    expected = _OPEN
    for _ in range(MOST_MEMBERS):
        if data[at] != expected:
            break
        expected = _COMMA
        name = blank_end(data, at + 1)
        if data[name] != QUOTE:
            return NOT_PLAIN
        name += 1
        name_end = text_end(data, name)
        if name_end <= name:
            return NOT_PLAIN
        at = blank_end(data, name_end + 1)
        if data[at] != _COLON:
            return NOT_PLAIN
        value = blank_end(data, at + 1)
        end = value_end(data, value)
        if end == NOT_PLAIN:
            return NOT_PLAIN
        field = field_of(data, name, name_end, names)
        if field == ABSENT:
            if _stands_twice(data, name, name_end, strangers, unknown):
                return NOT_PLAIN
            unknown += 1
        elif places[field, 0] != ABSENT or (field != protected and not stays(data, value, end)):
            return NOT_PLAIN
        else:
            places[field, 0], places[field, 1] = value, end
        at = blank_end(data, end)
    if data[at] != _CLOSE or places[protected, 0] == ABSENT:
        return NOT_PLAIN
    return blank_end(data, at + 1)


@kernel
def _stands_twice(data: Bytes, start: int, end: int, strangers: Integers, count: int) -> bool:
    """Whether this undeclared name is one of the `count` before it; it is remembered behind them."""
    for i in range(count):
        if same(data, start, end, data, strangers[i, 0], strangers[i, 1]):
            return True
    strangers[count, 0], strangers[count, 1] = start, end
    return False
