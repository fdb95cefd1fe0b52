"""Which windows are overdue. A window waits for its user's next event, but not for ever."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from stream.windows.held import NEVER, WAITING, readable_head


class WindowDeadlines:
    """When the waiting window of each user is due, for one partition."""

    def __init__(self) -> None:
        self._due: dict[bytes, int] = {}
        self._order: list[tuple[int, bytes]] = []

    def begin(self, held: Iterable[tuple[bytes, bytes]]) -> None:
        """Forget everything and start with these users' held records."""
        self._due.clear()
        self._order.clear()
        for user, record in held:
            self.set(user, record)

    def set(self, user: bytes, record: bytes | None) -> None:
        """The user's held record is this one now, or gone. One that cannot be read is never due: who could close it?"""
        self._due.pop(user, None)
        if record is None:
            return
        head = readable_head(record)
        if head is not None and head.kind == WAITING and head.due != NEVER:
            self._due[user] = head.due
            heapq.heappush(self._order, (head.due, user))
            if len(self._order) > 64 + 2 * len(self._due):  # most entries are of windows that closed by themselves
                self._order = sorted((due, user) for user, due in self._due.items())

    def first(self) -> int | None:
        """When the next window is due."""
        while self._order and self._due.get(self._order[0][1]) != self._order[0][0]:
            heapq.heappop(self._order)
        return self._order[0][0] if self._order else None

    def overdue(self, clock: int, most: int) -> list[bytes]:
        """Users whose windows are due by then, at most so many, in an order that depends on nothing but them."""
        return sorted(user for user, due in self._due.items() if due <= clock)[:most]
