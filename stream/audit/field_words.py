"""What the belief changelog keeps about a user's fields, read once more from its description.

word  field
   0  byte 0: version, 1; bytes 2 and 3: a check over these words, taken as zero in itself; bytes 4 to 7: tag
   1  index of the window of event time that the words are about; 0 where caps are for ever
then for each field, in units: levels of its fine reports so far, levels of its coarse ones
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from stream.audit.amounts import Integers
from stream.audit.rows import Truths, folded

VERSION: Final = 1
BEFORE: Final = 2
"""Words that are not amounts."""


@dataclass(frozen=True)
class Words:
    """Of so many fields; the tag stands for what the words mean (`field_rules`)."""

    fields: int
    tag: int

    @property
    def count(self) -> int:
        return BEFORE + 2 * self.fields

    def readable(self, words: Integers) -> Truths:
        """Which rows are of this version and tag, bear a right check, and hold no negative amount."""
        first = np.ascontiguousarray(words[:, 0])
        right = (first & 0xFF == VERSION) & (first >> 32 & 0xFFFFFFFF == self.tag)
        right &= (first >> 16 & 0xFFFF) == folded(np.ascontiguousarray(words).astype("<i8").view("<u4"))
        found: Truths = right & (words[:, 1:] >= 0).all(axis=1)
        return found
