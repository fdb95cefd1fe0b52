"""What the settings of a pipeline of aggregates ask for, worked out a second time from the same definitions.

* Epsilon is rounded down to units. One user moves a count by 1, a histogram by 2; a sum by the largest of its ends and
  their distance, since who stays away adds nothing; all in steps of the grid, to which the ends are rounded, a middle
  to the even step.
* A mean releases the sum of what lies above the centre, the rounded middle of the unrounded ends, and a count. Who
  changes his value moves the sum by the distance W of the ends; who comes or goes by at most the distance h of the
  centre from the farther end, and the count by 1. The sum has the noise for W at the whole loss, the count that for 1
  at what coming leaves of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from stream.audit.aggregate_noise import loss_of, scale_of
from stream.audit.amounts import units_within
from stream.errors import CannotAudit
from stream.settings.aggregate import AggregateSettings, QuerySettings
from stream.settings.model import Settings


@dataclass(frozen=True)
class Asked:
    """One aggregate: by how much one user moves it and the scales of its noise, in steps of the grid, and what that
    tells, in units.
    """

    name: str
    kind: str
    loss: int
    shift: int
    scales: tuple[Fraction, ...]
    cells: int
    grid: Decimal = Decimal(1)
    low: int = 0
    high: int = 0
    centre: int = 0
    labels: tuple[Any, ...] = ()
    shown: int | None = None

    @property
    def moves(self) -> Fraction:
        """By how much one user moves it, as his values are written."""
        return self.shift * Fraction(self.grid)


@dataclass(frozen=True)
class Windows:
    """All that an audit of windows of aggregates must know; times in milliseconds, amounts in units."""

    pipeline: str
    policy: bytes
    fingerprint: bytes
    start: int
    length: int
    asked: tuple[Asked, ...]
    horizon: int
    target: int | None
    tops_up: bool
    protects: str

    @property
    def loss(self) -> int:
        return sum(each.loss for each in self.asked)

    @property
    def cells(self) -> int:
        return sum(each.cells for each in self.asked)


def windows_of(settings: Settings, policy: Callable[[], bytes]) -> Windows:
    """`policy` gives the fingerprint of all that decides; asked only where there are aggregates."""
    aggregate = settings.aggregate
    if aggregate is None:
        raise CannotAudit(
            "These settings release no windows of aggregates.",
            where="aggregate",
            why="the section is missing",
            fix="name the settings that the pipeline ran with",
        )
    fingerprint = policy()
    return Windows(
        pipeline=settings.pipeline.name,
        policy=f"{settings.policy_version}:{fingerprint.hex()[:8]}".encode(),
        fingerprint=fingerprint,
        start=aggregate.start,
        length=aggregate.window,
        asked=tuple(_asked(name, query) for name, query in aggregate.each.items()),
        horizon=aggregate.target.windows,
        target=_target(aggregate),
        tops_up=aggregate.target.beyond == "top_up",
        protects=aggregate.protects,
    )


def _target(aggregate: AggregateSettings) -> int | None:
    nats = aggregate.target.nats
    return None if nats == float("inf") else units_within(nats)


def _asked(name: str, query: QuerySettings) -> Asked:
    loss = units_within(query.epsilon)
    if query.kind == "count":
        return _alike(name, "count", loss, 1, 1)
    if query.values is not None:
        labels = tuple(query.values.value_at(place) for place in range(query.values.size))
        return replace(_alike(name, query.kind, loss, 2, len(labels)), labels=labels, shown=query.top)
    low, high, grid = _exactly(query.steps)
    ends = [Fraction(end) / Fraction(grid) for end in (low, high)]
    first, last = round(ends[0]), round(ends[1])
    if query.kind == "sum":
        found = _alike(name, "sum", loss, max(abs(first), abs(last), last - first), 1)
        return replace(found, grid=grid, low=first, high=last)
    centre = round((ends[0] + ends[1]) / 2)
    far, width = max(last - centre, centre - first), last - first
    summed = scale_of(width, loss)
    counted = scale_of(1, loss - loss_of(far, summed))
    told = max(loss_of(width, summed), loss_of(far, summed) + loss_of(1, counted))
    return Asked(name, "mean", told, width, (summed, counted), 2, grid, first, last, centre)


def _alike(name: str, kind: str, loss: int, shift: int, cells: int) -> Asked:
    """Of which every cell has the same noise."""
    scale = scale_of(shift, loss)
    return Asked(name, kind, loss_of(shift, scale), shift, (scale,), cells)


def _exactly(steps: Sequence[Decimal] | None) -> Sequence[Decimal]:
    if steps is None:
        raise ValueError("settings that were found right name low, high and grid beside a sum or a mean")
    return steps
