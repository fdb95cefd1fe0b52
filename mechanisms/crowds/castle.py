"""CASTLE: an event joins the open cluster that it enlarges least; at its delay the cluster goes out. Proof: castle.md.

Where the published algorithm chooses at random the choice here is fixed, by age in the end; castle.md says where.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from mechanisms.contract import Integers
from mechanisms.crowds.attributes import around, box_of
from mechanisms.crowds.clusters import Clusters
from mechanisms.crowds.division import Division
from mechanisms.crowds.flow import Emitted, FlowForm, Grouper, Reason
from mechanisms.crowds.kept import Kept
from mechanisms.crowds.packed import float_bits, float_of, numbered
from mechanisms.crowds.waiting import Tally

CLUSTERS = 50
"""The published beta: how many clusters are open at most."""
RECENT = 100
"""The published mu: of how many crowds let out last the threshold tau is the mean loss."""
KEPT = 128
"""Of how many crowds the boxes are kept: castle.md measures what they save."""


class Castle(Grouper):
    NAME = "castle"

    def __init__(self, form: FlowForm, clusters: int = CLUSTERS, recent: int = RECENT, kept: int = KEPT) -> None:
        super().__init__(form)
        self._tally = Tally(self.held)
        self._clusters, self._kept = Clusters(self.held, self._tally, clusters), Kept(self.held, kept)
        self._division = Division(self.held, self._tally)
        self._recent: deque[float] = deque(maxlen=recent)
        self._tau = 0.0
        self._box = np.zeros((1, 2 * len(form.attributes)), dtype=np.int64)

    def _join(self, slot: int) -> list[Emitted]:
        self._clusters.join(slot, self._tau)
        return []

    def _leave(self, slot: int) -> list[Emitted]:
        crowd = self._clusters.crowd_around(slot, 0)
        if crowd is None:
            place = self._kept.find(slot)
            if place >= 0:
                box, loss, users = self._kept.reuse(place, slot)
                return [Emitted(self._take_out(np.array([slot])), users, box, loss, True, None)]
            if self.held.distinct < self.form.rule.k:
                return [self._keep_back(slot, "too_few")]
            crowd = self._clusters.crowd_around(slot, self._clusters.most)
            if crowd is None:
                return [self._keep_back(slot, "not_diverse")]
            self.merged += self._clusters.merged
        return self._let_out(slot, self._division.of(crowd, self._tally.of(crowd, crowd.size)))

    def _let_out(self, slot: int, groups: list[Integers]) -> list[Emitted]:
        """What would lose too much stays where it is, but for the event that has to leave."""
        found = []
        for group in groups:
            loss = around(self.held.space, self.held.cells, group, group.size, self._box, 0)
            if loss <= self.form.rule.loss_most:
                users = self._tally.of(group, group.size)
                self._recent.append(loss)
                self._tau = sum(self._recent) / len(self._recent)
                if loss < self._tau:
                    self._kept.keep(self._box[0], loss, users, self._tally)
                found.append(Emitted(self._take_out(group), users, box_of(self._box[0]), loss, False, None))
            elif slot in group:
                found.append(self._keep_back(slot, "loss"))
        return found

    def _keep_back(self, slot: int, reason: Reason) -> Emitted:
        return Emitted(self._take_out(np.array([slot])), 1, None, 1.0, False, reason)

    def _take_out(self, slots: Integers) -> tuple[int, ...]:
        self._clusters.take_out(slots)
        return tuple(sorted(self.held.drop(slot) for slot in slots.tolist()))

    def _numbers(self) -> Iterable[int]:
        yield len(self._recent)
        yield from (float_bits(loss) for loss in self._recent)
        yield from self._clusters.ranks()
        yield from self._kept.numbers()

    def _resume(self, numbers: Iterator[int]) -> None:
        self._recent.extend([float_of(next(numbers)) for _ in range(next(numbers))])
        self._tau = sum(self._recent) / len(self._recent) if self._recent else 0.0
        for slot in self.held.in_order():
            self._clusters.put(slot, numbered(numbers, self._clusters.most))
        self._kept.resume(numbers)
