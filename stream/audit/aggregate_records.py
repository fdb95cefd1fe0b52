"""A released window, read from its record: what it says of itself, and whether it is shaped as the settings say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any

from stream import names
from stream.audit.aggregate_rules import Windows
from stream.audit.amounts import UNITS
from stream.audit.records import Record
from stream.audit.said import Misread

_UP = Context(prec=9, rounding=ROUND_CEILING)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_END = (datetime(2100, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)
"""No event that counts has a later time, so no later window is ever complete."""
_PARTS = {"window", "outcome", "reason", "aggregates", "guarantee"}


@dataclass(frozen=True)
class Said:
    """`broken` are codes of findings about the record itself."""

    number: int
    released: bool
    reason: str | None
    aggregates: Mapping[str, Any]
    guarantee: Mapping[str, Any]
    broken: tuple[str, ...]


class Reader:
    """Reads the released topic of one pipeline; `topic_id` is that of its raw topic, where it is known."""

    def __init__(self, windows: Windows, topic_id: bytes | None = None) -> None:
        self._windows, self._topic_id = windows, topic_id

    def read(self, record: Record) -> Said:
        try:
            document = json.loads(record.value or b"", parse_float=Decimal, object_pairs_hook=_members)
            window = document["window"]
            number, reason = window["number"], document["reason"]
            outcome, aggregates, guarantee = document["outcome"], document["aggregates"], document["guarantee"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Misread from None
        if type(number) is not int or not isinstance(guarantee, dict) or not isinstance(aggregates, dict):
            raise Misread
        if not 0 <= number <= (_END - self._windows.start) // self._windows.length:
            raise Misread
        released = outcome == names.RELEASED
        broken = [code for code, wrong in self._checks(record, document, number, released) if wrong]
        return Said(number, released, reason, aggregates, guarantee, tuple(broken))

    def _checks(self, record: Record, document: dict[str, Any], number: int, released: bool) -> list[tuple[str, bool]]:
        windows = self._windows
        start = windows.start + number * windows.length
        end = start + windows.length
        begins, ends = moment(start), moment(end)
        headers = dict(record.headers)
        outcome = names.RELEASED if released else names.WITHHELD
        reasons = (None,) if released else names.WITHHELD_REASONS
        own = {names.HEADER_RELEASE_ID, names.HEADER_POLICY, names.HEADER_OUTCOME}
        strange = (
            headers.keys() != own
            or len(record.headers) != len(own)
            or document.keys() != _PARTS
            or (not released and document["aggregates"] != {})
        )
        span = document["window"] != {"start": begins, "end": ends, "number": number}
        return [
            ("aggregate_span", span or record.key != begins.encode() or record.timestamp != end),
            ("aggregate_policy", headers.get(names.HEADER_POLICY) != windows.policy),
            ("aggregate_id", headers.get(names.HEADER_RELEASE_ID) != self._id_of(number, headers)),
            ("aggregate_strange", strange or document["outcome"] != outcome or document["reason"] not in reasons),
            ("aggregate_strange", headers.get(names.HEADER_OUTCOME) != outcome.encode()),
        ]

    def _id_of(self, number: int, headers: Mapping[str, bytes]) -> bytes | None:
        """The first half of SHA-256 over topic id, partition 0, number and policy fingerprint."""
        if self._topic_id is None:
            return headers.get(names.HEADER_RELEASE_ID)
        text = self._topic_id + bytes(4) + number.to_bytes(8, "big") + self._windows.fingerprint
        return sha256(text).hexdigest()[:32].encode()


def moment(milliseconds: int) -> str:
    """ISO 8601 in UTC, with milliseconds where there are some."""
    time = _EPOCH + timedelta(milliseconds=milliseconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S") + (f".{milliseconds % 1000:03d}" if milliseconds % 1000 else "") + "Z"


def rounded_up(amount: Fraction) -> Decimal:
    """To nine digits, never below."""
    return _UP.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def nats_up(units: int) -> Decimal:
    return rounded_up(Fraction(units, UNITS))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A member that comes twice could show one thing to one reader and another to the next."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("repeated")
    return found
