"""How far the laws of a joint table may be off, in numbers that are the same on every machine. Proof: account.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.joint_file import JointModel, Radius
from beliefs.simplex import Vector

ROOM = 2.0**-20
"""What every radius of a field is raised by where one of them is above 0. Where a radius is just as large as a chance,
what is left of it would be nothing but roundings, by which this and the audit's arithmetic differ.
"""


def known_within(model: JointModel) -> Radius | None:
    """How far the law of all other fields may be off, given each label of every name: all of them at once, of counts
    but for `failure`. None where the weights are exact.
    """
    names, cells = model.table.names, model.table.weights.size
    if model.failure is None:
        return model.radius
    people = {name: model.people(name) for name in names}
    return {name: counted_radii(each, cells // len(each), model.failure, len(names)) for name, each in people.items()}


def counted_radii(people: Sequence[int], columns: int, failure: float, fields: int) -> Vector:
    """For each value that so many people were counted with; all values of all fields at once, but for `failure`.

    The square root of (t ln 2 + ln(m k/failure))/(2 n) for m values, t combinations of the others, and k fields. A
    value that nobody was counted with may have any law.
    """
    with localcontext() as context:
        context.prec = 50
        rows = Decimal(len(people) * fields) / Decimal(failure)
        needed = columns * Decimal(2).ln() + rows.ln()
        return np.array([min(1.0, _upwards((needed / (2 * seen)).sqrt())) if seen else 1.0 for seen in people])


def raised(radii: Vector, name: str, values: int) -> Vector | None:
    """None where all laws are known exactly."""
    if radii.shape != (values,):
        raise Invalid("radius", f"of {name} is given for {radii.size} values, but there are {values}")
    if not bool(((radii >= 0.0) & (radii <= 1.0)).all()):
        raise Invalid("radius", f"of {name} must lie between 0 and 1")
    return np.minimum(1.0, radii + ROOM) if bool(radii.any()) else None


def _upwards(amount: Decimal) -> float:
    nearest = float(amount)
    return nearest if nearest >= amount else math.nextafter(nearest, math.inf)
