"""An event loop without a clock, a network or chance:

time jumps to the next timer, and the same program runs the same way.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any


class VirtualLoop:
    """Just enough of an event loop for tasks, futures, locks and timeouts."""

    def __init__(self) -> None:
        self._now = 0.0
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._count = 0
        self.errors: list[dict[str, Any]] = []
        self.steps = 0

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)  # type: ignore[arg-type]
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)  # type: ignore[arg-type]
        self._count += 1
        heapq.heappush(self._timers, (when, self._count, handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer stays in the heap and is passed over when its time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)  # type: ignore[arg-type]

    def create_task(
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self, name=name, context=context)  # type: ignore[arg-type]

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def run(self, until: Callable[[], bool], *, steps_max: int) -> bool:
        """Run until the condition holds. False when nothing is left to do or the steps are used up."""
        asyncio.events._set_running_loop(self)  # type: ignore[arg-type]
        try:
            for _ in range(steps_max):
                if until():
                    return True
                if not self._ready and not self._advance():
                    return until()
                self.steps += 1
                handle = self._ready.popleft()
                if not handle._cancelled:
                    handle._run()
            return until()
        finally:
            asyncio.events._set_running_loop(None)

    def _advance(self) -> bool:
        """Jump to the next timer that still counts."""
        while self._timers:
            when, _, handle = heapq.heappop(self._timers)
            if not handle._cancelled:
                self._now = max(self._now, when)
                self._ready.append(handle)
                return True
        return False
