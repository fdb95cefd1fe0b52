"""What a pipeline of crowds promises, compiled from its settings, its law and its key ring."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from beliefs.crowd.account import CrowdAccount
from beliefs.crowd.total import Total
from mechanisms.crowds.attributes import Attributes
from mechanisms.crowds.diversity import Rule
from stream.keys import KeyRing
from stream.records.fields import FieldForm
from stream.records.paths import Path
from stream.settings.crowd import Grouper, Kind, Take
from stream.settings.model import RecordSettings


@dataclass(frozen=True)
class Timing:
    """Window k is [start + k length, start + (k+1) length), in milliseconds."""

    length: int
    start: int
    lateness: int
    grace: int
    ahead: int


@dataclass(frozen=True)
class FlowTiming:
    """An event leaves a grouper before so many later ones are taken, and no later than so many milliseconds."""

    events: int
    time: int


@dataclass(frozen=True)
class Release:
    """The one thing that is released. A user contributes one symbol for each form; less its `offset` it is a place on
    the lattice that the law speaks of, from 0 to below its `sizes`.

    Of a sum, a mean and a range a symbol is a number of steps of `grid`, from `least` to `most`; of a count 1 or 0; of
    a histogram the place of a value in `labels`. Of records there is a form for each attribute in declared order, and
    then one of the sensitive value, if there is one; its values are `labels`.
    """

    kind: Kind
    forms: tuple[FieldForm, ...]
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    take: Take = "last"
    grid: Decimal = Decimal(1)
    least: int = 0
    most: int = 1
    labels: tuple[Any, ...] = field(default=(), repr=False)
    grouper: Grouper | None = None
    attributes: Attributes | None = None
    rule: Rule | None = None

    @property
    def sensitive(self) -> FieldForm | None:
        """The form of the sensitive value of records."""
        named = 0 if self.attributes is None else len(self.attributes)
        return self.forms[-1] if 0 < named < len(self.forms) else None


@dataclass(frozen=True)
class Target:
    """What `horizon` windows in a row tell about one person together; a horizon above 1 only of fresh windows."""

    epsilon: float
    delta: float
    horizon: int
    beyond: Literal["withhold", "top_up"]


@dataclass(frozen=True)
class CrowdPromise:
    """Everything that decides what is released. There are either windows or, for records one by one, a flow.

    `types` are the names of the law's types in the order in which the account knows them; `type_form` says of which an
    event's user is, where there are several. Of one household there are `household_most` people at most. Without a law
    there is neither an account nor a target, and the only type is everybody. `total` adds up windows of a horizon above
    1; who keeps a history of windows makes one of his own. Its `repr` holds no secret.
    """

    pipeline: str
    record: RecordSettings
    ring: KeyRing = field(repr=False)
    policy_version: int
    policy_fingerprint: bytes
    k: int
    over: Literal["all", "partition"]
    timing: Timing | None
    flow: FlowTiming | None
    release: Release
    types: tuple[str, ...]
    type_form: FieldForm | None
    household_path: Path | None
    household_most: int | None
    known: Fraction
    windows: Literal["any", "fresh"]
    account: CrowdAccount | None = field(repr=False)
    total: Total | None = field(repr=False)
    target: Target | None

    @property
    def policy_name(self) -> str:
        """As in the header of a released record."""
        return f"{self.policy_version}:{self.policy_fingerprint.hex()[:8]}"

    @property
    def fresh(self) -> bool:
        """Whether a user's values of different windows are independent, so that windows compose."""
        return self.windows == "fresh"

    @property
    def horizon(self) -> int:
        """So many windows in a row have one target."""
        return 1 if self.target is None else self.target.horizon

    @property
    def tops_up(self) -> bool:
        """Whether noise is added where the crowd alone does not meet the target."""
        return self.target is not None and self.target.beyond == "top_up"

    @property
    def windowed(self) -> Timing:
        """The windows, for whoever knows that there are some."""
        if self.timing is None:
            raise ValueError("these crowds are of single events and have no windows")
        return self.timing

    @property
    def flowing(self) -> FlowTiming:
        """The delay, for whoever knows that there are no windows."""
        if self.flow is None:
            raise ValueError("these crowds are of windows and have no delay")
        return self.flow
