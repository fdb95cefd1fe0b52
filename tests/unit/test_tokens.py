"""Tokens for the brokers: read anew from a file, or asked for at a service and kept while they are good."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from stream.engine.tokens import Tokens, tokens_of
from stream.errors import PublishFailed, Refused
from stream.settings.kafka import TokenSettings


class Service:
    """Gives tokens as RFC 6749 has it, and remembers who asked for what."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.status, self.answer = 200, {"access_token": "token-{}", "token_type": "Bearer", "expires_in": 3600}
        self.text = ""

    async def give(self, request: web.Request) -> web.Response:
        login = b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        self.asked.append({"login": login, **{name: str(value) for name, value in (await request.post()).items()}})
        if self.text:
            return web.Response(text=self.text)
        filled: dict[str, Any] = dict(self.answer)
        if "access_token" in filled:
            filled["access_token"] = f"token-{len(self.asked)}"
        return web.json_response(filled, status=self.status)


@asynccontextmanager
async def at_work(service: Service) -> AsyncIterator[Tokens]:
    app = web.Application()
    app.router.add_post("/token", service.give)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield of_service(f"http://127.0.0.1:{port}/token")
    finally:
        await runner.cleanup()


def of_service(endpoint: str) -> Tokens:
    settings = TokenSettings.model_validate(
        {"endpoint": endpoint, "client": "phones", "secret": {"environment": "SECRET"}, "scope": "kafka"}
    )
    return tokens_of(settings, {"SECRET": "the-secret"})


async def test_a_token_is_asked_for_once_while_it_is_good() -> None:
    service = Service()
    async with at_work(service) as tokens:
        assert [await tokens.token() for _ in range(3)] == ["token-1"] * 3
        assert service.asked == [{"login": "phones:the-secret", "grant_type": "client_credentials", "scope": "kafka"}]


async def test_a_token_that_is_over_is_asked_for_anew() -> None:
    service = Service()
    service.answer = {"access_token": "", "expires_in": 0}
    async with at_work(service) as tokens:
        assert [await tokens.token() for _ in range(2)] == ["token-1", "token-2"]


@pytest.mark.parametrize(
    ("status", "answer", "text", "why"),
    [
        (401, {"error": "invalid_client"}, "", "status 401"),
        (200, {"token_type": "Bearer"}, "", "no access_token"),
        (200, {}, "<html>the-secret</html>", "no access_token"),
    ],
)
async def test_a_service_that_gives_none_is_named_without_its_words(
    status: int, answer: dict[str, Any], text: str, why: str
) -> None:
    service = Service()
    service.status, service.answer, service.text = status, answer, text
    async with at_work(service) as tokens:
        with pytest.raises(PublishFailed) as failed:
            await tokens.token()
    assert why in str(failed.value) and "the-secret" not in str(failed.value)


async def test_a_service_that_is_not_there_is_an_error_that_a_fresh_worker_may_not_see() -> None:
    with pytest.raises(PublishFailed, match="did not answer"):
        await of_service("http://127.0.0.1:1/token").token()


async def test_a_file_is_read_for_each_connection(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    tokens = tokens_of(TokenSettings(file=str(file)), {})
    assert await tokens.token() == "one"
    file.write_text("two\n")
    assert await tokens.token() == "two"


def test_what_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read"):
        tokens_of(TokenSettings(file=str(tmp_path / "nothing")), {})
    with pytest.raises(Refused, match="environment variable TOKEN"):
        tokens_of(TokenSettings(environment="TOKEN"), {"TOKEN": " "})
    settings = {"endpoint": "https://identity.example", "client": "c", "secret": {"environment": "S"}}
    with pytest.raises(Refused, match="secret for tokens is empty"):
        tokens_of(TokenSettings.model_validate(settings), {})
