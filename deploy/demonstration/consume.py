"""Prints the committed records of a topic, each as one line of JSON: key, value and headers.

python deploy/demonstration/consume.py phones.released --brokers 127.0.0.1:9092 --most 3
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError


class Missing(Exception):
    """There is nothing to read; the text says what is missing."""


async def partitions_of(brokers: str, topic: str) -> list[TopicPartition]:
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        (found,) = await admin.describe_topics([topic])
    finally:
        await admin.close()
    if found["error_code"]:
        raise Missing(f"there is no topic {topic} on {brokers}")
    return sorted(TopicPartition(topic, part["partition"]) for part in found["partitions"])


async def show(brokers: str, topic: str, most: int | None) -> int:
    """Prints what was there when it began, partition by partition; returns how many that are."""
    parts = await partitions_of(brokers, topic)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=brokers,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        group_id=None,
    )
    await consumer.start()
    shown = 0
    try:
        ends = await consumer.end_offsets(parts)
        for part in parts:
            consumer.assign([part])
            while await consumer.position(part) < ends[part]:
                for record in (await consumer.getmany(timeout_ms=200)).get(part, []):
                    if shown == most:
                        return shown
                    if record.offset < ends[part]:
                        print(line_of(record))
                        shown += 1
    finally:
        await consumer.stop()
    return shown


def line_of(record: Any) -> str:
    """Bytes that are no text are shown with replacement characters: this is for people."""
    headers = {name: value.decode(errors="replace") for name, value in record.headers}
    key = None if record.key is None else record.key.decode(errors="replace")
    try:
        value = None if record.value is None else orjson.loads(record.value)
    except orjson.JSONDecodeError:
        value = record.value.decode(errors="replace")
    return orjson.dumps({"key": key, "value": value, "headers": headers}).decode()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Print the committed records of a topic, one a line.")
    parser.add_argument("topic", help="the topic")
    parser.add_argument("--brokers", required=True, help="host:port[,host:port...], without encryption or login")
    parser.add_argument("--most", type=int, help="stop after so many (default: all that are there)")
    chosen = parser.parse_args(arguments)
    try:
        asyncio.run(show(chosen.brokers, chosen.topic, chosen.most))
    except (Missing, KafkaError) as error:
        print(f"consume: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
