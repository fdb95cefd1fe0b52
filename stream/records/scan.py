"""The compiled look at a block of records: which of them are plain, what they hold, and where.

A plain record is one whose meaning these few rules prove, so that the reader's definition would accept it and read the
same fields. Its text is one flat JSON object and nothing else, with JSON's own white space; names and texts are
printable ASCII (0x20 to 0x7e) without a backslash, so their bytes are their meaning; no name is empty or stands twice;
a number is an integer of at most 18 digits, which fits 64 bits, or such an integer with a point and a fraction, which
is finite; the rest is true, false or null. Every protected field is there, its value in its alphabet, and every public
value is written as the writer would write it (`stays`). Whatever is not plain gets the symbol CLOSELY and is read by
the definition: being too careful here costs time, never a wrong answer.

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
    """Fill in where the values of each record's declared fields stand, and the symbols of its protected ones, which are
    declared last: a row of `symbols` for each. CLOSELY in the first row is said of the record. Counts the CLOSELY.
    """
    public = names.ends.shape[0] - symbols.shape[0]
    closely = 0
    for i in range(symbols.shape[1]):
        start, end = block.spans[i, VALUE], block.spans[i, VALUE_END]
        user, user_end = block.spans[i, KEY], block.spans[i, KEY_END]
        plain = (
            0 <= start < end <= start + block.max_bytes
            and 0 <= user < user_end <= user + LONGEST_USER_BYTES
            and 0 <= block.times[i] < END_OF_TIME_MS
            and _object_end(block.data, start, names, public, strangers, places[i]) == end
        )
        if not (plain and _look_up(block.data, members, places, symbols, i)):
            symbols[0, i] = CLOSELY
            closely += 1
    return closely


@kernel
def _look_up(data: Bytes, members: Members, places: Integers, symbols: Integers, i: int) -> bool:
    """Find the symbols of record i; whether it has all of them."""
    public = places.shape[1] - symbols.shape[0]
    for field in range(symbols.shape[0]):
        start, end = places[i, public + field, 0], places[i, public + field, 1]
        symbol = CLOSELY if start == ABSENT else symbol_of(data, start, end, members, field)
        if symbol == CLOSELY:
            return False
        symbols[field, i] = symbol
    return True


@kernel
def _object_end(data: Bytes, at: int, names: Names, public: int, strangers: Integers, places: Integers) -> int:
    """The end of the plain object that starts here, white space included, or NOT_PLAIN."""
    for field in range(places.shape[0]):
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
        elif places[field, 0] != ABSENT or (field < public and not stays(data, value, end)):
            return NOT_PLAIN
        else:
            places[field, 0], places[field, 1] = value, end
        at = blank_end(data, end)
    if data[at] != _CLOSE:
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
