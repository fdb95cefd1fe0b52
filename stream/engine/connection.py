"""How every client of this worker reaches the brokers:

said once, so that no client is less protected than the others.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stream.errors import Refused
from stream.settings.kafka import KafkaSettings, PasswordSettings, TlsSettings


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection is encrypted exactly when it has a TLS context; the protocol is never chosen apart from it."""

    brokers: tuple[str, ...]
    tls: ssl.SSLContext | None = None
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def protocol(self) -> str:
        if self.sasl_mechanism is None:
            return "PLAINTEXT" if self.tls is None else "SSL"
        return "SASL_PLAINTEXT" if self.tls is None else "SASL_SSL"

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments that aiokafka's producer, consumer and admin client share."""
        arguments: dict[str, Any] = {"bootstrap_servers": list(self.brokers), "security_protocol": self.protocol}
        if self.tls is not None:
            arguments["ssl_context"] = self.tls
        if self.sasl_mechanism is not None:
            arguments["sasl_mechanism"] = self.sasl_mechanism
            arguments["sasl_plain_username"] = self.username
            arguments["sasl_plain_password"] = self.password
        return arguments


def connection_of(kafka: KafkaSettings, environment: Mapping[str, str]) -> Connection:
    """The connection that the settings describe, with its certificates and its password read."""
    sasl = kafka.sasl
    return Connection(
        brokers=kafka.brokers,
        tls=None if kafka.tls is None else _tls(kafka.tls),
        sasl_mechanism=None if sasl is None else sasl.mechanism,
        username=None if sasl is None else sasl.username,
        password=None if sasl is None else _password(sasl.password, environment),
    )


def _tls(tls: TlsSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
        if tls.certificate_file is not None:
            context.load_cert_chain(tls.certificate_file, tls.private_key_file)
    except (OSError, ssl.SSLError) as error:
        raise Refused(
            "The certificates for the brokers cannot be used.",
            where="kafka.tls",
            why=error.strerror or type(error).__name__,
            fix="correct the files that kafka.tls names; they are PEM files",
        ) from None
    return context


def _password(settings: PasswordSettings, environment: Mapping[str, str]) -> str:
    if settings.environment is not None:
        found = environment.get(settings.environment, "")
        where = f"environment variable {settings.environment}"
    else:
        where = f"file {settings.file}"
        try:
            found = Path(settings.file or "").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeError) as error:
            raise Refused("The brokers' password cannot be read.", where, type(error).__name__, "name a file") from None
    if not found:
        raise Refused("The brokers' password is empty.", where, "nothing is there", "put the password there")
    return found
