"""FADS: who waits longest leaves with his nearest, or in a box of others that loses less. Proof: fads.md."""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import Space, around, gap
from mechanisms.crowds.flow import Emitted
from mechanisms.crowds.nearest import NearestGrouper


class Fads(NearestGrouper):
    """Near is whose smallest box around both loses little; a crowd leaves in the smallest box around all of it."""

    NAME = "fads"

    def _join(self, slot: int) -> list[Emitted]:  # noqa: ARG002 - nobody leaves before he is due
        return []

    def _measure(self, slot: int) -> None:
        measure(self.held.space, self.held.cells, self.held.seqs, slot, self.gaps)

    def _enclose(self, count: int) -> float:
        return around(self.held.space, self.held.cells, self.crowd, count, self.box, 0)


@kernel
def measure(space: Space, cells: Integers, seqs: Integers, slot: int, gaps: Floats) -> None:
    for other in range(seqs.size):
        if seqs[other] >= 0:
            gaps[other] = gap(space, cells, slot, other)
