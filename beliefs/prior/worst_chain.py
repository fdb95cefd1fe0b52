"""The adversary to whom the noisy sum of a chain tells most. Proof: segments.md.

Only the unknown values that hang together with the attacked one matter, and the known ones at their ends: a segment to
the left and one to the right. Of each pair of segments a bound and both tails are known at once; laws of sums are made
where these two leave the answer open.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.laws.markov import MarkovLaw
from beliefs.prior.adversary import Query
from beliefs.prior.atoms import Places, spread_of_laws
from beliefs.prior.influence import passed_on
from beliefs.prior.scaled import EMPTY, LONGEST, Scaled, convolved
from beliefs.prior.segment_bounds import bounds_between
from beliefs.prior.segment_laws import PLACES_MAX, Lattice, SegmentLaws, as_table
from beliefs.prior.segment_leaks import sharpened
from beliefs.prior.segments import FREE, Flags, log_margins, odds_after, sides
from beliefs.prior.worst import EXACT, SAME, SOUND, worst_of_table

WORK_MAX = 1 << 32
"""Products of masses that are looked at before the search gives up, and bounds stand for what was left."""

PAIR_WORK = 1 << 17
FORGOTTEN = 2.0**-41
"""Odds that differ by no more are the same; the answer is raised by twice that where chains are longer."""

MANY = 512
DEPTHS = tuple(8 << more for more in range(20))


class WorstOfChain(NamedTuple):
    """Largest leaks in nats, rounded up; a method is `sound` where a bound stands for what would take too long."""

    epsilon: float
    weakest: float
    method: str
    weakest_method: str


class Pair(NamedTuple):
    """A segment of each side, as rows of the two sides, and what bounds the leak between them."""

    left: int
    right: int
    bound: float


def worst_of_chain(law: MarkovLaw, scale: float) -> WorstOfChain:
    if (float(law.domain[-1]) - float(law.domain[0])) * law.length > LONGEST * scale:
        return WorstOfChain(math.inf, math.inf, SOUND, SOUND)
    table = as_table(law)
    if table is not None:
        found = worst_of_table(table, Query.of(table), scale)
        return WorstOfChain(found.epsilon, found.weakest, found.method, EXACT)
    search = ChainSearch(law, scale)
    weakest, weakest_method, _ = search.weakest()
    epsilon, method, _ = search.worst()
    return WorstOfChain(max(epsilon, weakest), weakest, method, weakest_method)


class ChainSearch:
    def __init__(self, law: MarkovLaw, scale: float) -> None:
        self.law, self.scale, self.moves = law, scale, (law.domain - law.domain[0]) / scale
        self.apart = np.abs(self.moves[:, None] - self.moves)
        self.odds = odds_after(law, FORGOTTEN)
        self.longest = len(self.odds) - 1
        self.left, self.right = sides(law, scale, self.longest)
        self.alone: tuple[Matrix, Matrix] | None = None
        self.possible: Flags = np.isfinite(log_margins(law))
        self.first = np.where(self.possible.any(axis=0), self.possible.argmax(axis=0), law.length)
        self.laws = SegmentPairs(law)
        self.looked_at: dict[tuple[Segment, ...], float] = {}
        # Read backwards such a chain is the same one, so a pair and its mirror image leak the same.
        self.mirrored = bool((law.rows == law.rows.T).all() and (law.start == law.start[0]).all())
        self.work = 0

    def worst(self) -> tuple[float, str, Pair | None]:
        """Over all pairs of segments that fit into the chain, none of which is longer than what is forgotten."""
        lefts, rights, lower, skipped = self.promising(0.0)
        bounds, _ = self.between(lefts, rights)
        if bool((bounds > lower * (1.0 + SAME)).any()) and self.sharpen(self.longest):
            lefts, rights, lower, skipped = self.promising(lower)
            bounds, _ = self.between(lefts, rights)
        room = 2.0 * self.odds[self.longest] if self.longest < self.law.length - 1 else 0.0
        if lefts.size > MANY:
            longer = np.maximum(self.left.length[lefts], self.right.length[rights])
            most = max(lower, skipped, float(bounds.max(initial=0.0)))
            for depth in itertools.takewhile(lambda depth: depth < self.longest, DEPTHS):
                near = longer <= depth
                nats, method, pair = self.resolve(lefts[near], rights[near], bounds[near], lower)
                if method == SOUND:
                    break
                lower = max(lower, nats)
                if self.beyond(depth, most, lower) <= lower * (1.0 + SAME):
                    return max(nats, skipped, lower * (1.0 + SAME)) + room, method, pair
        nats, method, pair = self.resolve(lefts, rights, bounds, lower)
        return max(nats, skipped) + room, method, pair

    def beyond(self, depth: int, most: float, lower: float) -> float:
        """A bound on pairs with a longer segment than that, from pairs of segments of that length and shorter ones.

        What ends a longer segment is told apart through the known value at its place `depth` only: as much as the odds
        of the steps between let through of the most that anybody can lose.
        """
        through, highest = passed_on(self.odds[depth], most), 0.0
        cut = [side.length == depth for side in (self.left, self.right)]
        cut = [each & (side.ended != FREE) for each, side in zip(cut, (self.left, self.right), strict=True)]
        for left in np.flatnonzero(self.left.length <= depth).tolist():
            fits = self.fitting(left) & (self.right.length <= depth)
            rights = np.flatnonzero(fits & (cut[1] | bool(cut[0][left])))
            if not rights.size:
                continue
            cuts = cut[1][rights].astype(np.float64) + float(cut[0][left])
            bounds, _ = self.between(np.full(rights.size, left), rights)
            for right, bound, ends in zip(rights.tolist(), bounds.tolist(), cuts.tolist(), strict=True):
                pair = Pair(left, right, bound)
                if bound + ends * through > lower * (1.0 + SAME) and self.affordable(pair):
                    bound = self.exact(pair)
                highest = max(highest, float(bound + ends * through))
                if highest > lower * (1.0 + SAME):
                    return highest
        return highest

    def weakest(self) -> tuple[float, str, Pair | None]:
        """Over all attacked values, nothing being known."""
        lefts = np.flatnonzero(self.left.ended == FREE)
        rights = np.flatnonzero(self.right.ended == FREE)[::-1]
        bounds, tails = self.between(lefts, rights)
        lower = float(tails.max())
        if bool((bounds > lower * (1.0 + SAME)).any()) and self.sharpen(self.law.length):
            bounds, _ = self.between(lefts, rights)
        return self.resolve(lefts, rights, bounds, lower)

    def sharpen(self, longest: int) -> bool:
        """Makes the bounds of exact leaks of single sides, if their laws are not too many."""
        known = min(longest, self.longest)
        if self.laws.left.size(known, 0) + self.laws.left.size(longest, FREE) > PLACES_MAX:
            return False
        left, one = sharpened(self.left, self.laws.left, self.scale, longest)
        right, two = sharpened(self.right, self.laws.right, self.scale, longest)
        self.left, self.right, self.alone = left, right, (one, two)
        return True

    def promising(self, lower: float) -> tuple[Places, Places, float, float]:
        """Pairs of segments that may exceed what is attained, that, and a bound on what is left out."""
        highest, skipped = self.right.passed.max(axis=0), 0.0
        simple = np.array([float((self.apart + passed + highest).max()) for passed in self.left.passed])
        found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
        for left in np.argsort(-simple, kind="stable").tolist():
            if simple[left] <= lower * (1.0 + SAME):
                skipped = max(skipped, float(simple[left]))
                break
            rights = np.flatnonzero(self.fitting(left))
            if rights.size and self.left.length[left] <= self.longest:
                lefts = np.full(rights.size, left)
                bounds, tails = self.between(lefts, rights)
                lower = max(lower, float(tails.max()))
                may = bounds > lower * (1.0 + SAME)
                skipped = max(skipped, float(bounds[~may].max(initial=0.0)))
                found.append((lefts[may], rights[may]))
        return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found]), lower, skipped

    def fitting(self, left: int) -> Flags:
        """Which segments of the right side go with this one of the left."""
        unknown, ended, size = int(self.left.length[left]), int(self.left.ended[left]), self.law.length
        short = (self.right.length <= self.longest) & (self.right.ended != FREE)
        free = (self.right.length <= self.longest) & (self.right.ended == FREE)
        if ended == FREE:
            last, at_end = size - 2 - unknown, free & (self.right.length == size - 1 - unknown)
        else:
            last, time = size - 3 - unknown - int(self.first[ended]), size - 2 - unknown - self.right.length
            at_end = free & (time >= 0) & self.possible[np.maximum(time, 0), ended]
        fits: Flags = (short & (self.right.length <= last)) | at_end
        return fits

    def between(self, lefts: Places, rights: Places) -> tuple[Matrix, Matrix]:
        """Bounds and tails of pairs."""
        return bounds_between(self.left, self.right, lefts, rights, self.moves, self.alone)

    def resolve(self, lefts: Places, rights: Places, bounds: Matrix, lower: float) -> tuple[float, str, Pair | None]:
        """The largest leak among pairs: looks at those whose bound is above what is attained, the highest first."""
        order = np.argsort(-bounds, kind="stable")
        self.work, reached, best = 0, 0.0, None
        for place in order.tolist():
            bound = float(bounds[place])
            pair = Pair(int(lefts[place]), int(rights[place]), bound)
            if bound <= max(lower, reached) * (1.0 + SAME):
                return max(reached, bound), EXACT, best or pair
            if not self.affordable(pair):
                return bound, SOUND, best or pair
            nats = self.exact(pair)
            if nats > reached:
                reached, best = nats, pair
        return reached, EXACT, best

    def affordable(self, pair: Pair) -> bool:
        one, two = int(self.left.length[pair.left]), int(self.right.length[pair.right])
        ends = int(self.left.ended[pair.left]), int(self.right.ended[pair.right])
        if self.laws.left.size(one, ends[0]) + self.laws.right.size(two, ends[1]) > PLACES_MAX:
            return False
        if self.key_of(pair) in self.looked_at:
            return True
        self.work += (one * two * self.laws.lattice.width**2 + PAIR_WORK) * self.law.start.size
        return self.work <= WORK_MAX

    def exact(self, pair: Pair) -> float:
        key = self.key_of(pair)
        if key not in self.looked_at:
            self.looked_at[key] = min(pair.bound, self.leak(pair, self.scale))
        return self.looked_at[key]

    def leak(self, pair: Pair, scale: float) -> float:
        return self.of(pair)(scale)

    def key_of(self, pair: Pair) -> tuple[Segment, ...]:
        """One for each pair of segments, and for its mirror image if that is the same."""
        both = self.segments(pair)
        return tuple(sorted(both)) if self.mirrored else both

    def segments(self, pair: Pair) -> tuple[Segment, Segment]:
        one = Segment(int(self.left.length[pair.left]), int(self.left.ended[pair.left]))
        return one, Segment(int(self.right.length[pair.right]), int(self.right.ended[pair.right]))

    def of(self, pair: Pair) -> Callable[[float], float]:
        """The leak between two segments at any scale."""
        one, two = self.segments(pair)
        met = self.left.possible[pair.left] & self.right.possible[pair.right]
        return functools.partial(self.laws.leak, one, two, met)


class Segment(NamedTuple):
    length: int
    ended: int


class SegmentPairs:
    """Exact leaks between two segments, from the laws of their sums."""

    def __init__(self, law: MarkovLaw) -> None:
        self.lattice, self.count = Lattice(law), law.start.size
        self.left, self.right = SegmentLaws(law, self.lattice, left=True), SegmentLaws(law, self.lattice, left=False)

    def leak(self, one: Segment, two: Segment, met: Flags, scale: float) -> float:
        before, behind = self.left.of(*one), self.right.of(*two)
        size = (one.length + two.length + 1) * self.lattice.width + 1
        values = np.flatnonzero(met)
        part, power = np.zeros((values.size, size)), np.full((values.size, size), EMPTY, dtype=np.int64)
        for row, value in enumerate(values.tolist()):
            start = self.lattice.places[value]
            summed = convolved(*(Scaled(each.part[value], each.power[value]) for each in (before, behind)))
            part[row, start : start + summed.part.size] = summed.part
            power[row, start : start + summed.part.size] = summed.power
        gaps = np.full(size, self.lattice.step / scale)
        gaps[0] = 0.0
        roundings = self.left.roundings(one.length) + self.right.roundings(two.length)
        roundings += min(one.length, two.length) * self.lattice.width
        return spread_of_laws(Scaled(part, power), gaps, roundings).nats
