"""Clients of the admin server that are gone before their answer: nobody is told, because there is nobody to tell."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from typing import Any

import pytest
from metering import meter_settings

from stream.admin import AdminServer, AdminSettings
from stream.metrics import Meter

RESET_AT_ONCE = struct.pack("ii", 1, 0)


def ask_and_reset(port: int, request: bytes) -> None:
    """Close with a reset, so that the server's next touch of the socket fails."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_ONCE)
        client.sendall(request)


@pytest.mark.parametrize("request_text", [b"GET /metrics HTTP/1.1\r\n\r\n", b"GET /met", b""])
async def test_a_client_that_resets_leaves_no_trace(request_text: bytes, caplog: pytest.LogCaptureFixture) -> None:
    left: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: left.append(context))
    caplog.set_level(logging.DEBUG)
    server = AdminServer(Meter(meter_settings()), AdminSettings(request_seconds=0.2))
    await server.start()
    port = int(server.url.rpartition(":")[2])
    for _ in range(20):
        ask_and_reset(port, request_text)
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.3)
    await server.stop()
    assert left == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_socket_that_fails_in_its_own_way_is_as_good_as_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: left.append(context))
    failed: list[bool] = []

    def not_connected(self: asyncio.StreamWriter) -> None:
        failed.append(True)
        raise OSError(107, "Transport endpoint is not connected")

    monkeypatch.setattr(asyncio.StreamWriter, "write_eof", not_connected)
    server = AdminServer(Meter(meter_settings()), AdminSettings())
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    writer.write(b"GET /readyz HTTP/1.1\r\n\r\n")
    await asyncio.wait({asyncio.create_task(reader.read())}, timeout=5)
    writer.close()
    await server.stop()
    assert (failed, left) == ([True], [])
