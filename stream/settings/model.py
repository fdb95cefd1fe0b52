"""The settings of one pipeline, as they are once they have been found right. Frozen; every field says what it is for.

The descriptions are shown in three places: in the errors of a wrong file, in the JSON Schema for editors, and by
`sottovoce init`. What a field may hold on its own is said here; what two fields may hold together is in `checks.py`.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from stream.names import CHANGELOG_SUFFIX
from stream.records.paths import Path
from stream.settings.aggregate import AggregateSettings
from stream.settings.budget import BudgetSettings, MetricsSettings
from stream.settings.crowd import CrowdSettings
from stream.settings.fields import FieldsSettings
from stream.settings.kafka import KafkaSettings
from stream.settings.kinds import (
    Deadline,
    Drain,
    EnvironmentName,
    FieldPath,
    FileName,
    Stretch,
    Version,
)
from stream.settings.models import ModelSettings
from stream.settings.section import Section

DEFAULT_DEADLINE_MS = 60_000


class PipelineSettings(Section):
    """Which pipeline this is."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$")] = Field(
        description="the name of the pipeline: a-z, 0-9 and -, at most 64; group and belief topic are named after it"
    )


class UserSettings(Section):
    """Whose event a record is."""

    shorthand: ClassVar[dict[str, dict[str, Any]]] = {"key": {}}

    path: FieldPath | None = Field(default=None, description="the field that holds the user's id")
    and_key: bool = Field(default=False, description="true: the record's key must hold the same id as the field")
    partitioned_by_user: bool = Field(
        default=False,
        description="true says aloud that producers keep a user's records in one partition, though the key is no id",
    )

    @property
    def from_key(self) -> bool:
        """Whether the record's key must be there and hold the user's id."""
        return self.path is None or self.and_key


class EventTimeSettings(Section):
    """When an event happened; budget windows are cut by it."""

    shorthand: ClassVar[dict[str, dict[str, Any]]] = {"record": {}}

    path: FieldPath | None = Field(default=None, description="the field that holds the time of the event")
    unit: Literal["ms", "s", "iso8601"] | None = Field(
        default=None, description="how that field is written: ms or s since 1970, or iso8601 text with an offset"
    )


class DistanceSettings(Section):
    """How far a released value is from the true one; the mechanism `near` keeps that small."""

    shorthand: ClassVar[dict[str, dict[str, Any]]] = {
        kind: {"kind": kind} for kind in ("hamming", "absolute", "squared", "euclidean", "haversine")
    }

    kind: Literal["hamming", "absolute", "squared", "euclidean", "haversine"] = Field(
        default="hamming",
        description="hamming: all errors count alike; absolute or squared: how far apart two numbers are; euclidean: "
        "two places of a grid; haversine: the same in kilometres, with rows of latitudes and columns of longitudes",
    )
    table: FileName | None = Field(
        default=None,
        description="a JSON file with a row of numbers for each value: how far it is from each value, 0 from itself",
    )
    cost_table: FileName | None = Field(
        default=None, description="the same, but even the right value may cost something"
    )

    @property
    def is_hamming(self) -> bool:
        return self.kind == "hamming" and self.table is None and self.cost_table is None


class ProtectSettings(Section):
    """The field that is released perturbed."""

    path: FieldPath | None = Field(
        default=None,
        description="the one field whose values follow one another; they are the model's alphabet. Only beside fields "
        "it may be missing",
    )
    distance: DistanceSettings = Field(
        default=DistanceSettings(),
        description="what near keeps small: hamming, absolute, squared, euclidean, haversine, or {table: file}",
    )

    @property
    def place(self) -> Path:
        """Where the field is; for whoever knows that there is one."""
        if self.path is None:
            raise ValueError("no field is named whose values follow one another")
        return self.path


class RecordSettings(Section):
    """What a raw record looks like, and which parts of it may be seen afterwards."""

    user: UserSettings = Field(default=UserSettings(), description="key, or {path: ..., and_key: true}")
    event_time: EventTimeSettings = Field(
        default=EventTimeSettings(), description="record, or {path: ..., unit: ms|s|iso8601}"
    )
    protect: ProtectSettings = Field(
        default=ProtectSettings(), description="the field that is protected: {path: $.field}"
    )
    public: Annotated[tuple[FieldPath, ...], Field(max_length=256, strict=False)] = Field(
        default=(), description="fields that pass as they are; every other field is dropped"
    )
    headers: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=255)], ...], Field(max_length=64, strict=False)
    ] = Field(
        default=(),
        description="headers of the raw record that pass as they are, 12 KiB at most; every other is dropped",
    )
    release_key: Literal["keep", "pseudonym"] = Field(
        default="keep", description="keep: released records bear the user's id; pseudonym: a keyed pseudonym instead"
    )
    max_bytes: Annotated[int, Field(ge=64, le=16_777_216)] = Field(
        default=65_536, description="the largest record value that is read, in bytes"
    )


class MechanismSettings(Section):
    """How a value is hidden."""

    name: Literal[
        "optimal",
        "marginal_preserving",
        "near",
        "published_crr",
        "top_k_grr",
        "randomised_response",
        "randomised_response_double",
        "temporal_ldp",
        "two_budget",
    ] = Field(description="the mechanism")
    epsilon: Annotated[float, Field(ge=1e-6, le=32, allow_inf_nan=False)] = Field(
        description="the most that one release may tell about a user, in nats, from 0.000001 to 32"
    )
    upper: Annotated[float, Field(ge=1e-6, le=32, allow_inf_nan=False)] | None = Field(
        default=None,
        description="with two_budget: a release makes no value more than e^epsilon times less likely, and none more "
        "than e^upper times more likely, as far as the budget has that left; at least epsilon, at most 32",
    )
    accept_unbounded: bool = Field(
        default=False,
        description="true accepts that published_crr tells more than epsilon where a belief is below 1/(e^epsilon+1), "
        "or that randomised_response_double tells up to 2 epsilon",
    )
    radius: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] = Field(
        default=0.0,
        description="epsilon also holds against readers whose belief about a user's next value, or about the values of "
        "a window, differs from the model's by this much in total variation; 0: readers who know the model",
    )
    chain_error: Annotated[float, Field(ge=0, le=16, allow_inf_nan=False)] = Field(
        default=0.0,
        description="epsilon also holds against readers whose model gives every start and transition probability "
        "within a factor of e^chain_error of this one's, either way; 0: readers who know the model",
    )


class WindowSettings(Section):
    """Values of one user that are released under one epsilon, together or one by one."""

    events: Annotated[int, Field(ge=1, le=64)] = Field(
        description="how many values of a user a window holds at most, from 1 to 64; epsilon is for all of them"
    )
    stretch: Stretch | None = Field(
        default=None,
        description="a window also ends where the user's event time enters the next stretch of this length",
    )
    order: Literal["bisect", "natural", "dual"] = Field(
        default="bisect",
        description="bisect: values wait for their window's end; natural: each is released at once, and less is kept; "
        "dual: as bisect, by one channel for the whole sequence, nearly the best there is, for at most 1300 sequences",
    )
    deadline: Deadline | None = Field(
        default=None,
        description="unless natural: how long a silent user's window waits for the next event before it ends (60s)",
    )


class KeysSettings(Section):
    """Where the key ring is. Whoever has it can undo the perturbation."""

    file: FileName | None = Field(default=None, description="the key ring file, made by `sottovoce keys new`")
    environment: EnvironmentName | None = Field(
        default=None, description="the environment variable that holds the key ring"
    )


class StoreSettings(Section):
    """Where a worker keeps the beliefs of its partitions; the belief topic is the truth, this is a copy."""

    kind: Literal["memory", "disk"] = Field(default="memory", description="memory or disk")
    folder: FileName | None = Field(default=None, description="the folder of the disk store; each worker needs its own")


class AdminSettings(Section):
    """Where metrics and health are served."""

    host: Annotated[str, Field(min_length=1, max_length=255)] = Field(
        default="127.0.0.1",
        description="the address to listen on; anything but loopback opens the metrics to a network",
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(default=8998, description="the port; 0 takes a free one")


class LimitsSettings(Section):
    """Bounds on the work in hand."""

    max_block_records: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=4_000, description="the most records of one partition in one transaction"
    )
    drain: Drain = Field(
        default=10_000, description="how long a worker that is told to stop may take to finish what it holds"
    )


class Settings(Section):
    """Sottovoce settings."""

    version: Version = Field(description="the version of this format: 1")
    pipeline: PipelineSettings = Field(description="which pipeline this is")
    kafka: KafkaSettings = Field(description="where the records come from and go to")
    record: RecordSettings = Field(description="what a raw record looks like, and which parts may be seen afterwards")
    model: ModelSettings = Field(
        default=ModelSettings(),
        description="the model file: the values of the protected field and how they follow one another",
    )
    mechanism: MechanismSettings = Field(
        default=MechanismSettings(name="optimal", epsilon=1.0), description="how a value is hidden"
    )
    window: WindowSettings | None = Field(
        default=None, description="release a user's values in windows under one epsilon, instead of one by one"
    )
    fields: FieldsSettings | None = Field(
        default=None,
        description="fields that are protected each by itself, by a local mechanism; beside record.protect, or alone",
    )
    aggregate: AggregateSettings | None = Field(
        default=None,
        description="instead of a record for each event: counts, sums, means and histograms over all users, one record "
        "for each window of event time; without record.protect, fields, model, mechanism, window and budget",
    )
    crowd: CrowdSettings | None = Field(
        default=None,
        description="instead of a record for each event: one statistic of each window over at least k users, or "
        "records in boxes of at least k, without noise; without record.protect, fields, model, mechanism, window, "
        "budget and aggregate",
    )
    budget: BudgetSettings = Field(
        default=BudgetSettings.model_validate({"nats": "unlimited"}),
        description="how much may be told about one user altogether",
    )
    keys: KeysSettings = Field(description="where the key ring is")
    store: StoreSettings = Field(default=StoreSettings(), description="where a worker keeps the beliefs")
    admin: AdminSettings = Field(default=AdminSettings(), description="where metrics and health are served")
    limits: LimitsSettings = Field(default=LimitsSettings(), description="bounds on the work in hand")
    metrics: MetricsSettings = Field(
        default=MetricsSettings(), description="what the metrics may say about small groups"
    )
    policy_version: Annotated[int, Field(ge=1, le=2_147_483_647)] = Field(
        description="a number that you raise whenever what is released changes; it stands in every released record"
    )

    @property
    def follows(self) -> bool:
        """Whether a field is protected whose values follow one another; without one the model has a single value."""
        return self.record.protect.path is not None

    @property
    def changelog_topic(self) -> str:
        return self.pipeline.name + CHANGELOG_SUFFIX
