"""Whether the brokers let this worker in, asked before anything else: a client that is turned away asks for ever.

Nobody falls back to less protection: a broker that cannot be reached in the way that the settings describe is refused,
and the refusal says which side has to change what.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import (
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka.protocol.metadata import MetadataRequest

from stream.engine.connection import Connection
from stream.errors import PublishFailed, Refused

ANSWER_SECONDS: Final = 10.0
_EXPIRED, _NOT_YET, _OTHER_HOST = 10, 9, 62
"""What OpenSSL calls them: X509_V_ERR_CERT_HAS_EXPIRED, _NOT_YET_VALID and _HOSTNAME_MISMATCH."""
_SECURITY: Final = "kafka.tls and kafka.sasl"


class Denial(NamedTuple):
    """Why one broker does not let us in; `fix` is None where it may be better in a moment."""

    why: str
    fix: str | None = None


async def require_way_in(connection: Connection) -> None:
    """One broker that answers a question is enough. Refused where one turns us away and none lets us in."""
    denials: dict[str, Denial] = {}
    for broker in connection.brokers:
        denial = await _knock(connection, broker)
        if denial is None:
            return
        denials[broker] = denial
    broker, denial = next(
        ((broker, denial) for broker, denial in denials.items() if denial.fix is not None), next(iter(denials.items()))
    )
    what, where = "The brokers do not let this worker in.", f"broker {broker}, by {connection.protocol}"
    if denial.fix is not None:
        raise Refused(what, where, denial.why, denial.fix)
    raise PublishFailed(
        "No broker can be reached.", where, denial.why, "start the brokers, or correct kafka.brokers in the settings"
    )


async def _knock(connection: Connection, broker: str) -> Denial | None:
    host, _, port = broker.rpartition(":")
    arguments = connection.arguments()
    del arguments["bootstrap_servers"]
    made = AIOKafkaConnection(
        host.removeprefix("[").removesuffix("]"),
        int(port),
        request_timeout_ms=int(1000 * ANSWER_SECONDS),
        **arguments,
    )
    within = False
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await made.connect()
            within = True
            # A broker that wants a login answers what its version is, and nothing else.
            await made.send(MetadataRequest([]))
    except (OSError, KafkaError, TimeoutError) as error:
        return await _why(connection, host, int(port), error, within=within)
    finally:
        await _closed(made)
    return None


async def _closed(made: AIOKafkaConnection) -> None:
    """Wait until the socket is closed, too; a connection that was never made has none."""
    was_open, closing = made._protocol is not None, made.close()  # noqa: SLF001 it tells nobody whether it ever was
    if was_open:
        await closing


async def _why(connection: Connection, host: str, port: int, error: BaseException, *, within: bool) -> Denial:
    """What the error means; `within` says that we had seemed to be let in."""
    for kind, explain in _KNOWN:
        if isinstance(error, kind):
            return explain(error, host)
    encrypted = connection.tls is not None
    hung_up = isinstance(error, KafkaError | ConnectionResetError | ssl.SSLError)
    if not hung_up:
        return Denial(getattr(error, "strerror", None) or type(error).__name__)
    speaks = await _speaks_tls(host, port)
    if encrypted and speaks is False:
        return Denial("it does not speak TLS at this port", "name its TLS port in kafka.brokers; nothing was sent")
    if not encrypted and speaks:
        return Denial("it speaks TLS at this port, and the settings do not", "add kafka.tls")
    if isinstance(error.__cause__, ssl.SSLError):
        return Denial(
            "it does not accept this client's certificate, or there is none",
            "set kafka.tls.certificate_file and private_key_file to a pair that its authority has signed",
        )
    if within and connection.sasl_mechanism is None:
        return Denial("it hung up at the first question: it seems to want a login", "add kafka.sasl")
    return Denial("it hung up")


async def _speaks_tls(host: str, port: int) -> bool | None:
    """Whether somebody there begins TLS; None where nobody is there. Nothing is sent and no certificate believed."""
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=anybody)
    except (ssl.SSLError, ConnectionResetError, TimeoutError):
        return False
    except OSError:
        return None
    writer.transport.abort()
    return True


def _certificate(error: Any, host: str) -> Denial:
    ours = "the brokers' certificate"
    if error.verify_code in (_EXPIRED, _NOT_YET):
        when = "is over" if error.verify_code == _EXPIRED else "is not valid yet"
        return Denial(f"{ours} {when}", f"renew {ours}, or set this machine's clock right")
    if error.verify_code == _OTHER_HOST:
        return Denial(f"{ours} is not one of {host}", "name the host in kafka.brokers that the certificate is for")
    return Denial(
        f"{ours} was not signed by an authority that is trusted here ({error.verify_message})",
        "set kafka.tls.ca_file to the certificates of the authority that signed it",
    )


def _login(*_: Any) -> Denial:
    return Denial(
        "the login is wrong",
        "correct username and password of kafka.sasl; of a token see whether it is over, and whom and what it is for",
    )


def _mechanism(*_: Any) -> Denial:
    return Denial("it does not offer this mechanism of SASL", "choose another kafka.sasl.mechanism")


def _no_login_here(*_: Any) -> Denial:
    return Denial("nobody logs in at this port", "remove kafka.sasl, or name the port with logins in kafka.brokers")


_KNOWN: Final[tuple[tuple[type[BaseException], Callable[[Any, str], Denial]], ...]] = (
    (ssl.SSLCertVerificationError, _certificate),
    (SaslAuthenticationFailed, _login),
    (UnsupportedSaslMechanismError, _mechanism),
    (IllegalSaslStateError, _no_login_here),
)
