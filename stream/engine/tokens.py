"""The tokens of OAUTHBEARER: read from a file or a variable for each connection, or asked for at a service.

A token from a service is used until nine tenths of its time are over. Nothing that the service answers is repeated in
an error, since it may hold the token.
"""

import asyncio
import time
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote_plus

import aiokafka.conn
from aiohttp import ClientError, ClientSession, ClientTimeout
from aiokafka.abc import AbstractTokenProvider
from aiokafka.conn import OAuthAuthenticator
from aiokafka.errors import SaslAuthenticationFailed

from stream.errors import PublishFailed, Refused
from stream.secrets import read_secret
from stream.settings.kafka import TokenSettings

ASK_SECONDS: Final = 10.0
_WHAT: Final = "brokers' token"
_USED: Final = 0.9
_OK: Final = 200


class _Authenticator(OAuthAuthenticator):  # type: ignore[misc]
    """aiokafka takes every answer for a yes. Brokers say no by a challenge that is not empty (RFC 7628), and then read
    each request as one more step of the login.
    """

    async def step(self, payload: bytes | None) -> tuple[bytes, bool] | None:
        if payload:
            raise SaslAuthenticationFailed("the token is not accepted")
        answer: tuple[bytes, bool] | None = await super().step(payload)
        return answer


class TokensAtHand(AbstractTokenProvider):  # type: ignore[misc]
    """From a file or a variable. A file is read anew each time: whoever keeps it fresh replaces it."""

    def __init__(self, place: TokenSettings, environment: Mapping[str, str]) -> None:
        self._place, self._environment = place, environment

    async def token(self) -> str:
        return await asyncio.to_thread(read_secret, _WHAT, self._place, self._environment)


class TokensOfService(AbstractTokenProvider):  # type: ignore[misc]
    """From a service, for a client's name and secret."""

    def __init__(self, endpoint: str, client: str, secret: str, scope: str | None) -> None:
        self._endpoint, self._asked = endpoint, {"grant_type": "client_credentials"}
        if scope is not None:
            self._asked["scope"] = scope
        # Each part is written as in an address before the two are put together (RFC 6749, 2.3.1).
        pair = f"{quote_plus(client)}:{quote_plus(secret)}"
        self._login = f"Basic {b64encode(pair.encode()).decode()}"
        self._token, self._until = "", 0.0
        self._asking = asyncio.Lock()

    async def token(self) -> str:
        async with self._asking:  # many connections begin together; one of them asks
            if time.monotonic() >= self._until:
                began = time.monotonic()
                answer = await self._ask()
                self._token = str(answer["access_token"])
                self._until = began + _USED * float(answer.get("expires_in", 0))
            return self._token

    async def _ask(self) -> Mapping[str, Any]:
        try:
            async with (
                ClientSession(timeout=ClientTimeout(total=ASK_SECONDS), headers={"Authorization": self._login}) as to,
                to.post(self._endpoint, data=self._asked, allow_redirects=False) as answered,
            ):
                if answered.status != _OK:
                    raise self._refused(f"the service answered with status {answered.status}")
                answer = await answered.json(content_type=None)
        except (ClientError, OSError, TimeoutError) as error:
            raise self._refused(f"the service did not answer: {type(error).__name__}") from None
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("access_token"), str):
            raise self._refused("the service's answer holds no access_token")
        return answer

    def _refused(self, why: str) -> PublishFailed:
        return PublishFailed(
            "No token for the brokers can be had.",
            where="kafka.sasl.token.endpoint",
            why=why,
            fix="see whether the service is up, and whether it knows kafka.sasl.token.client with that secret",
        )


Tokens = TokensAtHand | TokensOfService


def tokens_of(settings: TokenSettings, environment: Mapping[str, str]) -> Tokens:
    """What the settings describe; a token or secret that is missing is refused now."""
    aiokafka.conn.OAuthAuthenticator = _Authenticator
    if settings.endpoint is None:
        read_secret(_WHAT, settings, environment)
        return TokensAtHand(settings, environment)
    if settings.client is None or settings.secret is None:
        raise Refused("The service for tokens needs client and secret.", "kafka.sasl.token", "one is missing", "add it")
    secret = read_secret("secret for tokens", settings.secret, environment)
    return TokensOfService(settings.endpoint, settings.client, secret, settings.scope)
