"""The adversary to whom a noisy weighted sum tells most: whom he attacks and what he knows. Proof: worst.md.

The search decides one attribute after the other whether it is unknown, which adds it into the sum and takes its axis
away, or kept, to be known or attacked. Branches in which nobody can learn more than was found already are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.laws.table import TableLaw
from beliefs.native import kernel
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.atoms import Atoms, Places, atoms_of, spread_of_table
from beliefs.prior.outward import least_above
from beliefs.prior.pruning import Pruning
from beliefs.prior.scaled import Floats

EXACT, SOUND = "exact", "sound"
WORK_MAX = 1 << 29
"""Places of laws that are looked at before the search gives up and says how far anybody may be above what it found."""

NODE_WORK = 1 << 13
SAME = 1e-11
"""Leaks that are closer together than this share are equal."""


class Worst(NamedTuple):
    """The largest leak in nats, rounded up, and who attains it; `weakest` is the largest of those who know nobody.

    Where the method is `sound` the search was too large: `epsilon` bounds all leaks, `attained` is the largest found.
    """

    epsilon: float
    attacked: int
    known: tuple[int, ...]
    weakest: float
    method: str
    attained: float


def worst_of_table(
    law: TableLaw, query: Query, scale: float, max_known: int | None = None, only: int | None = None
) -> Worst:
    """Of equal adversaries the one with the smallest attacked attribute, then with the fewest known ones.

    With `only`, of those who attack that attribute.
    """
    most = law.size - 1 if max_known is None else min(max_known, law.size - 1)
    search = _Search(law, query, scale, most, tuple(range(law.size)) if only is None else (only,))
    for attacked in search.tried:
        search.take(Seen.by(law, query, attacked, ()).leak(scale), attacked, ())
    weakest = search.best.nats
    if most == law.size - 1:
        search.look_at_strongest()
    if most:
        search.visit(search.root())
    return search.found(weakest)


class _Found(NamedTuple):
    nats: float
    attacked: int
    known: tuple[int, ...]


@dataclass(frozen=True)
class _Node:
    """A state of the search. The axes of `weights` are contexts of what is shown, what is open, and atoms of the sum.

    What is kept is shown, or out of sight: known, and too far away to matter. `bounds` says of each attribute that may
    still be attacked how much nobody below this node can exceed.
    """

    weights: Matrix
    atoms: Atoms
    shown: tuple[int, ...]
    away: tuple[int, ...]
    unknown: tuple[int, ...]
    open: tuple[int, ...]
    bounds: dict[int, float]


class _Search:
    def __init__(self, law: TableLaw, query: Query, scale: float, max_known: int, tried: tuple[int, ...]) -> None:
        self.law, self.query, self.scale, self.max_known, self.tried = law, query, scale, max_known, tried
        self.best, self.beyond, self.work = _Found(-1.0, law.size, ()), 0.0, 0
        self.merged: dict[tuple[bytes, bytes], Atoms] = {}
        ranges = np.array([least_above(each / Fraction(scale)) for each in query.ranges])
        apart = tuple(each for each in tried if len(tried) < law.size)
        self.pruning = Pruning.of(law.joint, ranges, query.terms, apart, whole=max_known < law.size - 1)

    def root(self) -> _Node:
        order = self.pruning.order
        turned = np.ascontiguousarray(np.transpose(self.law.joint, order))
        atoms = Atoms(np.zeros(1), np.zeros((1, 1), dtype=np.int64), 0.0)
        bounds = self.pruning.bounds((), order, self.tried)
        return _Node(turned.reshape(1, -1, 1), atoms, (), (), (), order, bounds)

    def visit(self, node: _Node) -> None:
        lowest = self.best.nats * (1.0 - SAME)
        alive = {attacked: nats for attacked, nats in node.bounds.items() if nats >= lowest}
        if not alive or len(node.shown) + len(node.away) > self.max_known + 1:
            return
        if self.work > WORK_MAX:
            self.beyond = max(self.beyond, *alive.values())
            return
        self.work += NODE_WORK + node.weights.size // 4
        if not node.open:
            for attacked in self.pruning.bounds(node.unknown, (), tuple(alive)) if node.unknown else ():
                self.look_at(node, attacked)
            return
        following = replace(node, bounds=alive)
        if not self.pruning.comes_later(node.open[0], (*node.shown, *node.away)):
            self.visit(self.with_unknown(following))
        self.visit(self.out_of_sight(self.with_kept(following)))

    def with_unknown(self, node: _Node) -> _Node:
        """The next open attribute becomes a part of the sum."""
        gone, left = node.open[0], node.open[1:]
        atoms = self.merge(self.query.terms[gone], node.atoms)
        contexts, length = node.weights.shape[0], self.law.joint.shape[gone]
        parted = node.weights.reshape(contexts, length, -1, node.weights.shape[2])
        weights = np.zeros((contexts, parted.shape[2], atoms.points.size))
        _fold(parted, atoms.place, weights)
        bounds = {attacked: nats for attacked, nats in node.bounds.items() if attacked != gone}
        return replace(node, weights=weights, atoms=atoms, unknown=(*node.unknown, gone), open=left, bounds=bounds)

    def with_kept(self, node: _Node) -> _Node:
        stays, left = node.open[0], node.open[1:]
        weights = node.weights.reshape(node.weights.shape[0] * self.law.joint.shape[stays], -1, node.weights.shape[2])
        bounds = self.pruning.bounds(node.unknown, left, tuple(node.bounds))
        return replace(node, weights=weights, shown=(*node.shown, stays), open=left, bounds=bounds)

    def out_of_sight(self, node: _Node) -> _Node:
        """Contexts are joined that differ only where nobody who can still be attacked is touched."""
        shown, weights = list(node.shown), node.weights
        for gone in self.pruning.too_far(node.shown, node.unknown, node.open):
            before = math.prod(self.law.joint.shape[each] for each in shown[: shown.index(gone)])
            length = self.law.joint.shape[gone]
            joined = weights.reshape(before, length, -1).sum(axis=1)
            weights = joined.reshape(weights.shape[0] // length, *weights.shape[1:])
            shown.remove(gone)
        away = tuple(each for each in node.shown if each not in shown)
        bounds = {attacked: nats for attacked, nats in node.bounds.items() if attacked not in away}
        return replace(node, weights=weights, shown=tuple(shown), away=(*node.away, *away), bounds=bounds)

    def merge(self, term: Floats, atoms: Atoms) -> Atoms:
        """The atoms of a sum with one attribute more."""
        key = term.tobytes(), atoms.points.tobytes()
        if key not in self.merged:
            self.merged[key] = atoms_of(term[:, None] + atoms.points, float(term.max() + atoms.points[-1]))
        found = self.merged[key]
        return found._replace(moved=found.moved + atoms.moved)

    def look_at(self, node: _Node, attacked: int) -> None:
        """The exact leak about one of those that are shown, all others of which are known."""
        atoms = self.merge(self.query.terms[attacked], node.atoms)
        before = math.prod(self.law.joint.shape[each] for each in node.shown[: node.shown.index(attacked)])
        table = node.weights.reshape(before, self.law.joint.shape[attacked], -1, node.weights.shape[2])
        told = spread_of_table(table, atoms, self.scale, sum(self.law.joint.shape)).nats
        group = sum((self.query.ranges[each] for each in node.unknown), self.query.ranges[attacked])
        self.work += 2 * table.shape[0] * table.shape[1] * table.shape[2] * atoms.points.size
        known = tuple(sorted({*node.shown, *node.away} - {attacked}))
        self.take(min(told, least_above(group / Fraction(self.scale))), *self.pruning.first_alike(attacked, known))

    def look_at_strongest(self) -> None:
        """Who knows all others loses exactly the range of what is possible then."""
        for attacked in self.tried:
            term = self.query.terms[attacked]
            known = tuple(each for each in range(self.law.size) if each != attacked)
            met = self.law.arranged(known, attacked)[:, :, 0] > 0.0
            widest = np.where(met, term, -math.inf).max(axis=1) - np.where(met, term, math.inf).min(axis=1)
            moved = Fraction(float(widest[met.any(axis=1)].max())) * (1 + Fraction(1, 1 << 50))
            self.take(least_above(min(moved, self.query.ranges[attacked]) / Fraction(self.scale)), attacked, known)

    def take(self, nats: float, attacked: int, known: tuple[int, ...]) -> None:
        """Keeps the larger leak; of equal ones that of the adversary who comes first, at the larger of both figures."""
        room = SAME * max(1.0, self.best.nats)
        first = (attacked, len(known), known) < (self.best.attacked, len(self.best.known), self.best.known)
        if nats > self.best.nats + room or (first and nats >= self.best.nats - room):
            self.best = _Found(max(nats, self.best.nats), attacked, known)
        elif nats > self.best.nats:
            self.best = self.best._replace(nats=nats)

    def found(self, weakest: float) -> Worst:
        epsilon, method = self.best.nats + self.pruning.left_out, EXACT
        if self.beyond > epsilon:
            epsilon, method = self.beyond, SOUND
        return Worst(epsilon, self.best.attacked, self.best.known, weakest, method, self.best.nats)


@kernel
def _fold(parted: Floats, place: Places, out: Floats) -> None:
    """Adds each value of one attribute into the sum of the unknown ones."""
    contexts, values, rest, atoms = parted.shape
    for context in range(contexts):
        for value in range(values):
            for other in range(rest):
                for atom in range(atoms):
                    out[context, other, place[value, atom]] += parted[context, value, other, atom]
