"""`deploy/demo` from beginning to end: it feeds, shows, audits, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from broker import Broker

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
DEMO = Path(__file__).resolve().parents[2] / "deploy" / "demo"
SMALL = ("--rate", "4000", "--phones", "100")


def begin(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Its temporary files go to a folder of the test, so that what it leaves can be seen."""
    return subprocess.Popen(
        [str(DEMO), *SMALL, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )


def check_story(said: str) -> None:
    views = re.findall(r"^ *\d+ s \| +[\d,]+ \| +([\d,]+) \|", said, re.MULTILINE)
    assert views, f"no view was shown:\n{said}"
    assert int(views[-1].replace(",", "")) > 1_000, said
    assert "sottovoce audit" in said, said


async def names_on(broker: Broker) -> set[str]:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    try:
        groups = {group for group, _ in await admin.list_consumer_groups()}
        return {name for name in groups | set(await admin.list_topics()) if name.startswith("sottovoce-demo-")}
    finally:
        await admin.close()


def test_with_a_kafka_of_its_own(tmp_path: Path) -> None:
    demo = begin(tmp_path, "--seconds", "3", "--windows", "5")
    said, _ = demo.communicate(timeout=280)
    assert demo.returncode == 0, said
    check_story(said)
    assert said.count("verdict: AGREE") == 2, said
    assert "windows of 5: " in said, said
    assert list(tmp_path.iterdir()) == []


async def test_ctrl_c_on_an_existing_kafka_still_brings_the_verdict(broker: Broker, tmp_path: Path) -> None:
    demo = begin(tmp_path, "--brokers", broker.bootstrap)
    assert demo.stdout is not None
    said = ""
    while not re.search(r"^ +2 s \|", said, re.MULTILINE):
        told = demo.stdout.readline()
        assert told, said
        said += told
    assert await names_on(broker) != set()
    demo.send_signal(signal.SIGINT)
    rest, _ = demo.communicate(timeout=200)
    assert demo.returncode == 0, said + rest
    check_story(said + rest)
    assert list(tmp_path.iterdir()) == []
    assert await names_on(broker) == set()


def test_a_killed_demo_takes_its_processes_along(tmp_path: Path) -> None:
    demo = begin(tmp_path, "--seconds", "100")
    assert demo.stdout is not None
    while not demo.stdout.readline().startswith("    1 s |"):
        assert demo.poll() is None
    assert processes_with(tmp_path) != set()
    demo.kill()
    demo.communicate()
    deadline = time.monotonic() + 20
    while processes_with(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_with(tmp_path) == set()


def processes_with(folder: Path) -> set[str]:
    """Processes whose command line names the folder: the broker by its data, the worker by its settings."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:  # gone between listing and reading
            continue
        if str(folder).encode() in command:
            found.add(process.name)
    return found
