"""One aggregate of each window, compiled: what of an event it reads, what it holds of a user, and its noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from mechanisms.aggregate.geometric import Geometric
from stream.records.fields import FieldForm
from stream.settings.aggregate import Kind, Take


@dataclass(frozen=True)
class Query:
    """`loss` is what changing one user's contribution to one window changes at most, in units of 2^-40 nat.

    A user contributes one whole number: 1 to a count; to a sum and a mean so many steps of `grid`, from `least` to
    `most`, of which a mean adds what it is above `centre`; to a histogram the place of his cell in `labels`. `cells`
    are the numbers that a window holds: 1 of a count and of a sum, of a mean the sum and the count, of a histogram one
    for each label. `noise` is that of a count, of a sum, of the two parts of a mean, of every cell alike. With `shown`
    that many of the cells are released, those that are largest with their noise.
    """

    name: str
    kind: Kind
    loss: int
    noise: tuple[Geometric, ...]
    form: FieldForm | None = None
    take: Take = "last"
    at_most: int | None = None
    cells: int = 1
    grid: Decimal = Decimal(1)
    least: int = 0
    most: int = 1
    centre: int = 0
    labels: tuple[Any, ...] = field(default=(), repr=False)
    shown: int | None = None
