"""What a value that lasts loses through other fields whichever table is right, of all that a joint table's radii allow.

Given a value, the law of all others may lie anywhere within its radius r in total variation of the table's row. With
weights from m to M, what is weighed by c is then

    at most    the least over all t of     sum p max(c, t) + r (M - t),
    at least   the largest over all t of   sum p min(c, t) - r (t - m),

and t need only be weights that occur. Two values' laws are moved each by itself; a value is not held against itself.

* Where every report speaks for one cell of values, weights are those of an output, by which of the named cells and
  groups a combination is in. Where these patterns are too many, every output is moved as if m were that of all and M 1.
* Otherwise the others are one. For any q no ratio h is above max(q, q + (sum c (p - q p') + r' q + r)/m), r and r' the
  radii times 1 - m, and c the best weights against q; of all q the one counts where that is least.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np

from stream.audit.amounts import UNBOUNDED
from stream.audit.field_leaks import EXACT, FAR, Decimals, Told, best, by_group, in_units, power, reported

Radii = tuple[Decimal, ...]

_NONE, _ONE = Decimal(0), Decimal(1)
_STEPS: Final = 500
_SAME: Final = Decimal(1).scaleb(-45)


class _Split(NamedTuple):
    """One field: which of its values each pattern of each output holds, and what these weigh."""

    held: list[list[list[bool]]]
    weights: list[Decimal]


def patterns_of(size: int, told: Told) -> int:
    """Outputs of one field times the ways in which a value may miss them."""
    cells = 2 * len(set(told.cells or range(size))) if told.fine else 1
    return cells * (2 * len(set(told.groups or range(size))) if told.coarse else 1)


def through_patterns(laws: Decimals, told: Sequence[Told], radii: Radii) -> int:
    """Exactly, where reports of each axis speak for one cell, or one group."""
    with localcontext(EXACT):
        splits = [_split(size, each) for size, each in zip(laws.shape[1:], told, strict=True)]
        chances, least, most = laws, [_ONE], [_ONE]
        for axis, each in enumerate(splits, 1):
            chances = _held(chances, axis, each)
            there = [[w for w, held in zip(each.weights, output, strict=True) if any(held)] for output in each.held]
            least = [one * min(weights) for one in least for weights in there]
            most = [one * max(weights) for one in most for weights in there]
        weights = [_ONE]
        for each in splits:
            weights = [one * other for one in weights for other in each.weights]
        shape = [size for each in splits for size in (len(each.held), len(each.weights))]
        outputs_first = (0, *range(1, 2 * len(splits), 2), *range(2, 2 * len(splits) + 1, 2))
        apart = chances.reshape(len(laws), *shape).transpose(outputs_first).reshape(len(laws), -1, len(weights))
        order = sorted(range(len(weights)), key=lambda pattern: weights[pattern])
        return _largest(apart[:, :, order], [weights[pattern] for pattern in order], least, most, radii)


def _split(size: int, told: Told) -> _Split:
    held, weights = [[[True] * size]], [_ONE]
    for units, named in ((told.fine, told.cells), (told.coarse, told.groups)):
        if units:
            classes = named or tuple(range(size))
            outputs = [[each == one for each in classes] for one in sorted(set(classes))]
            held = [_hit_or_missed(output, members) for output in held for members in outputs]
            weights = [one * other for one in weights for other in (_ONE, power(units))]
    return _Split(held, weights)


def _hit_or_missed(output: list[list[bool]], members: list[bool]) -> list[list[bool]]:
    """Each pattern of an output twice: what is in it and named, and what is in it and not."""
    return [
        [its and named == hit for its, named in zip(pattern, members, strict=True)]
        for pattern in output
        for hit in (True, False)
    ]


def _held(chances: Decimals, axis: int, split: _Split) -> Decimals:
    """In place of each value's chance those of each pattern of each output."""
    moved = np.moveaxis(chances, axis, 0)
    none = moved[0] * _NONE
    found = [
        sum((moved[value] for value, its in enumerate(pattern) if its), start=none)
        for output in split.held
        for pattern in output
    ]
    return np.moveaxis(np.array(found, dtype=object), 0, axis)


def _largest(chances: Decimals, weights: list[Decimal], least: list[Decimal], most: list[Decimal], radii: Radii) -> int:
    """`chances` of each value, output and pattern, by rising weight."""
    rising = np.array(weights, dtype=object)
    radius = np.array(radii, dtype=object).reshape(-1, 1, 1)
    weighed = chances * rising
    below, above = np.add.accumulate(weighed, axis=2), np.add.accumulate(weighed[:, :, ::-1], axis=2)[:, :, ::-1]
    whole = np.add.accumulate(chances, axis=2)
    beyond = whole[:, :, -1:] - whole
    lowest, highest = (np.array(each, dtype=object).reshape(1, -1, 1) for each in (least, most))
    lows = below + beyond * rising - radius * (rising - lowest)
    highs = above + (whole - chances) * rising + radius * (highest - rising)
    # A weight that no value has at an output may lie outside of those that it is moved between.
    between = (rising >= lowest) & (rising <= highest)
    low, high = np.where(between, lows, lowest).max(axis=2), np.where(between, highs, highest).min(axis=2)
    return _farthest(high, low)


def _farthest(high: Decimals, low: Decimals) -> int:
    """Of chances of each value and output: one value's against another one's."""
    found = 0
    for one, other in permutations(range(len(high)), 2):
        for likely, unlikely in zip(high[one].ravel().tolist(), low[other].ravel().tolist(), strict=True):
            found = max(found, in_units(likely, unlikely))
    return found


def through_sums(laws: Decimals, told: Sequence[Told], radii: Radii) -> int:
    """A bound, from every output's chances alone."""
    with localcontext(EXACT):
        seen, floor = reported(laws, told), _ONE
        for each in told:
            floor *= power(each.fine) * power(each.coarse)
        rooms = np.array(radii, dtype=object).reshape(-1, *[1] * (seen.ndim - 1)) * (_ONE - floor)
        most, least = (np.array(each, dtype=object) for each in (_ONE, floor))
        return _farthest(np.minimum(seen + rooms, most), np.maximum(seen - rooms, least))


def through_any_moved(laws: Decimals, told: Sequence[Told], radii: Radii) -> int:
    """Where outputs may speak for any set of combinations of values."""
    low, lower = (sum(getattr(each, amount) for each in told) for amount in ("fine", "coarse"))
    with localcontext(EXACT):
        rows, edges = by_group(laws, told)
        counts = power(low if low <= FAR else UNBOUNDED), power(lower if lower <= FAR else UNBOUNDED)
        spread = _ONE - counts[0] * counts[1]
        ratio: Decimal | None = _ONE
        for one, other in permutations(range(len(rows)), 2):
            found = _lowest(rows[one], rows[other], edges, counts, (radii[one] * spread, radii[other] * spread))
            ratio = None if ratio is None or found is None else max(ratio, found)
        return UNBOUNDED if ratio is None else in_units(ratio, _ONE)


def _lowest(
    one: Decimals, other: Decimals, edges: list[int], counts: tuple[Decimal, Decimal], rooms: tuple[Decimal, Decimal]
) -> Decimal | None:
    """The least of max(q, F(q)) over q; None where nothing bounds it. F is the largest of lines in q, one of each
    report: between a q where it falls and one where it does not, the next to look at is where their lines meet.
    """
    least, found = counts[0] * counts[1], None
    falling: tuple[Decimal, Decimal] | None = None
    resting: tuple[Decimal, Decimal] | None = None
    q = _NONE
    for _ in range(_STEPS):
        mine, theirs = best(one, other, edges, counts, q)
        above, below = mine + rooms[0], theirs - rooms[1]
        excess = above - q * below
        if excess <= _SAME * above:
            return q if found is None else min(found, q)
        if least:
            found = q + excess / least if found is None else min(found, q + excess / least)
        if below <= least:
            resting = above, below
        else:
            falling = above, below
        if falling is None:
            break
        q_next = falling[0] / falling[1]
        if resting is not None:
            q_next = min(q_next, (falling[0] - resting[0]) / (falling[1] - resting[1]))
        if abs(q_next - q) <= _SAME * q:
            break
        q = q_next
    return found
