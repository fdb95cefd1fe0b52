"""One real broker that listens in every way that a company's may: encrypted, with clients' certificates, with logins,
and wrongly: with certificates that are over, of another host, of a stranger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from broker import Broker, free_port
from certificates import Authority, Pair
from tokens import AUDIENCE, ISSUER, Signer

PASSWORDS = {"admin": "of-the-admin-1f0c", "worker": "of-the-worker-77ab", "auditor": "of-the-auditor-52de"}
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
WAYS = ("login", "tls", "mutual", "over", "elsewhere", "foreign")
"""Listeners: SASL within TLS; TLS; TLS with the client's certificate; and three with a wrong certificate."""
_JAAS = "org.apache.kafka.common.security"


@dataclass(frozen=True)
class SecureBroker:
    broker: Broker
    authority: Path
    foreign: Path
    client: Pair
    stranger: Pair
    signer: Signer
    ports: dict[str, int]

    def at(self, way: str) -> str:
        return f"localhost:{self.ports[way]}"


@contextmanager
def secure_broker(folder: Path) -> Iterator[SecureBroker]:
    authority, foreign, signer = Authority(folder, "authority"), Authority(folder, "foreign-authority"), Signer()
    wrong = {
        "over": authority.signed("broker-over", over=True),
        "elsewhere": authority.signed("broker-elsewhere", ("elsewhere.example",)),
        "foreign": foreign.signed("broker-foreign"),
    }
    public = folder / "jwks.json"
    signer.write_public(public)
    ports = {way: free_port() for way in WAYS}
    settings = {**listening(authority, authority.signed("broker"), wrong), **logins(public)}
    users = [f"{kind}=[name={name},password={password}]" for kind in SCRAM for name, password in PASSWORDS.items()]
    java = [
        f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={public.as_uri()}",
        f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.files={public}",
    ]
    client, stranger = authority.signed("worker"), foreign.signed("stranger")
    listeners = {way.upper(): port for way, port in ports.items()}
    with Broker(settings=settings, listeners=listeners, users=users, java=java) as broker:
        yield SecureBroker(broker, authority.file, foreign.file, client, stranger, signer, ports)


def listening(authority: Authority, server: Pair, wrong: Mapping[str, Pair]) -> dict[str, str]:
    """Which listeners there are and what certificates they show, and who may do everything: the broker itself and the
    test, who come without encryption, and two of the clients.
    """
    protocols = {way.upper(): "SSL" for way in WAYS}
    protocols |= {"CONTROLLER": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT", "LOGIN": "SASL_SSL"}
    settings = {
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
        "ssl.keystore.location": str(server.both),
        "ssl.truststore.location": str(authority.file),
        "listener.name.mutual.ssl.client.auth": "required",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin;User:CN=worker",
    }
    for way, pair in wrong.items():
        settings[f"listener.name.{way}.ssl.keystore.location"] = str(pair.both)
        settings[f"listener.name.{way}.ssl.keystore.type"] = "PEM"
    return settings


def logins(public: Path) -> dict[str, str]:
    """Every mechanism on one listener; tokens are held against the signer's public key."""
    at, tokens = "listener.name.login", f"{_JAAS}.oauthbearer"
    users = " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())
    return {
        f"{at}.sasl.enabled.mechanisms": ",".join(["PLAIN", *SCRAM, "OAUTHBEARER"]),
        f"{at}.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule required {users};",
        **{f"{at}.{kind.lower()}.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule required;" for kind in SCRAM},
        f"{at}.oauthbearer.sasl.jaas.config": f"{tokens}.OAuthBearerLoginModule required;",
        f"{at}.oauthbearer.sasl.server.callback.handler.class": f"{tokens}.OAuthBearerValidatorCallbackHandler",
        f"{at}.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": public.as_uri(),
        f"{at}.oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
        f"{at}.oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
        # Without this Kafka 4.1's default looks at no signature, and lets in whoever can write a token.
        "sasl.oauthbearer.jwt.validator.class": f"{tokens}.BrokerJwtValidator",
    }
