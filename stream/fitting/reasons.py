"""What the reasons of the pipeline's door mean for somebody who gives a file, and how each is put right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stream import names

NOT_A_ROW: Final = "not_a_row"
"""A row of a table that has another number of cells than the header, or that cannot be told apart into cells."""
_VALUE: Final = "name the field with --value, or declare the values: --integers, --bins or --alphabet"
_TIME: Final = "say how times are written: --time-unit ms, s or iso8601; or name another field with --time"
_USER: Final = "name the field of the user with --user"

WORDS: Final[Mapping[str, tuple[str, str]]] = {
    NOT_A_ROW: ("another number of cells than the header, or a quote that does not end", "mend these rows"),
    names.TOO_LARGE: ("longer than a record may be", "see that each record stands on a line of its own"),
    names.NOT_UTF8: (
        "not UTF-8, or nothing that JSON holds",
        "write the file in UTF-8, values as texts or numbers",
    ),
    names.NOT_JSON: (
        "not one JSON text (NaN and Infinity are none)",
        "write one JSON object a line, or say what the file is: --format csv, tsv or parquet",
    ),
    names.TOO_DEEP: ("nested too deeply", "write flatter records"),
    names.NOT_AN_OBJECT: ("JSON, but no object", "write one JSON object a line, with names: not one array of all"),
    names.DUPLICATE_KEY: ("one name twice in an object", "write each name once"),
    names.FIELD_MISSING: ("no value at its place", "name the field with --value, as a path such as $.device.activity"),
    names.FIELD_TYPE: ("a value of another kind than the other values, or null", _VALUE),
    names.OUTSIDE_ALPHABET: ("a value that is none of the declared ones", "declare it, or correct the declaration"),
    names.USER_MISSING: ("no user", _USER),
    names.USER_EMPTY: ("an empty user", _USER),
    names.USER_TYPE: ("a user that is neither a text nor a whole number", _USER),
    names.USER_TOO_LONG: ("a user of more than 1024 bytes", _USER),
    names.TIME_MISSING: (
        "no time",
        "name the field with --time, or leave it away: the order of the source counts anyway",
    ),
    names.TIME_TYPE: ("a time that is written in another way", _TIME),
    names.TIME_OUT_OF_RANGE: ("a time before 1970 or after 2099, as it was read", _TIME),
}


def meaning(reason: str) -> str:
    """The reason's name, and behind it what it means."""
    return f"{reason}{in_words(reason)}"


def in_words(reason: str) -> str:
    return f" ({WORDS[reason][0]})" if reason in WORDS else ""


def mending(counts: Mapping[str, int]) -> str:
    """What puts most of them right."""
    for reason in sorted(counts, key=lambda each: (-counts[each], each)):
        if reason in WORDS:
            return WORDS[reason][1]
    return ""
