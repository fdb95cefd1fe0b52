"""The one broker every contestant uses: started by deploy/kafka, on free loopback ports, gone at the end."""

from __future__ import annotations

import sys
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient, NewTopic

sys.path.append(str(Path(__file__).resolve().parents[2] / "deploy" / "kafka"))

from broker import Broker

PARTITIONS = 4
# Nothing may be deleted or rolled while it is measured, however old the events say they are.
# `sottovoce run` demands that its topics take any time an event may bear; the same topics serve everyone.
TOPIC_SETTINGS = {
    "retention.ms": "-1",
    "segment.bytes": str(1 << 30),
    "message.timestamp.after.max.ms": str((1 << 63) - 1),
}
__all__ = ["PARTITIONS", "Broker", "drop_topics", "make_topic"]


async def make_topic(bootstrap: str, name: str, settings: dict[str, str] | None = None) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        whole = {**TOPIC_SETTINGS, **(settings or {})}
        await admin.create_topics([NewTopic(name, PARTITIONS, 1, topic_configs=whole)])
    finally:
        await admin.close()


async def drop_topics(bootstrap: str, containing: str) -> None:
    """Remove every topic that a contestant made: all bear the name of its group."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.delete_topics([name for name in await admin.list_topics() if containing in name])
    finally:
        await admin.close()
