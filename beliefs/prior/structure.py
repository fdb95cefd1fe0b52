"""Which attributes of a table tell something of which, in any context. Proof: influence.md."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.prior.influence import widest_odds

NOTHING = 1e-11
"""Odds ratios within e^+-this are taken for 1; `left_out` pays for all of them together."""


class Structure(NamedTuple):
    """`couplings` as influence.py takes them, 0 where nothing is told; `left_out` is what that may miss in nats."""

    couplings: Matrix
    left_out: float

    def neighbours(self) -> list[int]:
        """For each attribute the set of those it is tied to, as bits."""
        return [sum(1 << other for other, tie in enumerate(row) if tie > 0.0) for row in self.couplings.tolist()]


def structure_of(joint: Matrix) -> Structure:
    """In a table without zeros two attributes are tied where their odds ratio is not 1 in some context.

    Zeros break that rule: of three copies of a bit any two say nothing of each other once the third is known. There
    groups that are independent are looked for, and trees inside of groups; what is found is compared with the whole
    table. In any other group everything counts as tied to everything without limit.
    """
    if bool((joint > 0.0).all()):
        return _without_small(_odds_between(joint))
    couplings = np.zeros((joint.ndim, joint.ndim))
    groups, off = _groups(joint)
    for group in groups:
        block = _margin(joint, group)
        if bool((block > 0.0).all()):
            inside = _odds_between(block)
        else:
            found = _tree(block)
            inside, lost = found if found is not None else (np.full((len(group),) * 2, math.inf), 0.0)
            off += lost
        couplings[np.ix_(group, group)] = inside
    np.fill_diagonal(couplings, 0.0)
    kept, left_out = _without_small(couplings)
    return Structure(kept, left_out + off)


def _without_small(couplings: Matrix) -> Structure:
    small = couplings <= NOTHING
    return Structure(np.where(small, 0.0, couplings), float(couplings[small].sum()))


def _between(joint: Matrix, one: int, two: int) -> Matrix:
    """The table with all axes before, between and after two of them taken together."""
    shape = joint.shape
    sizes = [math.prod(shape[:one]), shape[one], math.prod(shape[one + 1 : two]), shape[two]]
    return joint.reshape(*sizes, math.prod(shape[two + 1 :]))


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(one, two) for one in range(count) for two in range(one + 1, count)]


def _odds_between(joint: Matrix) -> Matrix:
    couplings = np.zeros((joint.ndim, joint.ndim))
    for one, two in _pairs(joint.ndim):
        couplings[one, two] = couplings[two, one] = math.log(widest_odds(_between(joint, one, two)))
    return couplings


def _pair(joint: Matrix, one: int, two: int) -> Matrix:
    summed: Matrix = _between(joint, one, two).sum(axis=(0, 2, 4))
    return summed


def _odds_of(pair: Matrix) -> float:
    return math.log(widest_odds(pair[None, :, None, :, None]))


def _margin(joint: Matrix, group: list[int]) -> Matrix:
    """The law of some attributes; a table of probabilities neither overflows here nor loses what matters."""
    summed: Matrix = joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in group))
    return np.ascontiguousarray(summed / joint.sum())


def _along(margin: Matrix, group: list[int], count: int) -> Matrix:
    """A law of some axes, shaped so that it multiplies a table of all."""
    lengths = iter(margin.shape)
    return margin.reshape([next(lengths) if axis in group else 1 for axis in range(count)])


def _groups(joint: Matrix) -> tuple[list[list[int]], float]:
    """Independent groups of attributes; one group where the product of those that seem so is not the table."""
    tied = _odds_between(joint) > NOTHING
    for one, two in _pairs(joint.ndim):
        tied[one, two] = tied[two, one] = tied[one, two] or _odds_of(_pair(joint, one, two)) > NOTHING
    groups = components(tied)
    product = np.ones((1,) * joint.ndim)
    for group in groups:
        product = product * _along(_margin(joint, group), group, joint.ndim)
    off = _apart(joint / joint.sum(), product)
    return (groups, off) if off <= NOTHING else ([list(range(joint.ndim))], 0.0)


def components(tied: np.typing.NDArray[np.bool_]) -> list[list[int]]:
    """Sets of numbers that are tied to each other, at once or through others."""
    left, found = set(range(tied.shape[0])), []
    while left:
        group, border = set[int](), {min(left)}
        while border:
            group |= border
            border = {int(other) for one in border for other in np.flatnonzero(tied[one])} - group
        left -= group
        found.append(sorted(group))
    return found


def _tree(block: Matrix) -> tuple[Matrix, float] | None:
    """The ties along a tree whose product is the table, if there is one: each of its pairs by itself says them."""
    count = block.ndim
    pairs = {pair: _pair(block, *pair) for pair in _pairs(count)}
    joined, edges = list(range(count)), []
    for one, two in sorted(pairs, key=lambda pair: (-_information(pairs[pair]), pair)):
        if joined[one] != joined[two]:
            gone, stays = joined[two], joined[one]
            joined = [stays if each == gone else each for each in joined]
            edges.append((one, two))
    couplings, product = np.zeros((count, count)), np.ones((1,) * count)
    for one, two in edges:
        product = product * _along(pairs[one, two], [one, two], count)
        couplings[one, two] = couplings[two, one] = _odds_of(pairs[one, two])
    for axis in range(count):
        single = _along(_margin(block, [axis]), [axis], count)
        more = sum(axis in edge for edge in edges) - 1
        product = product / np.where(single > 0.0, single, 1.0) ** more
    off = _apart(block, product)
    return (couplings, off) if off <= NOTHING else None


def _information(pair: Matrix) -> float:
    rows, columns = pair.sum(axis=1), pair.sum(axis=0)
    met = pair > 0.0
    return float((pair[met] * np.log(pair[met] / (rows[:, None] * columns)[met])).sum())


def _apart(one: Matrix, two: Matrix) -> float:
    """Four times the largest difference of logarithms; infinite where only one of them is 0."""
    if bool(((one > 0.0) != (two > 0.0)).any()):
        return math.inf
    met = one > 0.0
    return 4.0 * float(np.abs(np.log(one[met]) - np.log(np.broadcast_to(two, one.shape)[met])).max())
