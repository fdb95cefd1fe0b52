"""The joint table that the settings name, as an auditor reads it."""

from __future__ import annotations

import hashlib
import math
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Final

import numpy as np

from beliefs.correlation.joint_file import InvalidJoint, JointModel, parse
from stream.audit.field_rules import Joint
from stream.errors import CannotAudit
from stream.settings.model import Settings

_DIGITS: Final = Context(prec=50)


def joint_of(settings: Settings) -> Joint | None:
    """The joint table of the fields, where the settings name one."""
    if settings.fields is None or settings.fields.joint is None:
        return None
    where, fix = settings.fields.joint, "name the joint table that the pipeline ran with in the settings"
    try:
        data = Path(where).read_bytes()
        return joint_in(data)
    except OSError as error:
        raise CannotAudit("The joint table cannot be read.", where, error.strerror or "unknown", fix) from None
    except InvalidJoint as error:
        raise CannotAudit("The joint table cannot be used.", where, str(error.problems[0]), fix) from None


def joint_in(data: bytes) -> Joint:
    """`InvalidJoint` where the text is no table."""
    model = parse(data)
    return Joint(model.table, hashlib.sha256(data).hexdigest(), _radii_of(model))


def _radii_of(model: JointModel) -> dict[str, tuple[Decimal, ...]] | None:
    """As the file states them; of counted people the square root of (t ln 2 + ln(m k/failure))/(2 n), for n people with
    a value, m values, t combinations of the others and k fields. That is 1 at most, and 1 where nobody was counted.
    """
    names, counts = model.table.names, model.table.weights
    if model.failure is None:
        stated = model.radius
        return None if stated is None else {name: tuple(map(Decimal, stated[name].tolist())) for name in names}
    found = {}
    with localcontext(_DIGITS):
        for axis, (name, values) in enumerate(zip(names, counts.shape, strict=True)):
            combinations = math.prod(counts.shape) // values
            doubt = combinations * Decimal(2).ln() + (values * len(names) / Decimal(model.failure)).ln()
            people = [sum(int(cell) for cell in of_value.ravel().tolist()) for of_value in np.moveaxis(counts, axis, 0)]
            found[name] = tuple(min(Decimal(1), (doubt / (2 * n)).sqrt()) if n else Decimal(1) for n in people)
    return found
