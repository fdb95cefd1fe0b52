"""Who takes part, and how each is built and started."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_processes import BenchFailure
from bench_traffic import Load

HERE = Path(__file__).resolve().parent
QUIX_PACKAGES = ("quixstreams==3.28.1",)
BUILD_WITHIN_SECONDS = 600
# A bare Faust agent passes on about 4,000 events a second: 100,000 take 25 s, the whole topic would take ten minutes.
FAUST_PREFIX = 100_000


@dataclass(frozen=True)
class Heat:
    """What one start of one contestant is given."""

    bootstrap: str
    source: str
    sink: str
    group: str
    folder: Path

    def environment(self) -> dict[str, str]:
        return {
            "BENCH_BROKER": self.bootstrap,
            "BENCH_SOURCE": self.source,
            "BENCH_SINK": self.sink,
            "BENCH_GROUP": self.group,
            "BENCH_FOLDER": str(self.folder),
        }


@dataclass(frozen=True)
class Contestant:
    """A way to start one, how many events it is given, and how to read the count of its user from what it wrote."""

    name: str
    title: str
    command: Callable[[Heat], list[str]]
    alphabet_size: int = 10
    prefix: int | None = None
    load: Load | None = None
    """What it reads instead of the events of an alphabet."""
    count_of: Callable[[Any], int] | None = None


def json_count(record: Any) -> int:
    return int(json.loads(record.value)["count"])


def build_quix(cache: Path) -> Path:
    """An environment of its own, because Quix Streams pins other versions than we do. Returns its interpreter."""
    folder = cache / "quix"
    python = folder / "bin" / "python"
    marker = folder / "installed.txt"
    if not marker.exists() or marker.read_text().split() != list(QUIX_PACKAGES):
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", *QUIX_PACKAGES])
        marker.write_text("\n".join(QUIX_PACKAGES))
    return python


def build_kafka_streams(cache: Path) -> Path:
    """The Java contestant and its libraries, by Maven. Returns the folder that holds them."""
    folder = cache / "kafka_streams"
    _run(["mvn", "-q", "-B", "-f", str(HERE / "kafka_streams" / "pom.xml"), f"-Dbench.build={folder}", "package"])
    return folder


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_WITHIN_SECONDS, check=False)
    if done.returncode != 0:
        raise BenchFailure(f"could not build: {' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def faust_command(heat: Heat) -> list[str]:
    return [sys.executable, str(HERE / "contestant_faust.py"), "worker", "--without-web", "--loglevel", "warn"]


def aiokafka_command(heat: Heat) -> list[str]:
    return [sys.executable, str(HERE / "contestant_aiokafka.py")]


def quix_command(python: Path) -> Callable[[Heat], list[str]]:
    return lambda heat: [str(python), str(HERE / "contestant_quix.py")]


# Exactly once commits every 100 ms unless told otherwise.
KAFKA_STREAMS_PLAIN: Mapping[str, str] = {
    "processing.guarantee": "exactly_once_v2",
    "num.stream.threads": "1",
    "replication.factor": "1",
    "group.instance.id": "the-only-one",
    "auto.offset.reset": "earliest",
}
# The best of what was tried: batches of 16 KiB, 256 KiB and 1 MB, linger of 5 and 100 ms, 500 to 10,000 records a poll,
# commits every 100 ms and 1 s, three garbage collectors.
KAFKA_STREAMS_TUNED: Mapping[str, str] = {
    **KAFKA_STREAMS_PLAIN,
    "consumer.max.poll.records": "10000",
    "producer.batch.size": "262144",
    "producer.linger.ms": "5",
}
JAVA_PLAIN = ("-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
JAVA_TUNED = (*JAVA_PLAIN, "-Xms1g", "-XX:+UseParallelGC")


def kafka_streams_command(
    folder: Path, settings: Mapping[str, str], java_options: Sequence[str]
) -> Callable[[Heat], list[str]]:
    def command(heat: Heat) -> list[str]:
        whole = {
            **settings,
            "application.id": heat.group,
            "bootstrap.servers": heat.bootstrap,
            "state.dir": str(heat.folder),
        }
        path = heat.folder / "streams.properties"
        path.write_text("".join(f"{name}={value}\n" for name, value in whole.items()))
        class_path = f"{folder / 'count-per-user.jar'}:{folder / 'lib'}/*"
        return ["java", *java_options, "-cp", class_path, "bench.CountPerUser", heat.source, heat.sink, str(path)]

    return command
