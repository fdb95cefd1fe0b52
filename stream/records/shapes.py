"""What passes between the parts of this room: a raw record, an event that was read, a record that was refused."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

Symbols = tuple[int, ...]


class RawRecord(Protocol):
    """The part of a consumed Kafka record that the reader looks at."""

    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def timestamp(self) -> int: ...


class RawEvent(NamedTuple):
    """One event as it came in. It holds what must never be shown, so its `repr` is only its name.

    `fields` are the symbols of the fields that are protected each by itself, one field behind the other.
    """

    user: bytes
    symbol: int
    time: int
    document: dict[str, Any]
    fields: Symbols = ()

    def __repr__(self) -> str:
        return "RawEvent(...)"


class Rejected(NamedTuple):
    """Why a record cannot be released, and at which place. Never a value of the record."""

    reason: str
    path: str


@dataclass(slots=True)
class Block:
    """The records of one block, read: parallel lists of the events, and the refusals.

    `positions` says where in the block each event stood; `rejected` holds the other positions, each with its reason.
    """

    positions: list[int]
    users: list[bytes]
    symbols: list[int]
    times: list[int]
    documents: list[dict[str, Any]]
    fields: list[Symbols]
    rejected: list[tuple[int, Rejected]]

    def __repr__(self) -> str:
        return f"Block(events={len(self.positions)}, rejected={len(self.rejected)})"
