"""The settings of one pipeline, as they are once they have been found right. Frozen; every field says what it is for.

The descriptions are shown in three places: in the errors of a wrong file, in the JSON Schema for editors, and by
`sottovoce init`. What a field may hold on its own is said here; what two fields may hold together is in `checks.py`.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from stream.names import CHANGELOG_SUFFIX
from stream.settings.kinds import (
    Broker,
    Budget,
    Drain,
    EnvironmentName,
    FieldPath,
    FileName,
    SessionTimeout,
    Topic,
    Version,
    Window,
)


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)

    # One word that may stand instead of the whole section, and what it stands for.
    shorthand: ClassVar[dict[str, dict[str, Any]]] = {}


class PipelineSettings(Section):
    """Which pipeline this is."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$")] = Field(
        description="the name of the pipeline: a-z, 0-9 and -, at most 64; group and belief topic are named after it"
    )


class TlsSettings(Section):
    """How the connection to the brokers is encrypted."""

    ca_file: FileName | None = Field(
        default=None,
        description="certificates of the authority that signed the brokers'; without it the system's are used",
    )
    certificate_file: FileName | None = Field(default=None, description="this client's own certificate, for mutual TLS")
    private_key_file: FileName | None = Field(
        default=None, description="the private key that belongs to certificate_file"
    )


class PasswordSettings(Section):
    """Where the password is read from; it is never written in the settings file."""

    file: FileName | None = Field(default=None, description="a file that holds the password and nothing else")
    environment: EnvironmentName | None = Field(
        default=None, description="the environment variable that holds the password"
    )


class SaslSettings(Section):
    """How this client proves to the brokers who it is."""

    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        description="the SASL mechanism of the brokers"
    )
    username: Annotated[str, Field(min_length=1, max_length=255)] = Field(description="the name to log in with")
    password: PasswordSettings = Field(description="where the password is read from: a file or an environment variable")


class KafkaSettings(Section):
    """Where the records come from and go to."""

    brokers: Annotated[tuple[Broker, ...], Field(min_length=1, max_length=64, strict=False)] = Field(
        description="brokers to ask first, each host:port"
    )
    allow_plaintext: bool = Field(
        default=False, description="true says aloud that records may cross a network unencrypted"
    )
    tls: TlsSettings | None = Field(
        default=None, description="encryption of the connection; tls: {} uses the system's authorities"
    )
    sasl: SaslSettings | None = Field(default=None, description="how to log in")
    raw_topic: Topic = Field(description="the topic with the raw events; nobody but this pipeline should read it")
    released_topic: Topic = Field(description="the topic for the released events, with as many partitions as raw_topic")
    dead_letter_topic: Topic = Field(
        description="the topic for records that cannot be released; it gets reasons, never values"
    )
    group_instance: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,200}$")] | None = Field(
        default=None, description="this worker's fixed name in the consumer group; each worker needs its own"
    )
    session_timeout: SessionTimeout = Field(default=10_000, description="how long a silent worker keeps its partitions")
    replication_factor: Annotated[int, Field(ge=1, le=16)] = Field(
        default=3, description="replicas of each topic that the pipeline makes"
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

    path: FieldPath = Field(description="the one field that is protected; its values are the model's alphabet")
    distance: DistanceSettings = Field(
        default=DistanceSettings(),
        description="what near keeps small: hamming, absolute, squared, euclidean, haversine, or {table: file}",
    )


class RecordSettings(Section):
    """What a raw record looks like, and which parts of it may be seen afterwards."""

    user: UserSettings = Field(default=UserSettings(), description="key, or {path: ..., and_key: true}")
    event_time: EventTimeSettings = Field(
        default=EventTimeSettings(), description="record, or {path: ..., unit: ms|s|iso8601}"
    )
    protect: ProtectSettings = Field(description="the field that is protected: {path: $.field}")
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

    name: Literal["optimal", "marginal_preserving", "published_crr", "near"] = Field(description="the mechanism")
    epsilon: Annotated[float, Field(ge=1e-6, le=32, allow_inf_nan=False)] = Field(
        description="the most that one release may tell about a user, in nats, from 0.000001 to 32"
    )
    accept_unbounded: bool = Field(
        default=False,
        description="true accepts that published_crr tells more than epsilon where a belief is below 1/(e^epsilon+1)",
    )


class BudgetSettings(Section):
    """How much may be told about one user altogether."""

    nats: Budget = Field(description="the most that one window's releases may tell about a user, in nats, or unlimited")
    window: Window = Field(default=None, description="the length of a window of event time, or forever")
    when_spent: Literal["forecast", "forecast_draw", "suppress", "stop"] = Field(
        default="forecast",
        description="what follows a spent budget: the likeliest value, a draw of the belief, nothing, nothing for ever",
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


class MetricsSettings(Section):
    """What the metrics may say about small groups."""

    small_count_floor: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=10, description="counts of users below this are shown as 0, since a small group is nearly a person"
    )
    near_budget: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = Field(
        default=0.8, description="the share of the budget from which a user counts as near it"
    )


class Settings(Section):
    """Sottovoce settings."""

    version: Version = Field(description="the version of this format: 1")
    pipeline: PipelineSettings = Field(description="which pipeline this is")
    kafka: KafkaSettings = Field(description="where the records come from and go to")
    record: RecordSettings = Field(description="what a raw record looks like, and which parts may be seen afterwards")
    model: FileName = Field(
        description="the model file: the values of the protected field and how they follow one another"
    )
    mechanism: MechanismSettings = Field(description="how a value is hidden")
    budget: BudgetSettings = Field(description="how much may be told about one user altogether")
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
    def changelog_topic(self) -> str:
        return self.pipeline.name + CHANGELOG_SUFFIX
