"""Numbers of correlated fields: what a secret loses through other attributes that local mechanisms report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.benchmarks import scores
from beliefs.correlation.bound import Matrix, bound, profile, rows_of, saturation, sum_of, tight_delta
from beliefs.correlation.calibration import ExactMeter, GroupMeter, Meter, equal_budgets
from beliefs.correlation.joint import channels_leak, group_bound, in_total, joint_leak
from beliefs.correlation.outputs import GROUPS, SINGLETONS, Sets, channel_leak, level_of, response_leak, sets_leak
from beliefs.correlation.robust_hull import hull_bound
from beliefs.correlation.robust_rows import COLUMNS_MAX, radii_of, robust_bound
from beliefs.correlation.tables import conditional_of, correlation_of, given
from beliefs.simplex import Vector
from stream.compute.local import chosen
from stream.compute.sequence import Result

ANY, GRR = "any", "grr"
OUTPUTS_MAX = 1 << 24
"""Beyond so many outputs of all channels together the bound of their levels stands in for the exact joint leak."""


def correlation(counts: Matrix) -> Result:
    """Both conditionals of a table, over the values that occur, and how much the two attributes tell of each other."""
    if counts.ndim != 2:
        raise Invalid("counts", f"has {counts.ndim} axes; the correlation is that of two attributes")
    forward, backward = conditional_of(counts), conditional_of(counts.T)
    return {
        "conditional": forward.laws.tolist(),
        "rows": forward.rows.tolist(),
        "reverse": backward.laws.tolist(),
        "columns": forward.columns.tolist(),
        **correlation_of(counts)._asdict(),
    }


def bound_of(conditional: Sequence[Vector], epsilon: float, delta: float = 0.0, at: Vector | None = None) -> Result:
    """The most that any mechanism of that epsilon and delta loses, and where."""
    laws = rows_of(conditional)
    found = bound(laws, epsilon)
    return {
        "epsilon": found.epsilon,
        "delta": tight_delta(laws, epsilon, delta, found.epsilon),
        "rows": found.rows,
        "subset": found.subset,
        "profile": [] if at is None else [profile(laws, epsilon, delta, level) for level in at.tolist()],
    }


def saturation_of(conditional: Sequence[Vector]) -> Result:
    """The most that any budget loses."""
    return {"epsilon": saturation(rows_of(conditional))}


def through_channel(conditional: Sequence[Vector], channel: Sequence[Vector]) -> Result:
    """The exact leak through a channel."""
    require_rows(channel, conditional[0].size, "channel", "conditional has that many columns")
    return {"epsilon": channel_leak(rows_of(conditional), rows_of(channel))}


def mechanism_leak(mechanism: str, conditional: Sequence[Vector], **options: Any) -> Result:
    """The exact leak over the outputs that a mechanism really has."""
    found = chosen(mechanism, conditional[0].size, **options)
    return {"epsilon": sets_leak(rows_of(conditional), found.worst_sets(), found.level)}


def attacked(mechanism: str, conditional: Sequence[Vector], **options: Any) -> Result:
    """What a guess of the value leaks, which is at most what the report leaks that it was guessed from.

    A guess names a value; of top-k reports it names a cell, and loses nothing of the report.
    """
    found = chosen(mechanism, conditional[0].size, **options)
    guess, sets = found.guess(), found.worst_sets()
    seen = Sets(SINGLETONS) if sets.family != GROUPS else sets
    return {"epsilon": sets_leak(rows_of(conditional), seen, guess.effective), **guess._asdict()}


def joint(
    counts: Matrix,
    epsilons: Vector | None = None,
    channels: Sequence[Sequence[Vector]] | None = None,
    own_epsilon: float | None = None,
) -> Result:
    """The exact leak of axis 0 through all other axes together, and the bound for any mechanisms of these levels."""
    laws = _secret_and_neighbours(counts)
    is_exact = True
    if epsilons is not None:
        _require_one_each(counts, epsilons.size, "epsilons")
        leak, level = joint_leak(laws, epsilons.tolist()), sum_of(epsilons.tolist())
    else:
        assert channels is not None
        matrices = _channels_of(counts, channels)
        level = sum_of([level_of(each) for each in matrices])
        is_exact = math.prod(each.shape[1] for each in matrices) * laws.shape[0] <= OUTPUTS_MAX
        leak = channels_leak(laws, matrices) if is_exact else math.inf
    bounded = group_bound(laws, level)
    told = min(leak, bounded)
    return {
        "epsilon": told,
        "bound": bounded,
        "total": None if own_epsilon is None else in_total(own_epsilon, told),
        "exact": is_exact,
        "dropped": _empty(counts, 0),
    }


def repeated(
    conditional: Sequence[Vector],
    epsilon: float | None = None,
    times: int | None = None,
    epsilons: Vector | None = None,
) -> Result:
    """The same value reported several times: what one report of all budgets together tells."""
    laws = rows_of(conditional)
    if epsilons is not None:
        level = sum_of(epsilons.tolist())
    else:
        assert epsilon is not None
        assert times is not None
        level = times * epsilon
    return {"epsilon": response_leak(laws, level), "bound": bound(laws, level).epsilon}


def calibrate(counts: Matrix, mechanism: str, total: float) -> Result:
    """The largest equal budget for which no attribute loses more than the total."""
    if mechanism not in (ANY, GRR):
        raise Invalid("mechanism", f"is not known here; there are {ANY}, {GRR}")
    meter: Meter = ExactMeter(counts) if mechanism == GRR else GroupMeter.of_table(counts)
    return {"epsilon": equal_budgets(meter, total), "dropped": [_empty(counts, axis) for axis in range(counts.ndim)]}


def robust(
    conditional: Sequence[Vector],
    epsilon: float,
    radii: Vector | None = None,
    samples: Sequence[int] | None = None,
    failure: float = 0.0,
) -> Result:
    """The bound over all laws within a total variation of each row."""
    columns = conditional[0].size
    if columns > COLUMNS_MAX:
        why = f"all their sets are listed, of at most {COLUMNS_MAX}; cpl.robust_hull bounds any number"
        raise Invalid("conditional", f"has {columns} columns; {why}")
    return _within_radii(robust_bound, rows_of(conditional), epsilon, radii, samples, failure)


def robust_hull(
    conditional: Sequence[Vector],
    epsilon: float,
    radii: Vector | None = None,
    samples: Sequence[int] | None = None,
    failure: float = 0.0,
) -> Result:
    """The same for any number of columns, and never below it."""
    return _within_radii(hull_bound, rows_of(conditional), epsilon, radii, samples, failure)


def _within_radii(
    bound_of_rows: Callable[[Matrix, float, Vector], float],
    laws: Matrix,
    epsilon: float,
    radii: Vector | None,
    samples: Sequence[int] | None,
    failure: float,
) -> Result:
    if radii is None:
        assert samples is not None
        _require_for_each_row(laws, len(samples), "samples")
        radii = radii_of(samples, laws.shape[1], failure)
    _require_for_each_row(laws, radii.size, "radii")
    return {"epsilon": bound_of_rows(laws, epsilon, radii), "radii": radii.tolist()}


def benchmark(reference: Vector, estimate: Vector, epsilon: float) -> Result:
    """How far an estimate of many leaks is from a reference."""
    if estimate.size != reference.size:
        raise Invalid("estimate", f"has {estimate.size} entries, but reference has {reference.size}")
    return scores(reference, estimate, epsilon)._asdict()


def require_rows(matrix: Sequence[Vector], rows: int, field: str, why: str) -> None:
    if len(matrix) != rows:
        raise Invalid(field, f"has {len(matrix)} rows and needs {rows}: {why}")


def _secret_and_neighbours(counts: Matrix) -> Matrix:
    if counts.ndim < 2:
        raise Invalid("counts", "has one axis; it needs the secret's and one for each neighbour")
    return given(counts, 0)


def _empty(counts: Matrix, axis: int) -> list[int]:
    """Places of an attribute that never occur; they are left out."""
    others = tuple(other for other in range(counts.ndim) if other != axis)
    return [int(place) for place in np.flatnonzero(~np.any(counts, axis=others))]


def _require_one_each(counts: Matrix, entries: int, field: str) -> None:
    if entries != counts.ndim - 1:
        raise Invalid(field, f"has {entries} entries, but counts has {counts.ndim - 1} axes besides the secret's")


def _channels_of(counts: Matrix, channels: Sequence[Sequence[Vector]]) -> list[Matrix]:
    _require_one_each(counts, len(channels), "channels")
    for axis, channel in enumerate(channels, 1):
        require_rows(channel, counts.shape[axis], "channels", f"axis {axis} of counts is that long")
    return [rows_of(channel) for channel in channels]


def _require_for_each_row(laws: Matrix, entries: int, field: str) -> None:
    if entries != laws.shape[0]:
        raise Invalid(field, f"has {entries} entries, but conditional has {laws.shape[0]} rows")
