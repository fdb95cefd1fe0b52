"""What a block of the second stage released, for whoever watches. Nobody's value, and nobody."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from beliefs.crowd.account import Told


class CrowdWindow(NamedTuple):
    """One window that has its record now. `users` is None where not all is there that partitions have of it. `told` is
    what it tells before each adversary that is declared, `total` the delta of all windows of the target together,
    `noise` the scale of what was added. Of records there is a mean `loss`, the number of crowds and how many users are
    in none.
    """

    number: int
    users: int | None
    reason: str | None
    told: tuple[Told, ...] = ()
    total: float | None = None
    noise: Fraction | None = None
    loss: float | None = None
    crowds: int | None = None
    suppressed: int = 0


class CrowdsTold(NamedTuple):
    """Windows in order, up to when all windows have their record, how many envelopes wait, and how far partitions have
    closed.
    """

    windows: list[CrowdWindow]
    released_to: int
    waiting: int
    closed_to: tuple[int, ...]
