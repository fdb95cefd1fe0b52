"""Numbers of the local mechanisms themselves: their parameters, their true level, what their reports are worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import excess, rows_of
from beliefs.correlation.outputs import level_of
from beliefs.simplex import Vector
from mechanisms.local.contract import Local
from mechanisms.local.estimate import squared_error
from mechanisms.local.registry import local
from mechanisms.local.unary import rappor
from stream.compute.sequence import Result

SHE = "she"


def parameters(mechanism: str, epsilon: float, values: int) -> Result:
    """The chances of support, the true level, and what else the mechanism is built of."""
    return _described(local(mechanism, values, epsilon))


def rappor_parameters(flip: float, report_zero: float, report_one: float) -> Result:
    """The same of two-step bits; their chances do not depend on the number of values."""
    return _described(rappor(2, flip, report_zero, report_one))


def level(channel: Sequence[Vector], at: Vector | None = None) -> Result:
    """The epsilon of a channel, and the smallest delta at each level asked for."""
    laws = rows_of(channel)
    return {
        "epsilon": level_of(laws),
        "profile": [] if at is None else [excess(laws, each) for each in at.tolist()],
    }


def estimate(
    mechanism: str, epsilon: float, values: int, reports: int, counts: Vector, truth: Vector | None = None
) -> Result:
    """Frequencies without bias from counts of support."""
    chosen = local(mechanism, values, epsilon)
    if counts.size != values:
        raise Invalid("counts", f"has {counts.size} entries, but there are {values} values")
    if mechanism != SHE and not bool(((counts >= 0) & (counts <= reports)).all()):
        raise Invalid("counts", f"must be 0 to {reports} each: a report supports a value once or not at all")
    if truth is not None and truth.size != values:
        raise Invalid("truth", f"has {truth.size} entries, but there are {values} values")
    with np.errstate(over="ignore"):
        found = chosen.estimate(counts, reports)
        missed = None if truth is None else squared_error(found.frequencies, truth)
    return {"frequencies": found.frequencies.tolist(), "variances": found.variances.tolist(), "squared_error": missed}


def _described(mechanism: Local) -> Result:
    return {"p": mechanism.p, "q": mechanism.q, "level": mechanism.level, **mechanism.extras()}
