"""Contestant: a bare Faust agent. It parses each event, passes it on, keeps no state."""

from __future__ import annotations

import os
from typing import Any

import faust
from faust.types import StreamT

app = faust.App(
    os.environ["BENCH_GROUP"],
    broker=f"kafka://{os.environ['BENCH_BROKER']}",
    store="memory://",
    datadir=os.environ["BENCH_FOLDER"],
    topic_partitions=4,
    topic_replication_factor=1,
    stream_wait_empty=False,
    web_enabled=False,
)
source = app.topic(os.environ["BENCH_SOURCE"], key_serializer="raw", value_serializer="json")
sink = app.topic(os.environ["BENCH_SINK"], key_serializer="raw", value_serializer="json")


@app.agent(source, name="pass-on")
async def pass_on(stream: StreamT[Any]) -> None:
    async for key, event in stream.items():
        await sink.send(key=key, value=event)


if __name__ == "__main__":
    app.main()
