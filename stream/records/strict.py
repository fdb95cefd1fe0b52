"""JSON read strictly: one text, one meaning.

orjson is strict about UTF-8, lone surrogates, NaN, Infinity and numbers that no double can hold. Three things it lets
pass are caught here: a key that appears twice (it keeps the last, others keep the first), nesting so deep that the
document could be read and not written again, and integers beyond 64 bits (it turns them into the nearest double).
"""

import json
import re
from typing import Any, Final

import orjson

from stream.names import DUPLICATE_KEY, NOT_JSON, NOT_UTF8, TOO_DEEP
from stream.records.paths import MISSING

# orjson reads 1024 levels and writes 254; nobody's telemetry needs a quarter of that.
DEEPEST: Final = 64
# A text this short cannot nest deeper than DEEPEST: every level costs an opening and a closing byte.
SHORT: Final = 2 * DEEPEST

_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def repeats_a_key(text: bytes, document: dict[str, Any]) -> bool:
    """Whether any object in this valid JSON text has the same key twice.

    Counting colons answers nearly always. In valid JSON a colon byte is either the one between a key and its value, or
    part of a string; and the byte 0x3A is never part of another UTF-8 character. So with T the number of colon bytes:

    1. T = number of members of all objects, repeated ones included, + colons written inside strings.
       The parsed top level has len(document) different keys, so T >= len(document), and equality leaves no room for a
       repeated key, for members of inner objects or for a colon in a string. This settles flat records.
    2. Otherwise write the document again. Let W be the colon bytes of that text: the surviving members + the colons in
       surviving strings. A colon in a surviving string was a colon byte in `text`, or an escape \\u003a (in either case
       of the letter). Without such an escape T = W + what was dropped, and every dropped member has a colon of its own:
       T = W exactly when nothing was dropped.
    3. With such an escape, every object is collected as pairs and looked at.
    """
    colons = text.count(b":")
    if colons == len(document):
        return False
    if b"\\u003" not in text:
        return colons != orjson.dumps(document).count(b":")
    try:
        json.loads(text.decode(), object_pairs_hook=_refuse_repeats)
    except _RepeatedKeyError:
        return True
    return False


class _RepeatedKeyError(ValueError):
    pass


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RepeatedKeyError
    return members


def may_be_too_deep(text: bytes) -> bool:
    """A quick upper bound: brackets inside strings count as well, so `True` means that somebody must look."""
    return len(text) > SHORT and text.count(b"[") + text.count(b"{") > DEEPEST


def depth(text: bytes) -> int:
    """The deepest nesting of the text, valid JSON or not, without recursion."""
    deepest = level = 0
    for token in _TOKENS.finditer(text):
        first = token.group()[:1]
        if first in b"[{":
            level += 1
            deepest = max(deepest, level)
        elif first in b"]}":
            level -= 1
    return deepest


def why_unreadable(text: bytes) -> str:
    """The reason code of a text that orjson has refused."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_UTF8
    return TOO_DEEP if depth(text) > DEEPEST else NOT_JSON


def load(text: bytes) -> tuple[Any, str | None]:
    """The parsed text and None, or nothing and the reason code."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None, why_unreadable(text)
    if may_be_too_deep(text) and depth(text) > DEEPEST:
        return None, TOO_DEEP
    if isinstance(document, dict) and repeats_a_key(text, document):
        return None, DUPLICATE_KEY
    return document, None


def exact_integers(text: bytes) -> Any:
    """The same document read with integers of any length, to be compared with what orjson made of them."""
    return json.loads(text.decode())


# From 2^63 on, a double may stand for an integer of the text that no longer fits 64 bits.
_FROM_HERE_ROUNDED: Final = float(2**63)
_NEVER_ROUNDED: Final = frozenset({str, int, bool, type(None), type(MISSING)})


def may_have_changed(value: Any) -> bool:
    """Whether a parsed value may hold a number that the text wrote differently: an integer that became a double."""
    kind = type(value)
    if kind in _NEVER_ROUNDED:
        return False
    if kind is float:
        return not -_FROM_HERE_ROUNDED < value < _FROM_HERE_ROUNDED
    return any(may_have_changed(inner) for inner in (value.values() if kind is dict else value))
