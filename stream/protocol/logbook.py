"""What an operator reads in the log about partitions: which came, how far their recovery is, which serve."""

import logging
import time
from collections.abc import Callable, Collection

from stream.protocol.observer import NullObserver, Recovery

EVERY_SECONDS = 5.0

log = logging.getLogger("sottovoce.partitions")


class Logbook(NullObserver):
    """Says nothing about users, not even how many there are: how few may be shown is for the metrics to decide."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told = clock()
        self._parts: dict[int, float] = {}

    def assigned(self, partitions: Collection[int]) -> None:
        self._told = self._clock()
        self._parts = dict.fromkeys(partitions, 0.0)
        log.info("This worker has %s; their beliefs are read first.", listed(partitions))

    def recovering(self, recovery: Recovery) -> None:
        self._parts[recovery.partition] = _share(recovery)
        now = self._clock()
        if now - self._told >= EVERY_SECONDS:
            self._told = now
            whole = sum(self._parts.values()) / len(self._parts)
            log.info("Beliefs are being read: %.0f %% of %s.", 100 * whole, listed(self._parts))

    def ready(self, recovery: Recovery, seconds: float) -> None:
        log.info(
            "Partition %d serves; its belief changelog was read from offset %d to %d in %.1f s%s.",
            recovery.partition,
            recovery.start,
            recovery.position,
            seconds,
            f", {recovery.unreadable} rows could not be read" if recovery.unreadable else "",
        )

    def revoked(self, partitions: Collection[int]) -> None:
        if partitions:
            log.info("The consumer group is being rebalanced; %s paused.", listed(partitions))


def listed(partitions: Collection[int]) -> str:
    """`partitions 0-3, 7`: runs are written as such, so that a hundred partitions stay a line."""
    if not partitions:
        return "no partition"
    runs: list[list[int]] = []
    for partition in sorted(partitions):
        if runs and partition == runs[-1][1] + 1:
            runs[-1][1] = partition
        else:
            runs.append([partition, partition])
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return f"partition{'' if len(partitions) == 1 else 's'} {', '.join(texts)}"


def _share(recovery: Recovery) -> float:
    length = recovery.end - recovery.start
    return 1.0 if length <= 0 else min(1.0, (recovery.position - recovery.start) / length)
