"""The admin server: what it answers, and what it does not let anybody do to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator

import pytest
from metering import heads_of, meter_settings

from beliefs.rounding import UNITS_PER_NAT
from stream.admin import AdminServer, AdminSettings
from stream.errors import Refused
from stream.metrics import Meter

CANARY = "user-4711"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def meter(clock: Clock) -> Meter:
    return Meter(meter_settings(pipeline="<b>phones</b>"), clock)


@pytest.fixture
async def server(meter: Meter, clock: Clock) -> AsyncIterator[AdminServer]:
    server = AdminServer(meter, AdminSettings(request_seconds=0.5), clock)
    await server.start()
    yield server
    await server.stop()


async def send(server: AdminServer, raw: bytes) -> bytes:
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(raw)
    try:
        return await reader.read()
    finally:
        await hang_up(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def ask(server: AdminServer, path: str, method: str = "GET", accept: str = "*/*") -> tuple[int, str, str]:
    answer = await send(server, f"{method} {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n".encode())
    head, _, body = answer.decode().partition("\r\n\r\n")
    return int(head.split(" ")[1]), head, body


async def test_metrics_in_both_formats(server: AdminServer) -> None:
    status, head, body = await ask(server, "/metrics")
    assert status == 200
    assert "text/plain; version=0.0.4" in head
    assert "sottovoce_events_total" in body
    _, head, body = await ask(server, "/metrics?x=1", accept="application/openmetrics-text;version=1.0.0")
    assert "application/openmetrics-text" in head
    assert body.endswith("# EOF\n")


async def test_readiness_follows_joining_and_recovery(server: AdminServer, meter: Meter) -> None:
    status, _, body = await ask(server, "/readyz")
    assert (status, json.loads(body)["reasons"]) == (503, ["the worker has not joined its consumer group"])
    meter.progress.joined = True
    meter.assigned(4)
    status, _, body = await ask(server, "/readyz")
    assert (status, json.loads(body)["reasons"]) == (503, ["partition 4 is being recovered, 0% done"])
    meter.progress.recovered(4)
    status, _, body = await ask(server, "/readyz")
    assert (status, json.loads(body)) == (200, {"ready": True, "reasons": []})


async def test_liveness_is_progress_against_lag(server: AdminServer, meter: Meter, clock: Clock) -> None:
    meter.assigned(0)
    meter.progress.recovered(0)
    clock.now += 0.0
    assert (await ask(server, "/livez"))[0] == 200
    meter.progress.lag(0, 7)
    clock.now += 14  # within the time for a stuck loop, whose heartbeat this clock does not move
    assert (await ask(server, "/livez"))[0] == 200
    clock.now += 47
    status, _, body = await ask(server, "/livez")
    assert status == 503
    assert "partition 0 has had 7 records waiting and no commit for 61 s" in json.loads(body)["reasons"]


async def test_a_loop_that_stood_still_says_so(server: AdminServer, clock: Clock) -> None:
    clock.now += 16
    status, _, body = await ask(server, "/livez")
    assert (status, json.loads(body)["reasons"]) == (503, ["the event loop stood still for 16 s"])


async def test_the_status_page_is_escaped_and_complete(server: AdminServer, meter: Meter) -> None:
    meter.progress.joined = True
    meter.assigned(1)
    meter.loaded(1, heads_of([(3 * UNITS_PER_NAT, UNITS_PER_NAT)] * 12))
    meter.progress.recovering(1, 1, 4)
    status, head, body = await ask(server, "/")
    assert status == 200
    assert "default-src 'none'" in head and "frame-ancestors 'none'" in head and "script-src" not in head
    assert "<b>phones</b>" not in body
    assert "&lt;b&gt;phones&lt;/b&gt;" in body
    for text in ("optimal", "1:aabbccdd", "recovering, 25%", "30.0%", ">3.25<", "not ready"):
        assert text in body
    assert "<script" not in body
    assert "src=" not in body


async def test_few_users_show_nothing(server: AdminServer, meter: Meter) -> None:
    meter.loaded(1, heads_of([(3 * UNITS_PER_NAT, UNITS_PER_NAT)] * 3))
    _, _, body = await ask(server, "/")
    assert "fewer than 10 users are tracked" in body
    assert "30.0%" not in body


async def test_head_has_the_length_and_no_body(server: AdminServer) -> None:
    status, head, body = await ask(server, "/readyz", method="HEAD")
    assert (status, body) == (503, "")
    assert "Content-Length: 0" not in head


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"])
async def test_only_reading_is_allowed(server: AdminServer, method: str) -> None:
    status, head, _ = await ask(server, "/metrics", method=method)
    assert status == 405
    assert "Allow: GET, HEAD" in head


@pytest.mark.parametrize("path", ["/table", "/metrics/", "/../etc/passwd", f"/{CANARY}"])
async def test_nothing_else_is_served_and_nothing_is_echoed(server: AdminServer, path: str) -> None:
    status, _, body = await ask(server, path)
    assert (status, body) == (404, "404 Not Found\n")


@pytest.mark.parametrize(
    "raw",
    [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / SPDY/3\r\n\r\n", b"GET http://x/ HTTP/1.1\r\n\r\n", b"\xff\xfe\x00\r\n\r\n"],
)
async def test_what_is_no_request_is_refused(server: AdminServer, raw: bytes) -> None:
    assert (await send(server, raw)).startswith(b"HTTP/1.1 400 ")


async def test_a_request_is_bounded_in_size(server: AdminServer) -> None:
    answer = await send(server, b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000 + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_request_is_bounded_in_time(server: AdminServer) -> None:
    answer = b""
    async with asyncio.timeout(5):
        with contextlib.suppress(ConnectionError):
            answer = await send(server, b"GET / HTTP/1.1\r\n")
    assert answer == b""
    assert (await ask(server, "/livez"))[0] == 200


async def test_connections_are_bounded_and_the_others_still_served(meter: Meter, clock: Clock) -> None:
    """Idle ones are given more time than a machine under load takes to open all of them."""
    server = AdminServer(meter, AdminSettings(request_seconds=60.0), clock)
    await server.start()
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    idle = [await asyncio.open_connection(host, int(port)) for _ in range(32)]
    await asyncio.sleep(0.05)
    answer = b""
    with contextlib.suppress(ConnectionError):
        answer = await send(server, b"GET /livez HTTP/1.1\r\n\r\n")
    for _, writer in idle:
        await hang_up(writer)
    assert answer == b""
    await asyncio.sleep(0.05)
    assert (await ask(server, "/livez"))[0] == 200
    await server.stop()


async def test_a_busy_port_is_refused_with_what_to_do(server: AdminServer, meter: Meter) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(Refused) as refusal:
        await AdminServer(meter, AdminSettings(port=port)).start()
    assert f"port {port}" in refusal.value.where
    assert refusal.value.why == "another program listens there already"
    assert "port 0" in refusal.value.fix


@pytest.mark.parametrize("host", ["example", "localhost.", "", "300.1.1.1"])
async def test_a_host_must_be_an_address(meter: Meter, host: str) -> None:
    with pytest.raises(Refused, match="not an IP address"):
        await AdminServer(meter, AdminSettings(host=host)).start()


async def test_beyond_loopback_is_allowed_and_said_aloud(meter: Meter, caplog: pytest.LogCaptureFixture) -> None:
    for host, warnings in (("localhost", 0), ("0.0.0.0", 1)):
        caplog.clear()
        server = AdminServer(meter, AdminSettings(host=host))
        with caplog.at_level(logging.WARNING):
            await server.start()
        await server.stop()
        assert len(caplog.records) == warnings


async def test_stopping_drops_what_is_open(meter: Meter, caplog: pytest.LogCaptureFixture) -> None:
    server = AdminServer(meter, AdminSettings())
    await server.start()
    host, _, port = server.url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await asyncio.sleep(0.05)
    async with asyncio.timeout(2):
        await server.stop()
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
    await hang_up(writer)
    assert caplog.records == []


async def test_stopping_twice_or_without_a_start_is_harmless(meter: Meter) -> None:
    server = AdminServer(meter, AdminSettings())
    await server.stop()
    await server.start()
    await server.stop()
    await server.stop()
    with pytest.raises(RuntimeError, match="not started"):
        assert server.url
