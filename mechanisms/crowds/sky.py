"""SKY: boxes are those of a public tree; who waits leaves in the smallest one that has a crowd. Proof: sky.md."""

from __future__ import annotations

import math

from beliefs.native import kernel
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import Space
from mechanisms.crowds.flow import Emitted, FlowForm
from mechanisms.crowds.halving import Halving, halving, part, shared_step
from mechanisms.crowds.nearest import NearestGrouper

ANY = math.ulp(0.0)
"""The least loss there is: only boxes of one cell have less."""


class Sky(NearestGrouper):
    """Near is whose box of the tree with both in it is small. A cell that has a crowd waits for nothing."""

    NAME = "sky"

    def __init__(self, form: FlowForm) -> None:
        super().__init__(form)
        self.tree = halving(form.attributes)

    def _join(self, slot: int) -> list[Emitted]:
        self._forget()
        place = self.kept.find(slot, ANY)
        if place >= 0:
            return [self._again(place, slot)]
        count = alike(self.held.cells, self.held.seqs, slot, self.crowd)
        if count < self.form.rule.k or not self.counts.allowed(self.crowd, count):
            return []
        self.gaps[self.crowd[:count]] = 0.0
        return [self._together(count, self._enclose(count))]

    def _measure(self, slot: int) -> None:
        measure(self.held.space, self.tree, self.held.cells, self.held.seqs, slot, self.gaps)

    def _enclose(self, count: int) -> float:
        return enclose(self.held.space, self.tree, self.held.cells, self.crowd, count, self.gaps, self.box)


@kernel
def alike(cells: Integers, seqs: Integers, slot: int, crowd: Integers) -> int:
    """All who wait in the same cell."""
    count = 0
    for other in range(seqs.size):
        if seqs[other] < 0:
            continue
        same = True
        for attribute in range(cells.shape[1]):
            same = same and cells[other, attribute] == cells[slot, attribute]
        if same:
            crowd[count] = other
            count += 1
    return count


@kernel
def measure(space: Space, tree: Halving, cells: Integers, seqs: Integers, slot: int, gaps: Floats) -> None:
    """How many steps the tree has to be gone up."""
    steps = tree.level.shape[0] - 1
    for other in range(seqs.size):
        if seqs[other] >= 0:
            gaps[other] = steps - shared_step(space, tree, cells, slot, other)


@kernel
def enclose(
    space: Space, tree: Halving, cells: Integers, crowd: Integers, count: int, gaps: Floats, box: Integers
) -> float:
    """Writes the smallest box of the tree that has all of a crowd in it and returns its loss."""
    up = 0
    for place in range(1, count):
        up = max(up, int(gaps[crowd[place]]))
    step = tree.level.shape[0] - 1 - up
    total = 0.0
    for attribute in range(space.spans.size):
        low, high = part(space, tree, attribute, cells[crowd[0], attribute], tree.level[step, attribute])
        box[0, 2 * attribute], box[0, 2 * attribute + 1] = low, high
        if high > low:
            total += (high - low) / space.spans[attribute]
    return total / space.spans.size
