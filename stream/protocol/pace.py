"""How many records make a block, so that carrying it out never keeps the worker from everything else for long.

A block is carried out without a pause, and meanwhile nobody tells the brokers that the worker lives, and no other
partition's transaction goes on. Some mechanisms take microseconds for an event and some milliseconds: 4,000 events of
these would be longer than a session or a transaction may last, with the same blocks again after each new start. So
what a block took decides how large the next one may be. What is released does not depend on where blocks are cut.
"""

from stream.protocol.limits import LaneLimits

GROWTH = 4
"""One slow moment must not hold a fast pipeline back for long, nor one fast moment let a slow one run away."""


class Pace:
    def __init__(self, limits: LaneLimits) -> None:
        self._most = limits.max_block_records
        self._seconds = limits.block_seconds
        self.records = min(limits.first_block_records, self._most)
        """So many the next block may have."""

    def took(self, records: int, seconds: float) -> None:
        """A block of so many records was carried out."""
        fitting = int(records * self._seconds / seconds) if seconds > 0.0 else self._most
        self.records = max(1, min(self._most, fitting, GROWTH * self.records))
