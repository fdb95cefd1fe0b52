"""Brokers in memory with Kafka's rules for transactions: what a reader of committed records may see, and who is fenced.

A partition's log holds records and markers. A record belongs to a transaction that is open, committed or aborted;
committed records become visible up to the first offset of an open transaction (the last stable offset). Aborted
records stay in the log. Starting a producer ends what its predecessor left open and raises the epoch; any call with an
older epoch is fenced.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from stream.errors import Fenced, PublishFailed
from stream.protocol.ports import Outgoing

Part = tuple[str, int]


class End(Enum):
    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(eq=False, slots=True)
class Transaction:
    end: End = End.OPEN
    parts: dict[Part, None] = field(default_factory=dict)
    offsets: dict[Part, int] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Entry:
    """One offset of a log; a marker has no record."""

    offset: int
    transaction: Transaction | None
    record: Outgoing | None


@dataclass(slots=True)
class Seat:
    """What the transaction coordinator knows about one transactional id."""

    epoch: int = 0
    open: Transaction | None = None


class Brokers:
    def __init__(self) -> None:
        self.logs: dict[Part, list[Entry]] = {}
        self.group: dict[Part, int] = {}
        self.seats: dict[str, Seat] = {}

    def log(self, part: Part) -> list[Entry]:
        return self.logs.setdefault(part, [])

    def write(self, part: Part, record: Outgoing, transaction: Transaction | None = None) -> int:
        log = self.log(part)
        log.append(Entry(len(log), transaction, record))
        return len(log) - 1

    def mark(self, part: Part) -> None:
        """A marker of somebody's transaction: an offset without a record."""
        log = self.log(part)
        log.append(Entry(len(log), None, None))

    def stable_end(self, part: Part) -> int:
        log = self.log(part)
        waiting = (entry.offset for entry in log if entry.transaction and entry.transaction.end is End.OPEN)
        return next(waiting, len(log))

    def committed(self, part: Part, start: int = 0) -> Iterator[Entry]:
        for entry in self.log(part)[start : self.stable_end(part)]:
            if entry.record and (entry.transaction is None or entry.transaction.end is End.COMMITTED):
                yield entry

    def uncommitted(self, part: Part) -> Iterator[Entry]:
        """Everything that was ever written, aborted or not."""
        return (entry for entry in self.log(part) if entry.record)

    def start_producer(self, name: str) -> int:
        seat = self.seats.setdefault(name, Seat())
        if seat.open is not None:
            self._end(seat, End.ABORTED)
        seat.epoch += 1
        return seat.epoch

    def begin(self, name: str, epoch: int) -> None:
        seat = self._seat(name, epoch)
        if seat.open is None:
            seat.open = Transaction()

    def append(self, name: str, epoch: int, part: Part, records: Sequence[Outgoing]) -> int:
        transaction = self._transaction(name, epoch)
        transaction.parts[part] = None
        for record in records:
            self.write(part, record, transaction)
        return len(self.log(part))

    def set_offset(self, name: str, epoch: int, part: Part, offset: int) -> None:
        self._transaction(name, epoch).offsets[part] = offset

    def finish(self, name: str, epoch: int, end: End) -> None:
        seat = self._seat(name, epoch)
        if seat.open is not None:
            self._end(seat, end)

    def expire(self, name: str) -> None:
        """The coordinator gives up on a transaction that takes too long: aborted, and its producer fenced."""
        seat = self.seats.get(name)
        if seat is not None and seat.open is not None:
            self._end(seat, End.ABORTED)
            seat.epoch += 1

    def _end(self, seat: Seat, end: End) -> None:
        transaction, seat.open = seat.open, None
        if transaction is None:
            return
        transaction.end = end
        for part in transaction.parts:
            self.mark(part)
        if end is End.COMMITTED:
            self.group.update(transaction.offsets)

    def _seat(self, name: str, epoch: int) -> Seat:
        seat = self.seats.get(name)
        if seat is None or seat.epoch != epoch:
            raise Fenced("The producer is fenced.")
        return seat

    def _transaction(self, name: str, epoch: int) -> Transaction:
        transaction = self._seat(name, epoch).open
        if transaction is None:
            raise PublishFailed("There is no transaction.")
        return transaction
