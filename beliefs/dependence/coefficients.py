"""How far an attribute that depends on another one moves a noisy sum along with it. Proof: coefficients.md.

`rows[a]` is the law of what the attribute adds to the sum if the other one has its value a, on an ascending `support`.
Distances are amounts of the sum; divided by the range of the support they are the coefficients, from 0 to 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.table import require_ascending
from beliefs.native import kernel
from beliefs.prior.atoms import Atoms, spread_of_laws
from beliefs.prior.scaled import scaled
from beliefs.prior.transport import transport
from beliefs.simplex import Vector

NARROWEST = 2.0**-50
"""Noise narrower than this share of the range singles out the nearest value just as well."""

FAINTEST = 2.0**-1000
"""Of noise that is wider than that, the best plan's step is taken, which is never less: logarithms of ratios would have
no digits."""

PAIRS_MAX = 1 << 30
"""Chances that are looked at for each two laws."""

_DEEPEST = 745.0  # nats: the log of the smallest double


class Coefficients(NamedTuple):
    """Each rounded up. `exact` bounds one pair of attributes; the last three do not depend on who else is tied."""

    exact: float
    farthest: float
    farthest_end: float
    jensen: float
    wasserstein: float


def coefficients(rows: Matrix, support: Vector, scale: float) -> Coefficients:
    """All of them, at one scale of the noise; 0 if the attribute always adds the same."""
    require_ascending(support, "support")
    if rows.shape[1] != support.size:
        raise Invalid("conditional", f"has {rows.shape[1]} columns, but support has {support.size} values")
    if rows.size * len(rows) > PAIRS_MAX:
        raise Invalid("support", f"has {support.size} values, too many for each two of {len(rows)} laws to be compared")
    found = [each(rows, support, scale) for each in (moved_exactly, moved_farthest, moved_to_one_end)]
    found += [each(rows, support) for each in (moved_on_average, moved_by_transport)]
    reach = range_of(support)
    return Coefficients(*(min(1.0, each / reach) if reach > 0.0 else 0.0 for each in found))


def range_of(support: Vector) -> float:
    """From end to end."""
    with np.errstate(over="ignore"):
        reach = float(support[-1] - support[0])
    if math.isinf(reach):
        raise Invalid("support", "is wider than the doubles")
    return reach


def moved_exactly(rows: Matrix, support: Vector, scale: float) -> float:
    """(14) with its maximum: the scale times the largest log ratio of two densities of the noisy value."""
    reach = range_of(support)
    if reach == 0.0 or len(rows) == 1:
        return 0.0
    noise = max(scale, reach * NARROWEST)
    if reach / noise < FAINTEST:
        return moved_by_transport(rows, support)
    if reach <= noise:
        nats = _gentle_nats(rows, support, noise)
    else:
        nats = spread_of_laws(scaled(rows), np.diff(support, prepend=support[0]) / noise, 0).nats
    narrower = 2.0 * _DEEPEST * noise if noise > scale else 0.0
    return min(reach, nats * noise + narrower)


def moved_farthest(rows: Matrix, support: Vector, scale: float) -> float:
    """(18): as if the noise were centred at the value that is farthest from each."""
    return _largest_mean(rows, _to_farther_end(support), range_of(support), scale)


def moved_to_one_end(rows: Matrix, support: Vector, scale: float) -> float:
    """(18) with the noise centred at one end of the support, the worse one."""
    ends = (support - support[0], support[-1] - support)
    return max(_largest_mean(rows, away, range_of(support), scale) for away in ends)


def moved_on_average(rows: Matrix, support: Vector) -> float:
    """The mean distance to the value that is farthest: what the exponential mean of (18) is above as noise grows."""
    reach, means = range_of(support), np.add.accumulate(rows * _to_farther_end(support), axis=1)[:, -1]
    return min(reach, float(means.max()) * (1.0 + support.size * 2.0**-51))


def moved_by_transport(rows: Matrix, support: Vector) -> float:
    """The largest step of the best plan that makes one row's law another one's."""
    range_of(support)
    places = np.broadcast_to(np.arange(support.size), rows.shape)
    return transport(rows[None], Atoms(support - support[0], np.ascontiguousarray(places), 0.0))


def _to_farther_end(support: Vector) -> Vector:
    farther: Vector = np.maximum(support - support[0], support[-1] - support)
    return farther


def _largest_mean(rows: Matrix, away: Vector, reach: float, scale: float) -> float:
    """The scale times the largest ln E e^(away/scale), from the largest distance that can occur down."""
    if reach == 0.0:
        return 0.0
    top = np.where(rows > 0.0, away, 0.0).max(axis=1)
    with np.errstate(over="ignore"):
        below = np.minimum(away - top[:, None], 0.0) / scale
    lost = np.add.accumulate(rows * np.expm1(below), axis=1)[:, -1]
    kept = np.add.accumulate(rows * np.exp(below), axis=1)[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = top + scale * np.where(lost > -0.5, np.log1p(lost), np.log(kept))
    return min(reach, float((moved + (away.size + 16) * 2.0**-50 * top).max()))


def _gentle_nats(rows: Matrix, support: Vector, noise: float) -> float:
    """Where the noise is wider than the support: densities by how much they are below 1, which keeps all digits."""
    shown = np.empty(rows.shape)
    lost = np.expm1(-np.diff(support, prepend=support[0]) / noise)
    _shortfalls(rows, lost, shown)
    logs = np.log1p(shown)
    nats = float((logs.max(axis=0) - logs.min(axis=0)).max())
    return nats + (support.size + 16) * 2.0**-50 * range_of(support) / noise if nats > 0.0 else 0.0


@kernel
def _shortfalls(rows: Matrix, lost: Vector, shown: Matrix) -> None:
    """At each place E[e^-distance - 1]: the sum of what lies left of it and of what lies right of it."""
    values, size = rows.shape
    for value in range(values):
        run, mass = 0.0, 0.0
        for place in range(size):
            run = run * (1.0 + lost[place]) + mass * lost[place]
            mass += rows[value, place]
            shown[value, place] = run
        run, mass = 0.0, 0.0
        for place in range(size - 1, -1, -1):
            shown[value, place] += run
            mass += rows[value, place]
            run = run * (1.0 + lost[place]) + mass * lost[place]
