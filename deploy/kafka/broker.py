"""A real Kafka broker (KRaft, one node, loopback only) that can be stopped, killed and started again on the same data.

    python deploy/kafka/broker.py [--port 9092] [--heap 512m] [--data FOLDER]

runs one in the foreground until Ctrl-C. From Python:

    with Broker() as broker:
        ...  # broker.bootstrap is "127.0.0.1:<port>"
"""

from __future__ import annotations

import argparse
import base64
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE))

import jars  # noqa: E402
import machine  # noqa: E402

READY = "Kafka Server started"
START_SECONDS_MAX = 90.0
STOP_SECONDS_MAX = 30.0
START_ATTEMPTS = 3

SETTINGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    # One node, so one copy of everything; few partitions, because each of the broker's own topics takes time to open.
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # A test waits for no group and may use sessions of one second.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    # A topic that somebody misspelt shall be an error, not a new topic.
    "auto.create.topics.enable": "false",
    # After a kill the node may register again only when its old session is over: 3 s, not 9, before a restart is ready.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.cleaner.dedupe.buffer.size": str(16 << 20),
    "log.segment.delete.delay.ms": "1000",
    # Released records bear the time of their event, which may be long ago: retention by age would remove them at once.
    "log.retention.ms": "-1",
}


class BrokerError(Exception):
    """The broker did not do what was asked; the text holds the end of its own log."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Broker:
    """One broker. Its data lives in a temporary folder that `close` removes, unless a folder is given."""

    def __init__(
        self,
        port: int | None = None,
        *,
        data: Path | None = None,
        heap: str = "512m",
        settings: Mapping[str, str] | None = None,
        listeners: Mapping[str, int] | None = None,
        users: Sequence[str] = (),
        java: Sequence[str] = (),
    ) -> None:
        """`listeners` are further ones and their ports, which the settings must describe; `users` have their passwords
        kept by the broker, each as kafka-storage's --add-scram takes it; `java` are options of its virtual machine.
        """
        self._listeners, self._users, self._options = dict(listeners or {}), tuple(users), tuple(java)
        self._chosen_port = port
        self._owns_folder = data is None
        self._folder = Path(tempfile.mkdtemp(prefix="sottovoce-kafka-")) if data is None else data.resolve()
        self._heap = heap
        self._settings = dict(settings or {})
        self._guard: subprocess.Popen[str] | None = None
        self._jars: Path | None = None
        self.pid: int | None = None
        self.port = port or free_port()
        self._controller_port = free_port()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log_file(self) -> Path:
        return self._folder / "broker.log"

    @property
    def running(self) -> bool:
        return self._guard is not None and self._guard.poll() is None

    def start(self) -> Self:
        """Starts it on its data and returns when it serves. The first start formats the data folder."""
        if self.running:
            return self
        self._jars = jars.kafka_jars()
        machine.ensure([machine.JAVA])
        fresh = not (self._folder / "logs" / "meta.properties").exists()
        for attempt in range(1, START_ATTEMPTS + 1):
            self._write_settings()
            if fresh and attempt == 1:
                self._format()
            try:
                self._launch()
            except BrokerError as error:
                # Between choosing a free port and opening it somebody else may have taken it.
                taken = "Address already in use" in str(error)
                if not (taken and fresh and self._chosen_port is None and attempt < START_ATTEMPTS):
                    raise
                self.port, self._controller_port = free_port(), free_port()
            else:
                break
        return self

    def stop(self) -> None:
        """Ends it as an operator would (SIGTERM), and waits."""
        self._end(signal.SIGTERM)

    def kill9(self) -> None:
        """Ends it as a power cut would."""
        self._end(signal.SIGKILL)

    def restart(self) -> Self:
        """The same port and the same data again, after whatever ended it."""
        self.stop()
        return self.start()

    def close(self) -> None:
        """Ends it and removes its data (a data folder that was given stays)."""
        if self._owns_folder:
            self.kill9()  # nothing in there will be read again
            shutil.rmtree(self._folder, ignore_errors=True)
        else:
            self.stop()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tool(self, main: str, *arguments: str) -> list[str]:
        """The command that runs one of Kafka's own tools, from the broker's jars."""
        command = self._java(main, *arguments, heap="128m")
        return [command[0], "-XX:TieredStopAtLevel=1", "-Xshare:auto", *command[1:]]

    def _write_settings(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        serving = [f"PLAINTEXT://127.0.0.1:{self.port}"]
        serving += [f"{name}://localhost:{port}" for name, port in self._listeners.items()]
        mine = {
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "listeners": ",".join([*serving, f"CONTROLLER://127.0.0.1:{self._controller_port}"]),
            "advertised.listeners": ",".join(serving),
            "log.dirs": str(self._folder / "logs"),
        }
        lines = [f"{name}={value}" for name, value in {**SETTINGS, **mine, **self._settings}.items()]
        (self._folder / "server.properties").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _java(self, main: str, *arguments: str, heap: str) -> list[str]:
        return [
            "java",
            f"-Xmx{heap}",
            f"-Xms{heap}",
            "-XX:+UseG1GC",
            *self._options,
            "-Djava.awt.headless=true",
            f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
            *("-cp", f"{self._jars}/*"),
            main,
            *arguments,
        ]

    def _format(self) -> None:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
        arguments = ["format", "--cluster-id", cluster, "--config", str(self._folder / "server.properties")]
        for user in self._users:
            arguments += ["--add-scram", user]
        quick = self.tool("kafka.tools.StorageTool", *arguments)
        answer = subprocess.run(quick, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if answer.returncode != 0:
            raise BrokerError(f"formatting the data folder failed:\n{answer.stdout}{answer.stderr}")

    def _launch(self) -> None:
        command = self._java("kafka.Kafka", str(self._folder / "server.properties"), heap=self._heap)
        with self.log_file.open("ab") as log:
            begin = log.tell()
            self._guard = subprocess.Popen(
                [sys.executable, str(HERE / "attached.py"), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._guard.stdout is not None
        self.pid = int(self._guard.stdout.readline())
        deadline = time.monotonic() + START_SECONDS_MAX
        while READY not in self._log_since(begin):
            if not self.running or time.monotonic() > deadline:
                self.kill9()
                raise BrokerError(f"the broker did not start; the end of its log:\n{self._log_since(begin)[-4000:]}")
            time.sleep(0.05)

    def _log_since(self, begin: int) -> str:
        with self.log_file.open("rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace")

    def _end(self, how: signal.Signals) -> None:
        guard, self._guard = self._guard, None
        if guard is None:
            return
        if guard.poll() is None and self.pid is not None:
            os.kill(self.pid, how)
        try:
            guard.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            guard.kill()
            guard.wait()
        assert guard.stdin is not None
        assert guard.stdout is not None
        guard.stdin.close()
        guard.stdout.close()
        self.pid = None


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a Kafka broker on loopback until Ctrl-C.")
    parser.add_argument("--port", type=int, help="default: a free one")
    parser.add_argument("--heap", default="1g", help="Java heap, for example 512m (default: %(default)s)")
    parser.add_argument(
        "--data", type=Path, help="keep the data in this folder (default: temporary, removed at the end)"
    )
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    try:
        with Broker(chosen.port, data=chosen.data, heap=chosen.heap) as broker:
            machine.say(f"ready on {broker.bootstrap} after {time.monotonic() - began:.1f} s (Ctrl-C ends it)")
            while broker.running:
                time.sleep(0.2)
            machine.say("the broker ended by itself; the end of its log:")
            machine.say(broker.log_file.read_text(encoding="utf-8", errors="replace")[-4000:])
            return 1
    except KeyboardInterrupt:
        return 0
    except (BrokerError, machine.MachineError) as error:
        machine.say(f"broker: {error}")
        return 2


if __name__ == "__main__":
    sys.exit(main())
