"""The same questions of laws of every kind. Proof: worst.md.

The worst adversary is looked for component by component, each kind by its own room. Of an adversary who is named, small
laws are listed as a whole; in larger ones he is told all that lies outside of the component that he attacks, which only
adds to what he learns. What is too large to be listed has the group's bound: all of its component, moved from end to
end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Places
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.chosen import Law
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import CELLS_MAX, MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.prior.adversary import Query, Seen, context_of
from beliefs.prior.calibration import WEAKEST, Calibrated, Named, chain_scale, gaussian_scale, table_scale
from beliefs.prior.chain_adversary import ChainAdversary
from beliefs.prior.gaussian import Sums, gaussian_leak, worst_gaussian
from beliefs.prior.outward import least_above
from beliefs.prior.worst import EXACT, SOUND, worst_of_table
from beliefs.prior.worst_chain import worst_of_chain
from beliefs.simplex import Vector

AXES_MAX = 32
LISTED = 16.0
"""Laws of at most 2^16 combinations of values are listed as a whole for an adversary who is named."""


class Leak(NamedTuple):
    """Nats, rounded up; `sound` where a bound stands for what would take too long."""

    epsilon: float
    method: str


def worst_of_law(law: Law, scale: float, weights: Vector | None = None) -> Leak:
    """Over all adversaries."""
    found = [_worst(part, scale, own) for part, own in _parts(law, fitting(weights, law.size))]
    return Leak(max(each.epsilon for each in found), method_of(each.method for each in found))


def leak_of_law(law: Law, scale: float, named: Named, values: tuple[int, ...] | None, weights: Vector | None) -> Leak:
    """Of one adversary, who knows these values, or any; without `named.known`, of all who attack that attribute."""
    own = fitting(weights, law.size)
    if named.known is not None and _is_listed(law):
        return _leak(as_table_law(law), scale, named, values, own)
    part = _Part.of(law, named, values, own)
    found = _leak(part.law, scale, part.named, part.values, part.weights)
    return found if part.is_whole else found._replace(method=SOUND)


def scale_of_law(
    law: Law, epsilon: float, adversary: str, named: Named | None = None, weights: Vector | None = None
) -> Calibrated:
    """The least noise with which nobody of that class, or nobody who is named, learns more than epsilon."""
    own = fitting(weights, law.size)
    one = named is not None and named.known is not None
    if (one or adversary == WEAKEST) and _is_listed(law):
        return _scale(as_table_law(law), epsilon, adversary, named, own)
    if named is None:
        parts = list(_parts(law, own))
        found = [_scale(each, epsilon, adversary, None, theirs) for each, theirs in parts]
        methods = [each.method for each in found]
        if adversary == WEAKEST and law.components().count > 1:
            methods.append(SOUND)
        return Calibrated(max(each.scale for each in found), method_of(methods))
    part = _Part.of(law, named, None, own)
    told = _scale(part.law, epsilon, adversary, part.named, part.weights)
    return told if part.is_whole else told._replace(method=SOUND)


def as_table_law(law: Law) -> TableLaw:
    """A small law value by value; Gaussian ones and pairs have no table."""
    if isinstance(law, TableLaw):
        return law
    if isinstance(law, MarkovLaw | TreeLaw):
        return law.table()
    if isinstance(law, BlocksLaw):
        joint, domains = np.ones(()), tuple[Vector, ...]()
        for block in map(as_table_law, law.blocks):
            if joint.size * block.joint.size > CELLS_MAX:
                raise Invalid("blocks", f"have more than {CELLS_MAX} combinations of values together")
            joint, domains = np.multiply.outer(joint, block.joint), (*domains, *block.domains)
        return TableLaw(joint / math.fsum(joint.ravel().tolist()), domains)
    raise Invalid("law", "has no table of values: it is Gaussian, or says pairs only")


def _parts(law: Law, own: Vector) -> Iterator[tuple[Law, Vector]]:
    """Components with their weights, those that are alike once."""
    if isinstance(law, BlocksLaw):
        for start, block in zip(law.starts(), law.blocks, strict=True):
            yield from _parts(block, own[start : start + block.size])
    elif isinstance(law, TreeLaw):
        yield from _trees(law, own)
    else:
        yield law, own


def _trees(law: TreeLaw, weights: Vector) -> Iterator[tuple[TreeLaw, Vector]]:
    components = law.components()
    order = np.argsort(components.of, kind="stable")
    met = set[tuple[bytes, ...]]()
    for members in np.split(order, np.cumsum(components.sizes())[:-1]):
        part = _tree_of(law, members)
        key = tuple(each.tobytes() for each in (part.parents, part.roots, part.kernel_of, weights[members]))
        if key not in met:
            met.add(key)
            yield part, weights[members]


def _tree_of(law: TreeLaw, members: Places) -> TreeLaw:
    """One component; where a kernel that tells nothing cuts it from its parent, that kernel's row is its root's law."""
    top = law.parents[members]
    cut = members[(top >= 0) & ~np.isin(top, members)]
    if not cut.size:
        return law.part(members)
    first = law.kernels[law.kernel_of[cut[0]], 0]
    number = np.full(law.size, -1, dtype=np.int64)
    number[members] = np.arange(members.size)
    return TreeLaw(number[law.parents[members]], first[None], law.kernels, law.kernel_of[members], law.domain)


@dataclass(frozen=True)
class _Part:
    """The component of an attacked attribute, and the adversary inside of it.

    It is the whole matter where whoever is outside adds nothing to the sum, is known, or where all who attack count.
    """

    law: Law
    weights: Vector
    named: Named
    values: tuple[int, ...] | None
    is_whole: bool

    @classmethod
    def of(cls, law: Law, named: Named, values: tuple[int, ...] | None, own: Vector) -> _Part:
        part, numbers = _component(law, named.attacked)
        place = {int(number): inner for inner, number in enumerate(numbers)}
        if named.known is None:
            return cls(part, own[numbers], Named(place[named.attacked], None), None, is_whole=True)
        kept = [at for at, one in enumerate(named.known) if one in place]
        inside = Named(place[named.attacked], tuple(place[named.known[at]] for at in kept))
        told = None if values is None else tuple(values[at] for at in kept)
        outside = set(np.flatnonzero(own).tolist()) - set(numbers.tolist())
        return cls(part, own[numbers], inside, told, is_whole=outside <= set(named.known))


def _component(law: Law, attacked: int) -> tuple[Law, Places]:
    """The law of an attribute's component, and the numbers of its attributes."""
    if isinstance(law, BlocksLaw):
        block, start = law.block_of(attacked)
        part, inner = _component(block, attacked - start)
        return part, inner + start
    if isinstance(law, TreeLaw):
        of = law.components().of
        numbers = np.flatnonzero(of == of[attacked])
        return _tree_of(law, numbers), numbers
    return law, np.arange(law.size)


def _is_listed(law: Law) -> bool:
    """Whether a law of several components is small enough to be one table."""
    if isinstance(law, BlocksLaw):
        return all(map(_is_listed, law.blocks)) and sum(map(_cells, law.blocks)) <= LISTED
    return isinstance(law, TableLaw | TreeLaw) and _cells(law) <= LISTED


def _cells(law: Law) -> float:
    """The logarithm of the number of combinations of values, to the base of 2."""
    if isinstance(law, TableLaw):
        return math.log2(law.joint.size)
    return law.size * math.log2(law.domain.size) if isinstance(law, MarkovLaw | TreeLaw) else math.inf


def _leak(part: Law, scale: float, named: Named, values: tuple[int, ...] | None, own: Vector) -> Leak:
    attacked, known = named
    if isinstance(part, GaussianLaw):
        sums = Sums(own[None], np.array([scale]))
        if known is None:
            worst = worst_gaussian(part, sums, only=attacked)
            return Leak(worst.epsilon, worst.method)
        return Leak(gaussian_leak(part, sums, attacked, known), EXACT)
    if isinstance(part, MarkovLaw) and known is not None and values is None and _is_plain(own):
        return Leak(ChainAdversary(part, attacked, known).leak(_plain_scale(own, scale)), EXACT)
    if not _fits(part):
        return Leak(least_above(_reach(part, own) / Fraction(scale)), SOUND)
    table = as_table_law(part)
    query = Query.of(table, own)
    if known is None:
        found = worst_of_table(table, query, scale, only=attacked)
        return Leak(found.epsilon, found.method)
    context = None if values is None else context_of(table, known, values)
    return Leak(Seen.by(table, query, attacked, known, context).leak(scale), EXACT)


def _worst(part: Law, scale: float, own: Vector) -> Leak:
    if isinstance(part, GaussianLaw):
        told = worst_gaussian(part, Sums(own[None], np.array([scale])))
        return Leak(told.epsilon, told.method)
    if isinstance(part, MarkovLaw) and _is_plain(own):
        chain = worst_of_chain(part, _plain_scale(own, scale))
        return Leak(chain.epsilon, chain.method)
    if not _fits(part):
        return Leak(least_above(_reach(part, own) / Fraction(scale)), SOUND)
    table = as_table_law(part)
    worst = worst_of_table(table, Query.of(table, own), scale)
    return Leak(worst.epsilon, worst.method)


def _scale(part: Law, epsilon: float, adversary: str, named: Named | None, own: Vector) -> Calibrated:
    if isinstance(part, GaussianLaw):
        return gaussian_scale(part, own, epsilon, adversary, named)
    if isinstance(part, MarkovLaw) and _is_plain(own) and (named is None or named.known is not None):
        found = chain_scale(part, epsilon, adversary, named)
        # Weights of that size are as much more noise; a product that is rounded up never asks for too little.
        return found._replace(scale=least_above(Fraction(found.scale) * Fraction(abs(float(own[0])))))
    if not _fits(part):
        return Calibrated(least_above(_reach(part, own) / Fraction(epsilon)), SOUND)
    table = as_table_law(part)
    return table_scale(table, Query.of(table, own), epsilon, adversary, named)


def _fits(part: Law) -> bool:
    """Whether a component can be listed value by value."""
    if isinstance(part, FriendsLaw):
        raise Invalid("law", "says pairs of friends only: where no friends form a circle, its tree is a law of sums")
    return isinstance(part, TableLaw) or (_cells(part) <= math.log2(CELLS_MAX) and part.size <= AXES_MAX)


def _reach(part: Law, own: Vector) -> Fraction:
    assert isinstance(part, MarkovLaw | TreeLaw)
    span = Fraction(float(part.domain[-1])) - Fraction(float(part.domain[0]))
    return sum((abs(Fraction(weight)) for weight in own.tolist()), Fraction(0)) * span


def _is_plain(own: Vector) -> bool:
    """Whether all weights are one that is not 0: the same sum with noise that is so much smaller."""
    return bool((own == own[0]).all() and own[0] != 0.0)


def _plain_scale(own: Vector, scale: float) -> float:
    return scale if own[0] == 1.0 else math.nextafter(scale / abs(float(own[0])), 0.0)


def fitting(weights: Vector | None, size: int, field: str = "weights") -> Vector:
    """1 for each attribute where nothing is said."""
    if weights is None:
        return np.ones(size)
    if weights.size != size:
        raise Invalid(field, f"has {weights.size} entries, but there are {size} attributes")
    return weights


def method_of(methods: Iterable[str]) -> str:
    """Exact where every part of it is."""
    return EXACT if all(each == EXACT for each in methods) else SOUND
