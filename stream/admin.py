"""The admin server of one worker: metrics, liveness, readiness and a status page, for reading only.

It listens on loopback unless told otherwise, answers GET and HEAD, closes every connection after one answer, and bounds
the size of a request, the time for it and the number of connections. It runs on the worker's own event loop: a stuck
loop does not answer at all, which every prober counts as a failure, and one that moves again says so on /livez.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import json
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NamedTuple

from stream.errors import Refused
from stream.metrics.families import exposition, registry_of
from stream.metrics.meter import Meter
from stream.metrics.page import status_page

_HEAD_BYTES_MAX: Final = 8_192
_CONNECTIONS_MAX: Final = 32
_BEAT_SECONDS: Final = 1.0
_METHODS: Final = ("GET", "HEAD")
_HEADERS: Final = (
    "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\nReferrer-Policy: no-referrer\r\n"
)
_WHY: Final = {
    errno.EADDRINUSE: "another program listens there already",
    errno.EACCES: "this user may not listen on that port",
    errno.EADDRNOTAVAIL: "this machine has no such address",
}

_log = logging.getLogger("sottovoce.admin")


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """Port 0 takes any free port; `AdminServer.url` tells which."""

    host: str = "127.0.0.1"
    port: int = 0
    stalled_after_seconds: float = 60.0
    """How long records may wait without a commit before the worker counts as dead."""
    loop_stuck_after_seconds: float = 15.0
    request_seconds: float = 5.0


class Answer(NamedTuple):
    status: HTTPStatus
    content_type: str
    body: bytes


class BadRequest(Exception):
    """What came is not a request that is answered here."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class AdminServer:
    def __init__(self, meter: Meter, settings: AdminSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._meter = meter
        self._settings = settings
        self._clock = clock
        self._registry = registry_of(meter)
        self._server: asyncio.Server | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._beat_at = clock()
        self._open: set[asyncio.Task[None]] = set()
        self._routes: Mapping[str, Callable[[str], Answer]] = {
            "/": self._page,
            "/metrics": self._metrics,
            "/livez": self._livez,
            "/readyz": self._readyz,
        }

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("the admin server was not started")
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def start(self) -> None:
        """Listen. An address that cannot be had is `Refused`, with what to change."""
        settings = self._settings
        address = _address(settings.host)
        try:
            self._server = await asyncio.start_server(
                self._accept, str(address), settings.port, limit=_HEAD_BYTES_MAX, backlog=_CONNECTIONS_MAX
            )
        except OSError as error:
            raise Refused(
                "The admin server cannot listen.",
                where=f"{settings.host}, port {settings.port}",
                why=_WHY.get(error.errno or 0, "the system refused the address"),
                fix="set the admin host and port to an address that is free here; port 0 takes any free port",
            ) from error
        if not address.is_loopback:
            _log.warning(
                "The admin server listens on %s, which other machines may reach, without a password or encryption. "
                "What it shows holds no user, but keep it inside a network that you trust.",
                self.url,
            )
        self._beat_at = self._clock()
        self._heartbeat = asyncio.create_task(self._beat(), name="admin heartbeat")

    async def stop(self) -> None:
        """Stop listening and drop what is open; may be called twice, or without a start."""
        server, self._server = self._server, None
        tasks = [*self._open, *([self._heartbeat] if self._heartbeat is not None else [])]
        self._heartbeat = None
        if server is not None:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if server is not None:
            await server.wait_closed()

    async def _beat(self) -> None:
        while True:
            self._beat_at = self._clock()
            await asyncio.sleep(_BEAT_SECONDS)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= _CONNECTIONS_MAX:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._converse(reader, writer), name="admin connection")
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._settings.request_seconds):
                writer.write(await self._respond(reader))
                await writer.drain()
                writer.write_eof()
                # Closing a connection with unread bytes resets it, and the answer may be lost on the way.
                while await reader.read(_HEAD_BYTES_MAX):
                    pass
        except (OSError, asyncio.IncompleteReadError):
            # Whoever is too slow or gone gets no answer; there is nobody to tell. A socket whose other end is gone may
            # fail in more ways than a ConnectionError: shutting down its writing side is ENOTCONN, a bare OSError.
            writer.transport.abort()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _respond(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            method, path, accept = _parse(head)
        except asyncio.LimitOverrunError:
            return _http(_plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE), with_body=True)
        except BadRequest as bad:
            return _http(_plain(bad.status), with_body=True)
        route = self._routes.get(path)
        answer = _plain(HTTPStatus.NOT_FOUND) if route is None else route(accept)
        return _http(answer, with_body=method == "GET")

    def _metrics(self, accept: str) -> Answer:
        body, content_type = exposition(self._registry, accept)
        return Answer(HTTPStatus.OK, content_type, body)

    def _livez(self, accept: str) -> Answer:  # noqa: ARG002
        reasons = [
            f"{stall.where} has had {stall.lag_records} records waiting and no commit for {stall.seconds:.0f} s"
            for stall in self._meter.progress.stalls()
            if stall.seconds > self._settings.stalled_after_seconds
        ]
        silent = self._clock() - self._beat_at
        if silent > self._settings.loop_stuck_after_seconds:
            reasons.append(f"the event loop stood still for {silent:.0f} s")
        return _verdict("alive", reasons)

    def _readyz(self, accept: str) -> Answer:  # noqa: ARG002
        return _verdict("ready", self._meter.progress.not_ready())

    def _page(self, accept: str) -> Answer:  # noqa: ARG002
        page = status_page(self._meter, self._settings.stalled_after_seconds)
        return Answer(HTTPStatus.OK, "text/html; charset=utf-8", page.encode())


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address and no name: a name may stand for several, and then it is not clear who can reach the server."""
    try:
        return ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError as error:
        raise Refused(
            "The admin server cannot listen.",
            where=f"admin host {host!r}",
            why="it is not an IP address",
            fix="write an address such as 127.0.0.1, ::1 or 0.0.0.0",
        ) from error


def _parse(head: bytes) -> tuple[str, str, str]:
    """Method, path without its query, and the Accept header."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1.") or not parts[1].startswith("/"):
        raise BadRequest(HTTPStatus.BAD_REQUEST)
    if parts[0] not in _METHODS:
        raise BadRequest(HTTPStatus.METHOD_NOT_ALLOWED)
    fields = [line.partition(":") for line in lines[1:]]
    accept = ",".join(value.strip() for name, _, value in fields if name.lower() == "accept")
    return parts[0], parts[1].partition("?")[0], accept


def _verdict(name: str, reasons: list[str]) -> Answer:
    status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
    return Answer(status, "application/json", json.dumps({name: not reasons, "reasons": reasons}).encode() + b"\n")


def _plain(status: HTTPStatus) -> Answer:
    return Answer(status, "text/plain; charset=utf-8", f"{status.value} {status.phrase}\n".encode())


def _http(answer: Answer, *, with_body: bool) -> bytes:
    allow = f"Allow: {', '.join(_METHODS)}\r\n" if answer.status is HTTPStatus.METHOD_NOT_ALLOWED else ""
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\nContent-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(answer.body)}\r\n{_HEADERS}{allow}\r\n"
    )
    return head.encode("latin-1") + (answer.body if with_body else b"")
