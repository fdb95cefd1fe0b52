"""Windows of event time: to which an event belongs, which are over, and who comes too late.

Windows are tumbling, aligned to 1970. An event is late if, in its own partition, an event has been read whose time is
at least the end of its window and the lateness that was asked for: that depends on the topic alone, not on who reads
it how fast. It is late, too, if its window has been told. A window is over when every partition has come so far, or
has been read to its end while others have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from stream.audit.amounts import Integers

LATE: Final = -1


@dataclass
class EventTime:
    """`length` and `late` in milliseconds; with a length of 0 there is one window, and nothing is late."""

    length: int
    late: int
    told: int = 0
    """Windows before this one have been told."""
    _reached: dict[int, int] = field(default_factory=dict)
    _ended: set[int] = field(default_factory=set)

    def begins(self, partition: int) -> None:
        """The partition is going to be read."""
        self._reached.setdefault(partition, -1)
        self._ended.discard(partition)

    def places(self, partition: int, times: Integers) -> Integers:
        """The window of each event, which are read in this order, or LATE."""
        if not times.shape[0] or not self.length:
            return np.zeros(times.shape[0], dtype=np.int64)
        reached = np.maximum.accumulate(np.concatenate([[self._reached.get(partition, -1)], times]))
        self._reached[partition] = int(reached[-1])
        places = times // self.length
        late = ((places + 1) * self.length + self.late <= reached[:-1]) | (places < self.told)
        return np.where(late, LATE, places)

    def progress(self, partition: int) -> int:
        """How far a partition has come; who reads several goes on with the one that is behind."""
        return self._reached.get(partition, -1)

    def ended(self, partition: int) -> None:
        """The partition has been read to the end that it has now."""
        self._ended.add(partition)

    def over(self) -> int:
        """All windows before this one are over."""
        if not self.length or not self._reached:
            return self.told
        going = [reached for partition, reached in self._reached.items() if partition not in self._ended]
        reached = min(going) if going else max(self._reached.values())
        return max(self.told, (reached - self.late) // self.length)
