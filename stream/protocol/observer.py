"""Who is told what happens: metrics, readiness, the terminal. An observer must not raise and must not wait."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from stream.protocol.effects import BlockReport


class Recovery(NamedTuple):
    """How far the reading of one partition's beliefs has come; positions are offsets of the belief changelog.

    `start` is where the reading began: 0, or where a store on disk stood. `waiting` events are held in windows.
    """

    partition: int
    position: int
    end: int
    users: int
    unreadable: int
    start: int = 0
    waiting: int = 0


class Observer(Protocol):
    def assigned(self, partitions: Collection[int]) -> None:
        """These partitions are ours; none of them is ready yet."""

    def recovering(self, recovery: Recovery) -> None: ...

    def ready(self, recovery: Recovery, seconds: float) -> None:
        """The partition's beliefs are complete; its records are taken from now on."""

    def revoked(self, partitions: Collection[int]) -> None: ...

    def block_started(self, partition: int, records: int) -> None: ...

    def block_committed(self, report: BlockReport) -> None: ...

    def lag(self, partition: int, records: int) -> None:
        """So many offsets of the raw topic wait, as the brokers said a moment ago; told whether or not blocks come."""

    def repeated(self, partition: int, records: int) -> None:
        """Records that an earlier transaction has already dealt with were read again and dropped."""

    def gap(self, partition: int, expected: int, found: int) -> None:
        """The raw topic no longer holds the offsets from `expected` up to `found`; nothing was released for them."""

    def failed(self, partition: int, error: BaseException) -> None: ...


class NullObserver:
    """Tells nobody."""

    def assigned(self, partitions: Collection[int]) -> None: ...

    def recovering(self, recovery: Recovery) -> None: ...

    def ready(self, recovery: Recovery, seconds: float) -> None: ...

    def revoked(self, partitions: Collection[int]) -> None: ...

    def block_started(self, partition: int, records: int) -> None: ...

    def block_committed(self, report: BlockReport) -> None: ...

    def lag(self, partition: int, records: int) -> None: ...

    def repeated(self, partition: int, records: int) -> None: ...

    def gap(self, partition: int, expected: int, found: int) -> None: ...

    def failed(self, partition: int, error: BaseException) -> None: ...


class Observers:
    """Tells several, in the order in which they were named."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = tuple(observers)

    def assigned(self, partitions: Collection[int]) -> None:
        for observer in self._observers:
            observer.assigned(partitions)

    def recovering(self, recovery: Recovery) -> None:
        for observer in self._observers:
            observer.recovering(recovery)

    def ready(self, recovery: Recovery, seconds: float) -> None:
        for observer in self._observers:
            observer.ready(recovery, seconds)

    def revoked(self, partitions: Collection[int]) -> None:
        for observer in self._observers:
            observer.revoked(partitions)

    def block_started(self, partition: int, records: int) -> None:
        for observer in self._observers:
            observer.block_started(partition, records)

    def block_committed(self, report: BlockReport) -> None:
        for observer in self._observers:
            observer.block_committed(report)

    def lag(self, partition: int, records: int) -> None:
        for observer in self._observers:
            observer.lag(partition, records)

    def repeated(self, partition: int, records: int) -> None:
        for observer in self._observers:
            observer.repeated(partition, records)

    def gap(self, partition: int, expected: int, found: int) -> None:
        for observer in self._observers:
            observer.gap(partition, expected, found)

    def failed(self, partition: int, error: BaseException) -> None:
        for observer in self._observers:
            observer.failed(partition, error)
