"""What `sottovoce plan` was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from stream.names import EVENTS_A_DAY, USERS_A_WINDOW
from stream.planning.grid import Grid


@dataclass(frozen=True)
class Asked:
    """The options as they were given."""

    config: Path | None = None
    model: Path | None = None
    agreement: float | None = None
    distance: float | None = None
    leakage: float | None = None
    per_day: int = EVENTS_A_DAY
    delay: str | None = None
    grid: Grid = field(default_factory=Grid)
    everything: bool = False
    within: tuple[str, ...] = ()
    users: int = USERS_A_WINDOW
    sample: Path | None = None
    user: str | None = None


@dataclass(frozen=True)
class Outputs:
    """Files that are written beside the answer."""

    html: Path | None = None
    write: Path | None = None
    replace: bool = False
