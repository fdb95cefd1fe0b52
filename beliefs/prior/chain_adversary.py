"""One adversary against the noisy sum of a chain: whom he attacks, and which values he knows. Proof: segments.md."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from beliefs.checks import Invalid
from beliefs.laws.markov import MarkovLaw
from beliefs.prior.atoms import spread_of_laws
from beliefs.prior.scaled import EMPTY, Scaled, add_shifted, scaled
from beliefs.prior.segment_laws import Lattice

CONTEXTS_MAX = 1 << 12
WORK_MAX = 1 << 30


class ChainAdversary:
    """The laws of the unknown values' sum for every value of the attacked one, in every context that matters.

    Of the known values only those matter that stand beside an unknown or the attacked one; what is known further away
    changes nothing.
    """

    def __init__(self, law: MarkovLaw, attacked: int, known: tuple[int, ...]) -> None:
        self.law, self.attacked, self.known = law, attacked, set(known)
        self.lattice, self.rows = Lattice(law), scaled(law.rows)
        self.first = scaled(law.start / law.start.sum())
        beside = [time for time in known if {time - 1, time + 1} & (set(range(law.length)) - self.known)]
        if law.start.size ** len(beside) > CONTEXTS_MAX:
            raise Invalid("known", f"has {len(beside)} places beside unknown ones, too many to go through their values")
        steps = law.start.size ** (len(beside) + 3) * law.length**2 * self.lattice.width
        if steps > WORK_MAX:
            raise Invalid("domain", f"makes {self.lattice.width * law.length} places of sums, too many to follow")
        self.laws = [laws for laws in self._contexts(beside) if bool((laws.part > 0.0).any())]
        self.roundings = law.length * (law.start.size + 4)

    def leak(self, scale: float) -> float:
        gaps = np.full(self.laws[0].part.shape[1], self.lattice.step / scale)
        gaps[0] = 0.0
        group = self.lattice.step * (gaps.size - 1) / scale * (1.0 + 2.0**-50)
        return min(group, max(spread_of_laws(laws, gaps, self.roundings).nats for laws in self.laws))

    def _contexts(self, beside: list[int]) -> Iterator[Scaled]:
        states = range(self.law.start.size)
        for values in itertools.product(states, repeat=len(beside)):
            fixed = dict(zip(beside, values, strict=True))
            rows = [self._law({**fixed, self.attacked: value}) for value in states]
            yield Scaled(np.stack([row.part for row in rows]), np.stack([row.power for row in rows]))

    def _law(self, fixed: dict[int, int]) -> Scaled:
        """Chances of the sums of all that is not known, together with the values that are fixed."""
        count, width = self.law.start.size, self.lattice.width
        now = Scaled(self.first.part[:, None], self.first.power[:, None])
        for time in range(self.law.length):
            counts = time not in self.known
            if time:
                now = self._moved(now)
            grown = now.part.shape[1] + (width if counts else 0)
            part, power = np.zeros((count, grown)), np.full((count, grown), EMPTY, dtype=np.int64)
            for state in range(count):
                if fixed.get(time, state) == state:
                    shift = int(self.lattice.places[state]) if counts else 0
                    add_shifted(1.0, 0, now.part[state], now.power[state], shift, part[state], power[state])
            now = Scaled(part, power)
        return self._summed(now)

    def _moved(self, now: Scaled) -> Scaled:
        part, power = np.zeros_like(now.part), np.full_like(now.power, EMPTY)
        for state, (row, heights) in enumerate(zip(*now, strict=True)):
            for after in range(part.shape[0]):
                factor = self.rows.part[state, after], int(self.rows.power[state, after])
                add_shifted(*factor, row, heights, 0, part[after], power[after])
        return Scaled(part, power)

    def _summed(self, now: Scaled) -> Scaled:
        part, power = np.zeros(now.part.shape[1]), np.full(now.part.shape[1], EMPTY, dtype=np.int64)
        for row, heights in zip(*now, strict=True):
            add_shifted(1.0, 0, row, heights, 0, part, power)
        return Scaled(part, power)
