"""The released records of crowds: what they say of themselves, and whether they are shaped as the settings say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final

from stream import names
from stream.audit.aggregate_records import moment
from stream.audit.crowd_numbers import alike
from stream.audit.crowd_rules import Crowds, Timing
from stream.audit.records import Record
from stream.audit.said import Misread

WINDOW_PARTS: Final = frozenset(
    ["window", "partition", "outcome", "reason", "users", "crowds", "suppressed", "release", "guarantee"]
)
BOX_PARTS: Final = frozenset(["window", "partition", "crowd", "users", "box", "loss", "sensitive"])
FLOW_PARTS: Final = frozenset(
    [
        "crowd",
        "partition",
        "outcome",
        "reason",
        "grouper",
        "users",
        "events",
        "box",
        "loss",
        "reused",
        "sensitive",
        "guarantee",
    ]
)
_HEADERS: Final = frozenset([names.HEADER_RELEASE_ID, names.HEADER_POLICY, names.HEADER_OUTCOME])


@dataclass(frozen=True)
class Said:
    """A record of a window, of a crowd in it, or of a crowd of a flow. `number` is the window's, or the crowd's of a
    flow; `broken` are codes of findings about the record itself.
    """

    outcome: str
    number: int
    place: int | None
    """Of a crowd in its window."""
    parts: Mapping[str, Any]
    broken: tuple[str, ...]

    @property
    def released(self) -> bool:
        return self.outcome == names.RELEASED

    @property
    def reason(self) -> str | None:
        reason = self.parts.get("reason")
        return reason if isinstance(reason, str) else None

    @property
    def guarantee(self) -> Mapping[str, Any]:
        found = self.parts.get("guarantee")
        return found if isinstance(found, dict) else {}


class Reader:
    """Reads one partition of the released topic; `topic_id` is that of the raw topic, where it is known."""

    def __init__(self, crowds: Crowds, partition: int, topic_id: bytes | None = None) -> None:
        self._crowds, self._partition, self._topic_id = crowds, partition, topic_id

    def read(self, record: Record) -> Said:
        try:
            document = json.loads(record.value or b"", parse_float=Decimal, object_pairs_hook=_members)
        except (ValueError, RecursionError):
            raise Misread from None
        if not isinstance(document, dict):
            raise Misread
        timing = self._crowds.timing
        return self._of_flow(record, document) if timing is None else self._of_window(record, document, timing)

    def _of_window(self, record: Record, document: dict[str, Any], timing: Timing) -> Said:
        is_box = "crowd" in document
        window = document.get("window")
        number = window.get("number") if isinstance(window, dict) else None
        outcome = names.CROWD if is_box else document.get("outcome")
        place = document.get("crowd")
        if type(number) is not int or not 0 <= number < _END // timing.length or not isinstance(outcome, str):
            raise Misread
        if (not is_box and "reason" not in document) or (is_box and type(place) is not int):
            raise Misread
        start = timing.start + number * timing.length
        span = {"start": moment(start), "end": moment(start + timing.length), "number": number}
        key = moment(start) + (f"#{place}" if is_box else "")
        wrong = alike(window) != alike(span) or record.key != key.encode() or record.timestamp != start + timing.length
        parts = BOX_PARTS if is_box else WINDOW_PARTS
        reasons = (None,) if outcome == names.RELEASED else names.CROWD_REASONS
        strange = not is_box and (
            outcome not in (names.RELEASED, names.WITHHELD)
            or document["reason"] not in reasons
            or (outcome == names.WITHHELD and document.get("release") is not None)
        )
        broken = [*self._broken(record, document, outcome, number, parts, place), *(["crowd_span"] if wrong else [])]
        return Said(outcome, number, place, document, (*broken, *(["crowd_strange"] if strange else [])))

    def _of_flow(self, record: Record, document: dict[str, Any]) -> Said:
        number, outcome = document.get("crowd"), document.get("outcome")
        if type(number) is not int or number < 0 or "reason" not in document or "guarantee" not in document:
            raise Misread
        reasons: tuple[str | None, ...] = names.FLOW_REASONS if outcome == names.WITHHELD else (None,)
        broken = list(self._broken(record, document, str(outcome), number, FLOW_PARTS, None))
        if record.key != b"%d-%d" % (self._partition, number):
            broken.append("crowd_span")
        if outcome not in (names.RELEASED, names.WITHHELD) or document["reason"] not in reasons:
            broken.append("crowd_strange")
        return Said(str(outcome), number, None, document, tuple(broken))

    def _broken(
        self,
        record: Record,
        document: dict[str, Any],
        outcome: str,
        number: int,
        parts: frozenset[str],
        place: int | None,
    ) -> Iterator[str]:
        headers = dict(record.headers)
        shaped = headers.keys() == _HEADERS and len(record.headers) == len(_HEADERS) and document.keys() == parts
        if not shaped or headers.get(names.HEADER_OUTCOME) != outcome.encode():
            yield "crowd_strange"
        if alike(document.get("partition")) != alike(None if self._crowds.over_all else self._partition):
            yield "crowd_strange"
        if headers.get(names.HEADER_POLICY) != self._crowds.policy:
            yield "crowd_policy"
        if self._topic_id is not None and place is None:
            text = self._topic_id + self._partition.to_bytes(4, "big") + number.to_bytes(8, "big")
            wanted = sha256(text + self._crowds.fingerprint).hexdigest()[:32].encode()
            if headers.get(names.HEADER_RELEASE_ID) != wanted:
                yield "crowd_id"


_END: Final = 4_102_444_800_000


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A member that comes twice could show one thing to one reader and another to the next."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("repeated")
    return found
