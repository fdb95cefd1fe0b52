"""Everything that the engine is told, already found right: no file is read below this line."""

from dataclasses import dataclass, field
from pathlib import Path

from stream.engine.connection import Connection
from stream.protocol.limits import LaneLimits
from stream.protocol.publish import Topics


@dataclass(frozen=True, slots=True)
class Plan:
    """`record_bytes` is the largest value that is read from the raw topic, `row_bytes` a user's state row, `held_bytes`
    the most that is held about a user between two events, `mark_bytes` the largest of the small records beside them; 0
    where nothing ever is. `released_bytes` is the largest value that is written to the released topic; None where that
    is a raw value written anew.

    `single` are topics that have one partition, to which all partitions write; `elsewhere` are those that another job
    of the pipeline answers for, whatever partitions they have; in `stamped` ones the brokers' time of each record
    counts, and not the writer's.
    """

    pipeline: str
    connection: Connection
    topics: Topics
    instance_id: str | None
    record_bytes: int
    row_bytes: int
    held_bytes: int = 0
    mark_bytes: int = 0
    released_bytes: int | None = None
    single: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    stamped: frozenset[str] = frozenset()
    replication_factor: int = 1
    session_timeout_ms: int = 10_000
    drain_seconds: float = 10.0
    store_folder: Path | None = None
    limits: LaneLimits = field(default_factory=LaneLimits)

    @property
    def fetch_bytes(self) -> int:
        """A fetch must be able to carry the largest record, with room for its key and headers."""
        return self.record_bytes + (64 << 10)
