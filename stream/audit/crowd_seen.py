"""What an audit of crowds has read, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class Seen:
    """What there was."""

    records: int = 0
    released: int = 0
    crowds: int = 0
    suppressed: int = 0
    withheld: Counter[str] = field(default_factory=Counter)
    largest_delta: Fraction = Fraction(0)
