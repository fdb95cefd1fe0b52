"""What is to be learnt from what: everything that a fit depends on, and everything that it found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from beliefs.alphabet import Alphabet
from beliefs.chain import Indices
from beliefs.learning.choice import Chosen
from beliefs.learning.entries import Factor
from beliefs.learning.radius import Radii
from beliefs.learning.written import Learnt
from beliefs.model_file import Model
from stream.fitting.reading import Refusals
from stream.fitting.sources import Source
from stream.settings.model import RecordSettings

GROUPS: Final = 8
"""Users stand in eight groups by a hash of their id; each is predicted from the seven others."""

Sample = Literal["public", "consenting", "protected", "unknown"]


@dataclass(frozen=True)
class Task:
    """`alphabet` is None where it is to be learnt; `order` where it is to be chosen from 0 to `most_order`."""

    source: Source
    record: RecordSettings
    alphabet: Alphabet | None = None
    rare: int = 1
    other: str | None = None
    order: int | None = None
    most_order: int = 3
    least: int = 2
    failure: float = 0.05
    step: int | None = None
    epsilon: float = 1.0
    sample: Sample = "unknown"


@dataclass
class Facts:
    """What was read."""

    rows: int = 0
    events: int = 0
    users: int = 0
    pooled: int = 0
    backwards: int = 0
    once: int = 0
    last_time: int = 0
    again: int = 0
    late: int = 0
    parted: int = 0
    order_given_up: int | None = None
    refusals: Refusals = field(default_factory=Refusals)


@dataclass(frozen=True)
class Fitted:
    """The model file's bytes, and all that the report says."""

    data: bytes
    model: Model
    chosen: Chosen
    learnt: Learnt
    radii: Radii
    factor: Factor
    pasts: Indices
    """The past of each row that has a radius, as one number."""
    facts: Facts
    task: Task
