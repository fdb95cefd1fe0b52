"""Pages of metrics beside a running pipeline, for commands that follow a topic: the text format of Prometheus, on
loopback unless told otherwise.
"""

from __future__ import annotations

import ipaddress
import math
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from stream.errors import Refused

_SECONDS: Final = 5.0
Sample = tuple[str, float]
"""Labels as they are written, and the value."""


def family(name: str, kind: str, text: str, samples: Sequence[Sample]) -> str:
    head = f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
    return head + "".join(f"{name}{labels} {_number(value)}\n" for labels, value in samples)


def labels_of(labels: Mapping[str, str]) -> str:
    """A backslash, a quote and a line's end are escaped, whatever a value is called."""
    escaped = {
        name: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name, value in labels.items()
    }
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}"


def _number(value: float) -> str:
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else repr(float(value))


class Page:
    """Answers GET /metrics with what was told to it last; `what` names whose metrics these are."""

    def __init__(self, host: str, port: int, what: str, text: str) -> None:
        self._text = text.encode()
        page = self

        class Handler(BaseHTTPRequestHandler):
            timeout = _SECONDS

            def do_GET(self) -> None:
                found = self.path.partition("?")[0] == "/metrics"
                body = page._text if found else b"404 Not Found\n"
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8" if found else "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Nothing: an address asked for is nobody's business."""

        try:
            self._server = ThreadingHTTPServer((str(_address(host, what)), port), Handler)
        except OSError as error:
            raise Refused(
                f"{what} cannot be served.",
                where=f"{host}, port {port}",
                why=error.strerror or type(error).__name__,
                fix="give --serve a free port, and --host an address of this machine; port 0 takes any free one",
            ) from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="page of metrics", daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def show(self, text: str) -> None:
        self._text = text.encode()

    def __enter__(self) -> Page:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _address(host: str, what: str) -> ipaddress.IPv4Address:
    try:
        return ipaddress.IPv4Address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        why, fix = "it is no IPv4 address", "write an address such as 127.0.0.1"
        raise Refused(f"{what} cannot be served.", f"--host {host}", why, fix) from None
