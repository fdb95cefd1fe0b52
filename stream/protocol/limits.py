"""How much a lane takes in hand, and the clock that it goes by."""

from dataclasses import dataclass
from time import time_ns


def wall_clock_ms() -> int:
    return time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """What waits in memory is bounded by records and by bytes; one fetch of the consumer may come on top.

    A block of 4,000 records of 250 bytes is 1 MB, one batch of the producer. Larger records make shorter blocks, so
    that no block is larger than 8 MiB or one record.

    A lane begins a transaction at most every `pause_seconds` unless `hurry_records` wait. A transaction costs the
    brokers and us some milliseconds of work whatever is in it, so without a pause a thousand events a second would
    keep both as busy as a hundred thousand. For the same reason overdue windows are closed at most every
    `closing_pause_seconds`.

    Where one record can take longer than a session may be silent, blocks are carried out `aside`: in a thread, while
    the brokers hear that the worker lives.

    Carrying out a block of a slow mechanism is to take no longer than `block_seconds` (`pace.py`); before it is known
    how long one takes, a block has at most `first_block_records`.
    """

    max_block_records: int = 4_000
    max_block_bytes: int = 8 << 20
    room_records: int = 20_000
    room_bytes: int = 32 << 20
    transaction_seconds: float = 10.0
    pause_seconds: float = 0.01
    hurry_records: int = 1_000
    closing_pause_seconds: float = 0.25
    block_seconds: float = 0.1
    first_block_records: int = 250
    aside: bool = False
