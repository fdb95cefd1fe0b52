"""How many events a worker carries out in a second, over the last minutes: counts of ten seconds each, in a ring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

SLOT_SECONDS: Final = 10
SLOTS: Final = 60


class Throughput:
    """Times are readings of a monotonic clock. The ring holds the slot at work and the 59 whole ones before it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._slot = 0
        self._counts = [0] * SLOTS

    def add(self, events: int) -> None:
        self._turn()
        self._counts[self._slot % SLOTS] += events

    def each(self) -> list[int]:
        """Events of each slot, the oldest first, the one at work last."""
        self._turn()
        return [self._counts[slot % SLOTS] for slot in range(self._slot + 1, self._slot + 1 + SLOTS)]

    def per_second(self, whole: int) -> float:
        """Over the slot at work and so many whole ones before it, or over what there has been."""
        since = self._clock() - self._began
        events = sum(self.each()[-1 - whole :])
        seconds = min(since, since - (self._slot - whole) * SLOT_SECONDS)
        return events / seconds if seconds > 0 else 0.0

    def _turn(self) -> None:
        """Empty the slots that have begun since the last look."""
        now = int((self._clock() - self._began) // SLOT_SECONDS)
        for slot in range(max(self._slot + 1, now - SLOTS + 1), now + 1):
            self._counts[slot % SLOTS] = 0
        self._slot = max(self._slot, now)
