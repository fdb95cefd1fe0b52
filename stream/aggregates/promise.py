"""What a pipeline of aggregates promises, compiled from its settings, its laws and its key ring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from beliefs.dependence.claim import Claim
from stream.aggregates.query import Query
from stream.keys import KeyRing
from stream.records.fields import FieldForm
from stream.settings.model import RecordSettings


@dataclass(frozen=True)
class AggregatePromise:
    """Everything that decides what is released. Times are in milliseconds, amounts in units of 2^-40 nat.

    Window k is [start + k length, start + (k+1) length). What any `horizon` windows in a row tell about one user is at
    most `target`; None is without limit. Its `repr` holds no secret.
    """

    pipeline: str
    record: RecordSettings
    ring: KeyRing = field(repr=False)
    policy_version: int
    policy_fingerprint: bytes
    length: int
    start: int
    lateness: int
    grace: int
    ahead: int
    queries: tuple[Query, ...]
    claim: Claim
    protects: Literal["everything", "one_window"]
    horizon: int
    target: int | None
    beyond: Literal["withhold", "top_up"]

    @property
    def policy_name(self) -> str:
        """As in the header of a released record."""
        return f"{self.policy_version}:{self.policy_fingerprint.hex()[:8]}"

    @property
    def forms(self) -> tuple[FieldForm, ...]:
        """What is read of an event, in the order of the queries; counts read nothing."""
        return tuple(query.form for query in self.queries if query.form is not None)

    @property
    def cells(self) -> int:
        """How many numbers a window holds."""
        return sum(query.cells for query in self.queries)

    @property
    def window_loss(self) -> int:
        """What changing one user's contributions to one window changes at most, in everything released of it."""
        return sum(query.loss for query in self.queries)
