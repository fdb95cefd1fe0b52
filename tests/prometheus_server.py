"""Debian's Prometheus on loopback, with the project's own configuration and alert rules; it ends with the tests."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import machine
from broker import free_port
from live_worker import until
from ruamel.yaml import YAML
from worker import ATTACHED

SAMPLE: Final = Path(__file__).resolve().parents[1] / "deploy" / "prometheus" / "prometheus.yaml"
JOB: Final = "sottovoce"
_ANSWER_SECONDS: Final = 10.0


class Prometheus:
    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    async def values(self, expression: str) -> list[float]:
        """What an expression comes to now, of every series; what is not a number says nothing and is left out."""
        found = [float(each["value"][1]) for each in await self._asked("query", query=expression)]
        return [value for value in found if not math.isnan(value)]

    async def lines(self, expression: str, start: float, end: float) -> list[Any]:
        """The same for every second between."""
        return await self._asked("query_range", query=expression, start=str(start), end=str(end), step="1")

    async def answers(self) -> bool:
        try:
            return bool(await self.values("1"))
        except OSError:  # nobody listens yet, or 503 until it is ready
            return False

    async def scrapes(self) -> bool:
        """Whether the worker was read at least once."""
        return 1.0 in await self.values(f'up{{job="{JOB}"}}')

    async def _asked(self, what: str, **parameters: str) -> list[Any]:
        address = f"{self._address}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        answer = await asyncio.to_thread(_fetched, address)
        result = answer["data"]["result"]
        return [{"value": result}] if answer["data"]["resultType"] == "scalar" else list(result)


def _fetched(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(address, timeout=_ANSWER_SECONDS) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def configuration(folder: Path, targets: Sequence[str]) -> Path:
    """The sample that is shipped, but for other targets, every second."""
    document = YAML(typ="safe").load(SAMPLE)
    document["global"] |= {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    document["rule_files"] = [str(SAMPLE.with_name(name)) for name in document["rule_files"]]
    (scraped,) = document["scrape_configs"]
    assert scraped["job_name"] == JOB
    scraped["static_configs"] = [{"targets": list(targets)}]
    file = folder / "prometheus.yaml"
    YAML(typ="safe").dump(document, file)
    return file


@asynccontextmanager
async def watching(folder: Path, *targets: str) -> AsyncIterator[Prometheus]:
    """Has read the targets at least once when it is given."""
    machine.ensure([machine.PROMETHEUS])
    port, log = free_port(), folder / "prometheus.log"
    command = [
        "prometheus",
        f"--config.file={configuration(folder, targets)}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [sys.executable, str(ATTACHED), *command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said
        ) as process,
    ):
        assert process.stdin is not None
        try:
            prometheus = Prometheus(port)
            await until(prometheus.answers)
            await until(prometheus.scrapes)
            yield prometheus
        finally:
            process.stdin.close()
