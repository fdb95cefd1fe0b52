"""What every mechanism provides, and the arithmetic that all of them share.

A mechanism describes its channel before any coin is looked at; the same description then feeds the sampler, the
ledger and the adversary's belief, so they cannot disagree. It is three compiled functions over one `Workspace`:

* `prepare(belief, constants, work) -> (upper, lower, spread)` builds the channel from public quantities only and
  returns its worst ratios over all outputs: max a(y|x)/p(y), max p(y)/a(y|x) and max a(y|x)/a(y|x'), over ALL x,
  impossible ones included, rounded outward. It leaves the released symbols in `work.head[:work.size[0]]`.
* `row(x, belief, work)` writes the integers of x's row into `work.row`, one per released symbol, with the sum TOTAL.
* `column(i, belief, work) -> (upper, lower, spread)` writes a(y|x) for the i-th released symbol y and every x into
  `work.likelihood`, as the doubles nearest to the very integers that `row` holds, and returns that output's own ratios.

`constants` are the numbers of one epsilon: see `Constant` and `constants_table`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from beliefs.checks import require
from beliefs.distance import EQUAL, TABLE, Distance
from beliefs.native import kernel
from beliefs.rounding import UNITS_PER_NAT

TOTAL = 1 << 62
"""The sum of every row of a channel, so that 62 bits of one coin select an output exactly: no rejection, no bias."""

SHAVE_UNITS = 64
"""A mechanism is built for epsilon - 64 units (5.8e-11 nat). The doubles in it carry relative errors of at most
(n + 32) 2^-52: 9.2e-12 at 41,270 symbols, a sixth of the shave, so the integers that are sampled keep the full
epsilon."""

DRIFT_UNITS_PER_NAT = 1 << 32
DRIFT_TO_UNITS = UNITS_PER_NAT // DRIFT_UNITS_PER_NAT
DRIFT_UNKNOWN = (1 << 32) - 1
LEVEL_UNKNOWN = 33

CELLS_MAX = 128
"""Values that have places are compared by their costs as this many cells of neighbours, where there are more."""

KEPT_BYTES, KEPT_MOST = 1 << 24, 1 << 12
"""How much memory channels of `near` take that are kept (sequence/repeats.py), and how many are kept at most."""
KEPT_HEAD, KEPT_SITES = 15, 24
"""Words of a kept channel before its belief, and how many released values one may have: enough up to epsilon 3."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Constant(IntEnum):
    """Positions in one row of the table of constants."""

    LOWER = 0  # e = exp(-epsilon): the smallest ratio a(y|x)/p(y)
    REVEAL = 1  # c = 1 - e
    UPPER = 2  # E = exp(epsilon)
    CAP = 3  # M = 1 + E: what K(y|x)/p(y) may reach
    FLOOR = 4  # p* = 1 / M
    PAD = 5  # whole units by which a base is raised so that rounding the rest down cannot lift a ratio above E


class Workspace(NamedTuple):
    """Scratch arrays of one caller; nothing in them outlives one event."""

    size: Integers  # [0] released symbols, [1..] the mechanism's own small integers
    head: Integers  # released symbols
    position: Integers  # symbol -> place in head, or -1
    order: Integers
    base: Integers
    tail: Integers
    extra: Integers
    row: Integers
    share: Floats
    scratch: Floats
    likelihood: Floats


class NearWorkspace(NamedTuple):
    """The same, and what a mechanism needs that looks at a distance.

    It is a type of its own because every array of a workspace is seven words that each call hands on: the others would
    pay for what they never look at, more than half a microsecond an event.
    """

    size: Integers
    head: Integers
    position: Integers
    order: Integers
    base: Integers
    tail: Integers
    extra: Integers
    row: Integers
    share: Floats
    scratch: Floats
    likelihood: Floats
    distance: Distance  # what an error costs
    tables: Integers  # some squares, of cells by cells: empty where all errors count alike
    lists: Integers  # some lists of one number for each cell
    middles: Floats  # where the cells lie
    kept: Integers  # a channel in each row, for beliefs that come again: all that outlives an event, but for one count


def new_workspace(symbols: int, distance: Distance | None = None) -> Workspace:
    """With a distance it is a NearWorkspace."""
    if distance is not None:
        return cast("Workspace", new_near_workspace(symbols, distance))
    width = symbols + 2
    return Workspace(
        size=integers(16),
        head=integers(width),
        position=np.full(symbols, -1, dtype=np.int64),
        order=integers(width),
        base=integers(width),
        tail=integers(width),
        extra=integers(width),
        row=integers(width),
        share=np.zeros(width),
        scratch=np.zeros(4 * width),
        likelihood=np.zeros(symbols),
    )


def new_near_workspace(symbols: int, distance: Distance, *, keeps: bool = True) -> NearWorkspace:
    """The distance belongs to the workspace because it never changes. `keeps`: channels of beliefs that come again."""
    alike, places = distance.kind == EQUAL, (distance.costs.shape[0], distance.places.shape[0])
    require(alike or symbols in places, "a distance is one of these symbols")
    cells = 0 if alike else symbols if distance.kind == TABLE else min(symbols, CELLS_MAX)
    more = (distance, integers(5, cells, cells), integers(16, cells), np.zeros((cells, 3)))
    # Memory that nothing is written to is not taken from the machine, so that rarely repeated beliefs cost none.
    words = KEPT_HEAD + symbols * (1 if symbols <= cells else 2) + min(KEPT_SITES, cells) * (3 + cells)
    channels = min(KEPT_MOST, KEPT_BYTES // (8 * words)) if keeps and not alike else 0
    return NearWorkspace(*new_workspace(symbols), *more, integers(channels, words))


def integers(*lengths: int) -> Integers:
    return np.zeros(lengths, dtype=np.int64)


@kernel
def plain_of(work: NearWorkspace) -> Workspace:
    """The same arrays for a mechanism that looks at no distance."""
    return Workspace(
        work.size,
        work.head,
        work.position,
        work.order,
        work.base,
        work.tail,
        work.extra,
        work.row,
        work.share,
        work.scratch,
        work.likelihood,
    )


def nearby_of(work: Any) -> NearWorkspace | None:
    """The workspace itself if it has a distance. Compiled code knows the answer from its type: see `registry`."""
    return work if isinstance(work, NearWorkspace) else None


@overload(nearby_of)
def _nearby_of(work: Any) -> Callable[[Any], Any]:
    def itself(work: Any) -> Any:
        return work

    def nothing(work: Any) -> None:  # noqa: ARG001 - numba wants the same names
        return None

    return itself if "tables" in work.fields else nothing


def constants_of(units: int) -> list[float]:
    """The constants of one epsilon in units. `decimal` rounds exp correctly, so every machine gets the same doubles."""
    if units <= 0:
        return [1.0, 0.0, 1.0, 2.0, 0.5, 0.0]
    with localcontext() as context:
        context.prec = 60
        epsilon = Decimal(units) / Decimal(UNITS_PER_NAT)
        lower, upper = (-epsilon).exp(), epsilon.exp()
        # Two roundings down of at most one unit each in p(y) cost E * 2 units on the other side of a <= E p; raising
        # base and p(y) together by `pad` gains (E - 1) pad.
        pad = ((2 * upper + 1) / (upper - 1)).to_integral_value(rounding="ROUND_CEILING") + 1
        values = (lower, 1 - lower, upper, 1 + upper, 1 / (1 + upper), pad)
        return [float(value) for value in values]


def design_units(epsilon_units: int, level: int, shift: int = 0) -> int:
    """The epsilon to build for when the belief may be off by a drift below 2^level drift units.

    The shift of each side is at most the drift, so epsilon - drift is safe; a further `shift`, in units, is withheld
    for readers who believe something else (beliefs/leakage/robust.md). Half of epsilon is safe whatever the belief,
    because then any two rows differ by at most exp(epsilon); so it is never necessary to go below it.
    """
    half = epsilon_units // 2
    if level >= LEVEL_UNKNOWN:
        return half - SHAVE_UNITS
    drift = 0 if level == 0 else (1 << level) * DRIFT_TO_UNITS
    return max(epsilon_units - shift - drift, half) - SHAVE_UNITS


def constants_table(epsilon_units: int, shift: int = 0) -> Floats:
    """One row of constants per drift level 0..LEVEL_UNKNOWN."""
    return np.array([constants_of(design_units(epsilon_units, level, shift)) for level in range(LEVEL_UNKNOWN + 1)])


def as_fractions(weights: Integers) -> list[Fraction]:
    return [Fraction(int(weight), TOTAL) for weight in weights]


@kernel
def drift_level(drift: int) -> int:
    """The smallest level whose 2^level exceeds the drift; 0 for none, LEVEL_UNKNOWN for the saturated value."""
    if drift >= DRIFT_UNKNOWN:
        return LEVEL_UNKNOWN
    level = 0
    while drift > 0:
        drift >>= 1
        level += 1
    return level


@kernel
def outward(symbols: int) -> float:
    """The factor that covers the rounding of a sum of `symbols` nonnegative products and the few operations around
    it.
    """
    return 1.0 + (symbols + 32) * 2.220446049250313e-16
