"""What one block of records changes, as a value: nothing of it is visible until its transaction has committed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stream.protocol.columns import RecordBlock
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing


def no_amounts() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


@dataclass(slots=True)
class Effects:
    """The releases, dead letters and new states of one block, and what is said about them.

    `keys`, `heads` and `codes` are the changed users, each once, with their states after the block. `outcomes` and
    `reasons` count records; the outcomes and `held_change` add up to
    the number of records in the block. `upper_units` and `lower_units`
    hold what each release told about its user, for the histograms; `before` are the heads of the changed users before
    the block. `uncertified` counts releases that became forecasts because their channel could not be certified,
    `cut_short` events for which `near` took the best channel that its bounded work had come to.

    `held` are the users of whom something else is held now than before, sealed; nothing is held where it is empty.
    `held_change` is by how much the number of waiting events grew, `appended` when the records of those that were
    carried out came into the raw topic; None where these are the records of the block. `watched`, `learning`,
    `fields` and `aggregates` are for whoever watches over the pipeline after the commit; the protocol only hands them
    on. `marks` are small records that are committed with the block and kept by the store.
    """

    next_offset: int
    releases: Sequence[Outgoing]
    dead_letters: Sequence[Outgoing]
    changelog: RecordBlock
    keys: list[bytes]
    heads: NDArray[np.int64]
    codes: NDArray[np.uint32]
    outcomes: Mapping[str, int]
    reasons: Mapping[str, int] = field(default_factory=dict)
    upper_units: NDArray[np.int64] = field(default_factory=no_amounts)
    lower_units: NDArray[np.int64] = field(default_factory=no_amounts)
    before: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 8), np.int64))
    uncertified: int = 0
    cut_short: int = 0
    held: Mapping[bytes, bytes] = field(default_factory=dict)
    held_change: int = 0
    appended: NDArray[np.int64] | None = None
    watched: object | None = None
    learning: object | None = None
    fields: object | None = None
    aggregates: object | None = None
    marks: Mapping[bytes, bytes] = field(default_factory=dict)


def only_offset(next_offset: int) -> Effects:
    """Nothing but the source offset: it puts the consumer group where the beliefs are."""
    empty = np.empty((0, 8), np.int64)
    return Effects(next_offset, [], [], RecordBlock.of([]), [], empty, np.empty((0, 0), np.uint32), {})


@dataclass(frozen=True, slots=True)
class BlockReport:
    """One block after its transaction has committed."""

    partition: int
    records: InputBlock
    effects: Effects
    users: int
    waiting: int
    lag: int
    prepare_seconds: float
    publish_seconds: float
    apply_seconds: float
