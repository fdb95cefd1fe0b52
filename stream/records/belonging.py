"""To whom a user belongs: people with the same value are together. What is kept of it is a keyed tag, not the value."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Final

from beliefs.alphabet import is_json_number

NOBODY: Final = 0
"""The tag of a user who belongs to nobody: the field is not there."""
TAG_BYTES: Final = 8


@dataclass(frozen=True)
class Belonging:
    """A text or a number as a signed number of eight bytes, never 0: HMAC-SHA256, cut. Numbers that are equal are one,
    however they are written; a number is never the same as a text.
    """

    key: bytes = field(repr=False)

    def index_of(self, value: object) -> int:
        if isinstance(value, str):
            text = b"t" + value.encode("utf-8", "surrogatepass")
        elif isinstance(value, float) and not value.is_integer():
            text = b"n" + repr(value).encode()
        elif is_json_number(value) and isinstance(value, int | float):
            text = b"n%d" % int(value)
        else:
            raise TypeError("belonging goes by a text or a number")
        tag = hmac.digest(self.key, text, "sha256")[:TAG_BYTES]
        return int.from_bytes(tag, "little", signed=True) or 1
