"""Writes the rows of a CSV file into a topic, as JSON under their users' keys: what a device or a service would do.

    python deploy/demonstration/produce.py activities.csv --key user --topic phones.raw --brokers 127.0.0.1:9092
    python deploy/demonstration/produce.py activities.csv > activities.jsonl

Without a topic the records are printed, one a line. A topic that is not there is made.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson
import topics
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

PARTITIONS = 4
TOLD_EVERY = 50_000

Row = dict[str, str]


class Unusable(Exception):
    """The file cannot be written into a topic; the text says why."""


def rows(file: Path, key: str | None) -> Iterator[Row]:
    """Each row by the names of the first line; a row that does not fit it is refused, not guessed at."""
    with file.open(encoding="utf-8", newline="") as text:
        table = csv.DictReader(text, strict=True)
        if table.fieldnames is None:
            raise Unusable(f"{file}: it is empty; its first line must name the columns")
        if key is not None and key not in table.fieldnames:
            raise Unusable(f"{file}: its first line names no column {key}, but {', '.join(table.fieldnames)}")
        for row in table:
            if None in row or None in row.values():
                raise Unusable(f"{file}, line {table.line_num}: it has not as many fields as the first line")
            yield row


async def write(brokers: str, topic: str, key: str, file: Path) -> int:
    """How many records the brokers have acknowledged. Equal keys go to one partition, in the order of the file."""
    await topics.make_missing(brokers, topic, PARTITIONS)
    producer = AIOKafkaProducer(bootstrap_servers=brokers, acks="all", linger_ms=5, enable_idempotence=True)
    await producer.start()
    try:
        sent, written = [], 0
        for row in rows(file, key):
            sent.append(await producer.send(topic, orjson.dumps(row), row[key].encode()))
            written += 1
            if written % TOLD_EVERY == 0:
                await asyncio.gather(*sent)
                sent.clear()
                print(f"{written:,} records written so far", file=sys.stderr)
        await asyncio.gather(*sent)
    finally:
        await producer.stop()
    return written


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Write the rows of a CSV file into a topic, as JSON.")
    parser.add_argument("file", type=Path, help="a CSV file whose first line names the columns")
    parser.add_argument("--topic", help="the topic; without it the records are printed")
    parser.add_argument("--key", help="the column that becomes the records' key: the user")
    parser.add_argument("--brokers", help="host:port[,host:port...], without encryption or login")
    chosen = parser.parse_args(arguments)
    if len({chosen.topic is None, chosen.key is None, chosen.brokers is None}) > 1:
        parser.error("--topic, --key and --brokers go together")
    try:
        if chosen.topic is None:
            for row in rows(chosen.file, None):
                print(orjson.dumps(row).decode())
        else:
            written = asyncio.run(write(chosen.brokers, chosen.topic, chosen.key, chosen.file))
            print(f"{written:,} records written to {chosen.topic}")
    except (Unusable, csv.Error, OSError, UnicodeDecodeError, KafkaError) as error:
        print(f"produce: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
