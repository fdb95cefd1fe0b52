"""How every client of this worker reaches the brokers:

said once, so that no client is less protected than the others.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stream.engine.tokens import Tokens, tokens_of
from stream.errors import Refused
from stream.secrets import read_secret
from stream.settings.kafka import KafkaSettings, TlsSettings


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection is encrypted exactly when it has a TLS context; the protocol is never chosen apart from it."""

    brokers: tuple[str, ...]
    tls: ssl.SSLContext | None = None
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tokens: Tokens | None = field(default=None, repr=False)

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
            arguments["sasl_oauth_token_provider"] = self.tokens
        return arguments


def connection_of(kafka: KafkaSettings, environment: Mapping[str, str]) -> Connection:
    """The connection that the settings describe, with its certificates and its password read."""
    sasl = kafka.sasl
    tls = None if kafka.tls is None else _tls(kafka.tls)
    if sasl is None:
        return Connection(kafka.brokers, tls)
    return Connection(
        brokers=kafka.brokers,
        tls=tls,
        sasl_mechanism=sasl.mechanism,
        username=sasl.username,
        password=None if sasl.password is None else read_secret("brokers' password", sasl.password, environment),
        tokens=None if sasl.token is None else tokens_of(sasl.token, environment),
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
