"""What the amounts that are kept about a user's fields mean, and what kept bits are drawn for.

Levels of reports add up whatever made them; but what they tell of other fields through a joint table depends on what
the reports named, and what reports of kept bits tell together on these bits. Of a value that lasts the words are
therefore about certain values, reported in a certain way. Under any other they are not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from beliefs.correlation.tables import labels_of
from stream.settings.fields import FieldSettings, FieldsSettings

_OF_ITSELF: Final = ("grr", "exp")


def tag_of(fields: FieldsSettings) -> int:
    """Four bytes of the hash of the names in their order, the window, and of each value that lasts how it is told."""
    lasting = {name: _told(each) for name, each in fields.each.items() if each.lasting and each.at_most is None}
    meaning = {"fields": list(fields.each), "window": fields.length, "lasting": lasting}
    return int.from_bytes(hashlib.sha256(_text(meaning)).digest()[:4], "big")


def kept_name(name: str, settings: FieldSettings) -> str:
    """What the key of a field's kept bits is derived from: bits of other chances, or for other values, are others. Two
    draws from the same coins could together show what neither may.
    """
    law = {"field": name, "values": labels_of(settings.values), "epsilon": settings.epsilon}
    return _text(law).decode()


def _told(settings: FieldSettings) -> dict[str, Any]:
    """What a report names: a value by itself, one of some values or none of these, or any set of values."""
    mechanism = settings.mechanism
    found: dict[str, Any] = {
        "values": labels_of(settings.values),
        "names": "each" if mechanism.name in _OF_ITSELF else "any",
    }
    if mechanism.top is not None:
        found["names"] = _labels(settings, mechanism.top)
    if settings.coarser is not None:
        found["groups"] = sorted(_labels(settings, group) for group in settings.coarser.values())
    if mechanism.name == "rappor":
        found["kept"] = settings.epsilon
    return found


def _labels(settings: FieldSettings, members: Sequence[Any]) -> list[str]:
    places = {settings.values.index_of(member) for member in members}
    return sorted(label for place, label in enumerate(labels_of(settings.values)) if place in places)


def _text(meaning: Mapping[str, Any]) -> bytes:
    return json.dumps(meaning, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
