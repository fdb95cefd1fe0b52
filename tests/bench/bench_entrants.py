"""Who takes part, by letter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bench_contestants import (
    FAUST_PREFIX,
    JAVA_PLAIN,
    JAVA_TUNED,
    KAFKA_STREAMS_PLAIN,
    KAFKA_STREAMS_TUNED,
    Contestant,
    aiokafka_command,
    build_kafka_streams,
    build_quix,
    faust_command,
    json_count,
    kafka_streams_command,
    quix_command,
)
from bench_fields import fields
from bench_many import clicks, places
from bench_processes import BenchFailure
from bench_sottovoce import sottovoce, sottovoce_windows


def entrants(letters: Sequence[str], cache: Path) -> dict[str, Contestant]:
    """Those who take part, by letter, built first where they need it."""
    known: dict[str, Callable[[], Contestant]] = {
        "a": lambda: Contestant("faust", "bare Faust agent", faust_command, prefix=FAUST_PREFIX),
        "b": lambda: Contestant("aiokafka", "bare aiokafka loop", aiokafka_command),
        "c": lambda: Contestant(
            "quix", "Quix Streams, RocksDB count", quix_command(build_quix(cache)), count_of=json_count
        ),
        "d": lambda: Contestant(
            "kafka-streams",
            "Kafka Streams, exactly once, tuned",
            kafka_streams_command(build_kafka_streams(cache), KAFKA_STREAMS_TUNED, JAVA_TUNED),
            count_of=json_count,
        ),
        "d0": lambda: Contestant(
            "kafka-streams-plain",
            "Kafka Streams, exactly once, as it comes",
            kafka_streams_command(build_kafka_streams(cache), KAFKA_STREAMS_PLAIN, JAVA_PLAIN),
            count_of=json_count,
        ),
        "e2": lambda: sottovoce(2),
        "e10": lambda: sottovoce(10),
        "e100": lambda: sottovoce(100),
        "w10": lambda: sottovoce_windows(10, "bisect"),
        "w100": lambda: sottovoce_windows(100, "bisect"),
        "z100": lambda: sottovoce_windows(100, "natural"),
        "f1": lambda: fields(1),
        "f5": lambda: fields(5),
        "f5oue": lambda: fields(5, "oue"),
        "g10000": places,
        "k41270": clicks,
    }
    unknown = [letter for letter in letters if letter not in known]
    if unknown:
        raise BenchFailure(f"unknown contestants {', '.join(unknown)}; there are {', '.join(known)}")
    return {letter: known[letter]() for letter in letters}
