"""What the phones really did, kept just long enough to be compared with what was released for the same events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rivals import RandomisedResponse

Codes = NDArray[np.uint8]


@dataclass
class Agreement:
    """How many compared events kept their true value, under each way of releasing them."""

    events: int = 0
    released: int = 0
    rivals: tuple[int, ...] = ()

    def share(self, kept: int) -> float:
        return kept / self.events if self.events else 0.0

    def since(self, earlier: Agreement) -> Agreement:
        before = earlier.rivals or (0,) * len(self.rivals)
        kept = tuple(now - then for now, then in zip(self.rivals, before, strict=True))
        return Agreement(self.events - earlier.events, self.released - earlier.released, kept)

    def plus(self, more: Agreement) -> Agreement:
        before = self.rivals or (0,) * len(more.rivals)
        kept = tuple(now + then for now, then in zip(more.rivals, before, strict=True))
        return Agreement(self.events + more.events, self.released + more.released, kept)


class RecordOfTruth:
    """A ring of rounds: row `sequence % rounds` holds every phone's true activity and what each rival made of it."""

    def __init__(self, phones: int, rounds: int, rivals: tuple[RandomisedResponse, ...]) -> None:
        self.rounds = rounds
        self._rivals = rivals
        self._sequence = np.zeros(rounds, dtype=np.int64)
        self._truth = np.zeros((rounds, phones), dtype=np.uint8)
        self._rival_kept = np.zeros((len(rivals), rounds, phones), dtype=np.bool_)

    def remember(self, sequence: int, activities: Codes) -> None:
        """Must be called before the round is fed, so that no release can come back too early."""
        row = sequence % self.rounds
        self._sequence[row] = sequence
        self._truth[row] = activities
        for place, rival in enumerate(self._rivals):
            self._rival_kept[place, row] = rival.release(activities) == activities

    def compare(self, phones: NDArray[np.int64], sequences: NDArray[np.int64], released: Codes) -> Agreement:
        """How many of these releases are true, beside the rivals' answers to the same events."""
        rows = sequences % self.rounds
        if not np.array_equal(self._sequence[rows], sequences):
            raise LookupError("a release came back for an event that was not fed, or was fed too long ago to compare")
        return Agreement(
            int(phones.size),
            int((self._truth[rows, phones] == released).sum()),
            tuple(int(kept[rows, phones].sum()) for kept in self._rival_kept),
        )
