"""What the release protocol asks of the world, so that the same code runs on Kafka and in the simulator.

A port says what must be true, not how; `stream.engine` keeps these promises with Kafka and Faust, `tests/simulation`
with a log in memory whose every answer can be delayed, lost or followed by a crash.
"""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from stream.protocol.effects import Effects
    from stream.protocol.inputs import InputBlock

NOTHING_HELD: Final[Mapping[bytes, bytes]] = {}

Heads = NDArray[np.int64]
Codes = NDArray[np.uint32]


class InputRecord(Protocol):
    """One record of the raw topic, as the consumer hands it over."""

    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


class Outgoing(NamedTuple):
    """One record to be written to the partition that its input came from."""

    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Sequence[tuple[str, bytes]] = ()


class Block(NamedTuple):
    """Consecutive records of one partition: every record from offset `start` up to, but not including, offset `end`.

    Offsets may be missing in between (compaction, markers of transactions), so continuity is told by `start` and
    `end`, which the consumer's position gives, and never by the records' own offsets.
    """

    partition: int
    start: int
    end: int
    records: "InputBlock"
    high_watermark: int


class Producer(Protocol):
    """The transactional producer of one source partition.

    Every failure is a `PublishFailed`; being replaced is `Fenced`.
    """

    async def start(self) -> None:
        """Fence every older producer of this partition and wait until what it left open is ended."""

    async def begin(self) -> None: ...

    async def send(self, topic: str, records: Sequence[Outgoing]) -> None:
        """Add records, in order. May return before they are written; `commit` waits for all of them."""

    async def send_offset(self, next_offset: int) -> None:
        """Add the source offset from which the next block starts."""

    async def commit(self) -> Mapping[str, int]:
        """Wait for everything that was added, then commit.

        Answers, for each topic, the offset after its last record.
        """

    async def abort(self) -> None:
        """End the transaction without effect.

        Once `commit` was asked for, the outcome is the broker's and this does nothing.
        """

    async def stop(self) -> None: ...


class Changelog(Protocol):
    """The committed part of the belief changelog."""

    def read(self, partition: int, after: int) -> AsyncIterator["ChangelogChunk"]:
        """Every committed record from position `after` up to the end of the partition at the time of the call.

        The last chunk's position is that end, even when nothing but markers or aborted records stands before it.
        """


class ChangelogChunk(NamedTuple):
    position: int
    end: int
    pairs: list[tuple[bytes, bytes | None]]


class Source(Protocol):
    """What the broker says about a partition of the raw topic."""

    async def committed(self, partition: int) -> int | None:
        """The consumer group's committed offset, or None."""

    async def beginning(self, partition: int) -> int:
        """The first offset that still exists."""

    async def end(self, partition: int) -> int:
        """The offset after the last record or marker that stands there now."""

    async def drained(self, partition: int, since: int) -> bool:
        """Whether no committed record stands at or after offset `since`."""


class RowCodec(Protocol):
    """How a user's state is written as bytes, and what a user has of whom nothing is known."""

    @property
    def symbols(self) -> int: ...

    def from_rows(self, rows: Sequence[bytes]) -> tuple[Heads, Codes, NDArray[np.bool_]]:
        """The rows as arrays, and which of them can be trusted; the others are rows of new users."""

    def to_rows(self, heads: Heads, codes: Codes) -> list[bytes]: ...

    def new_users(self, count: int) -> tuple[Heads, Codes]: ...


class Loaded(NamedTuple):
    heads: Heads
    codes: Codes
    known: NDArray[np.bool_]


class UserStore(Protocol):
    """The states of one partition's users as of the last committed transaction. Copies go out, copies come in."""

    @property
    def unreadable(self) -> Collection[bytes]:
        """Users whose state row cannot be trusted. Nothing of theirs may be released."""

    def load(self, keys: Sequence[bytes]) -> Loaded:
        """The states of these users, in their order; unknown users have the row of a new user."""

    def load_held(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """What is held about each of these users, sealed, or None."""

    def apply(
        self,
        keys: Sequence[bytes],
        heads: Heads,
        codes: Codes,
        position: int,
        marks: Mapping[bytes, bytes],
        held: Mapping[bytes, bytes] = NOTHING_HELD,
    ) -> None:
        """Take over what a committed transaction says, all of it or nothing. The keys are distinct; a user of whom
        `held` has an empty text has nothing held any more.
        """

    def quarantine(self, rows: Mapping[bytes, bytes]) -> None:
        """Set these users aside together with the rows that could not be read."""

    def remove(self, keys: Sequence[bytes]) -> None: ...

    def all_heads(self) -> Iterator[Heads]:
        """The heads of all users, in pieces of any size."""

    def held(self) -> Iterator[tuple[bytes, bytes]]:
        """Every user of whom something is held, and what, sealed."""

    def marks(self) -> Mapping[bytes, bytes]:
        """The small named values that came with the states: the control record and the progress mark."""

    def position(self) -> int:
        """Where in the changelog to go on reading; 0 for a store that knows nothing."""

    def clear(self) -> None: ...

    def close(self) -> None: ...

    def __len__(self) -> int: ...


class Deadlines(Protocol):
    """When windows whose users have fallen silent are closed."""

    def set(self, user: bytes, record: bytes | None) -> None:
        """What is held about this user now, as committed."""

    def first(self) -> int | None:
        """When the first window is due, in milliseconds since 1970, or None."""


class Pipeline(Protocol):
    """From records to effects: synchronous, deterministic, and without any effect of its own."""

    @property
    def deadlines(self) -> Deadlines | None:
        """None where no event ever waits."""

    def adopt(self, store: UserStore) -> int:
        """Start from this store; answers how many events wait in it. Refuses what cannot be carried on."""

    def cut(self, store: UserStore, first: int) -> int | None:
        """The offset before which a block must end whose first record stands at this one; None: anywhere."""

    def prepare(self, records: "InputBlock", store: UserStore) -> "Effects": ...

    def prepare_overdue(self, store: UserStore, clock: int) -> "Effects | None":
        """Close some of the windows that are due by then; None when there are none."""
