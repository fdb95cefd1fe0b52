"""Contestant: Quix Streams with a RocksDB count per user and its changelog, at least once (its default)."""

from __future__ import annotations

import os
from typing import Any

from quixstreams import Application, State

COUNT = "count"


def count_event(event: dict[str, Any], state: State[str, int]) -> dict[str, Any]:
    count = state.get(COUNT, 0) + 1
    state.set(COUNT, count)
    event[COUNT] = count
    return event


def main() -> None:
    app = Application(
        broker_address=os.environ["BENCH_BROKER"],
        consumer_group=os.environ["BENCH_GROUP"],
        auto_offset_reset="earliest",
        state_dir=os.environ["BENCH_FOLDER"],
        producer_extra_config={"linger.ms": 20, "batch.size": 256 * 1024},
        loglevel="WARNING",
    )
    source = app.topic(os.environ["BENCH_SOURCE"], key_deserializer="bytes", value_deserializer="json")
    sink = app.topic(os.environ["BENCH_SINK"], key_serializer="bytes", value_serializer="json")
    frame = app.dataframe(source)
    frame = frame.apply(count_event, stateful=True)
    frame.to_topic(sink)
    app.run()


if __name__ == "__main__":
    main()
