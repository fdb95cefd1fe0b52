"""Whether a value is one of some: what is counted of a crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from beliefs.alphabet import Alphabet

NO, YES = 0, 1


@dataclass(frozen=True)
class Among:
    """1 for a value that is one of these, 0 for any other value of their type."""

    values: Alphabet

    size: Final = 2

    def index_of(self, value: object) -> int:
        return NO if self.values.index_of(value) is None else YES
