"""Reads the released topic as any downstream consumer would, and compares each release with what really happened."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition
from phones import ACTIVITIES, phone_of
from record_of_truth import Agreement, RecordOfTruth

FETCH_BYTES = 2 << 20


class Reader:
    """Counts what came back, and how much of it says what the phone really did."""

    def __init__(self, brokers: str, topic: str, partitions: int, truth: RecordOfTruth) -> None:
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=brokers,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            group_id=None,
            max_partition_fetch_bytes=FETCH_BYTES,
        )
        self._parts = [TopicPartition(topic, number) for number in range(partitions)]
        self._truth = truth
        self._codes = {name: code for code, name in enumerate(ACTIVITIES)}
        self.seen = 0
        self.agreement = Agreement()
        self.fields: set[str] = set()

    async def read(self) -> None:
        """Until cancelled."""
        try:
            await self._consumer.start()
            self._consumer.assign(self._parts)
            while True:
                fetched = await self._consumer.getmany(timeout_ms=200, max_records=4_000)
                for records in fetched.values():
                    self._take(records)
                # The feeder and the view share this thread.
                await asyncio.sleep(0)
        finally:
            await self._consumer.stop()

    def _take(self, records: list[object]) -> None:
        phones, sequences, codes = [], [], []
        event: dict[str, Any] = {}
        for record in records:
            event = orjson.loads(record.value)  # type: ignore[attr-defined]
            phones.append(phone_of(record.key))  # type: ignore[attr-defined]
            sequences.append(event["sequence"])
            codes.append(self._codes[event["activity"]])
        self.fields = set(event)
        compared = self._truth.compare(np.array(phones), np.array(sequences), np.array(codes, dtype=np.uint8))
        self.agreement = self.agreement.plus(compared)
        self.seen += len(records)
