"""Where the records come from and go to, and how they get there."""

from typing import Annotated, Literal

from pydantic import Field

from stream.settings.kinds import Broker, EnvironmentName, FileName, SessionTimeout, Topic
from stream.settings.section import Section


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
    released_topic: Topic = Field(
        description="the topic for the released events, with as many partitions as raw_topic; of aggregates, and of "
        "crowds over all partitions, with one"
    )
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
