"""Says when the release path is being compiled: it happens once per version and machine, and takes its time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.event import Listener, install_listener

EVERY_SECONDS = 3.0


class _Told(Listener):
    """numba tells about each function that it compiles, and not about one that it finds in the cache."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._tell = tell
        self._clock = clock
        self._began: float | None = None
        self._told = 0.0
        self._done = 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002 the library's signature
        if self._began is None:
            self._began = self._told = self._clock()
            self._tell("Compiling the release path (once per version, 20 to 40 s) ...")

    def on_end(self, event: Any) -> None:  # noqa: ARG002 the library's signature
        self._done += 1
        if self._clock() - self._told >= EVERY_SECONDS:
            self._told = self._clock()
            self._tell(f"  {self._done} functions compiled, {self._seconds():.0f} s")

    def end(self) -> None:
        if self._began is not None:
            self._tell(f"The release path is compiled: {self._done} functions, {self._seconds():.0f} s.")

    def _seconds(self) -> float:
        return 0.0 if self._began is None else self._clock() - self._began


@contextmanager
def compiling_told(tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Inside, `tell` gets a line when compiling begins, some while it lasts, and one at its end; else nothing."""
    told = _Told(tell, clock)
    with install_listener("numba:compile", told):
        yield
    told.end()
