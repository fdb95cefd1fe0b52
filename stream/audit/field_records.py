"""The fields of a released record that are protected each by itself: what the header says of them, and whether each
report is there and is what the header says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import orjson

from stream.audit.field_rules import WITHHELD, Field
from stream.audit.field_shapes import Fits
from stream.records.paths import MISSING, Getter, getter

# What may be wrong beside what `records` names; none of it keeps a record out of the recomputation.
NO_SIGNS, WRONG_REPORT, WITHHELD_REPORT, MISSING_REPORT, REPEATED_MEMBER = 512, 1024, 2048, 4096, 8192
FORMS_OF_FIELDS: Final = (
    (NO_SIGNS, "wrong_signs"),
    (WRONG_REPORT, "wrong_report"),
    (WITHHELD_REPORT, "withheld_report"),
    (MISSING_REPORT, "missing_report"),
    (REPEATED_MEMBER, "repeated_member"),
)
"""Each with its code in `findings`."""

UNREADABLE: Final = -1

Expected = list[tuple[Getter, Fits | None, bool]]


class FieldReader:
    """Reads one partition. `signs` are the headers that were met, by their numbers."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._getters = [getter(field.path) for field in fields]
        self._known: dict[bytes, tuple[int, Expected]] = {}
        self.signs: list[str] = []

    def read(self, header: bytes, document: Any, text: bytes) -> tuple[int, int]:
        """The number of the signs, and what is wrong."""
        wrong = 0 if _is_written_so(document, text) or not _repeats(text) else REPEATED_MEMBER
        number, expected = self._known.get(header) or self._expect(header)
        if number == UNREADABLE:
            return number, wrong | NO_SIGNS
        for get, is_report, may_be_null in expected:
            report = get(document)
            if is_report is None:
                # A place in an array is filled with null where one behind it is taken.
                if report is not MISSING and not (may_be_null and report is None):
                    wrong |= WITHHELD_REPORT
            elif report is MISSING:
                wrong |= MISSING_REPORT
            elif not is_report(report):
                wrong |= WRONG_REPORT
        return number, wrong

    def _expect(self, header: bytes) -> tuple[int, Expected]:
        signs = header.decode("ascii", errors="replace")
        fits = len(signs) == len(self._fields)
        if not fits or not all(sign in field.signs for sign, field in zip(signs, self._fields, strict=True)):
            return UNREADABLE, []
        found = (
            len(self.signs),
            [
                (get, _option(field, sign), isinstance(field.path.steps[-1], int))
                for get, field, sign in zip(self._getters, self._fields, signs, strict=True)
            ],
        )
        self.signs.append(signs)
        self._known[header] = found
        return found


def _option(field: Field, sign: str) -> Fits | None:
    return None if sign == WITHHELD else field.options[field.signs.index(sign)].is_report


def _is_written_so(document: Any, text: bytes) -> bool:
    """The quick look: what was read is all that the text holds. Otherwise it may be written in another way."""
    try:
        return orjson.dumps(document) == text
    except orjson.JSONEncodeError:  # too deep to be written
        return False


def _repeats(text: bytes) -> bool:
    """Whether an object holds a member twice: a reader sees one of the two, and the other may say anything. A text that
    is too deep to be looked through may.
    """
    found = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        kept = dict(pairs)
        found = found or len(kept) < len(pairs)
        return kept

    try:
        json.loads(text, object_pairs_hook=members)
    except RecursionError:
        return True
    return found
