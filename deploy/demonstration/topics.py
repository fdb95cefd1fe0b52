"""The topics of one demonstration: made before it, removed after it together with whatever else bears its name."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, replace

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import for_code
from aiokafka.protocol.admin import DeleteGroupsRequest

PREFIX = "sottovoce-demo-"
GROUP_EMPTY_SECONDS_MAX = 30.0
REPLICAS_MOST = 3
ANY_TIME = {"retention.ms": "-1", "message.timestamp.after.max.ms": str(2**63 - 1)}
"""Released records bear the time of their event: retention by age would remove old ones at once, and a broker refuses
by default what is more than an hour ahead of its clock."""


@dataclass(frozen=True)
class Names:
    """Unique, so that two demonstrations on one Kafka never meet."""

    pipeline: str
    partitions: int
    replicas: int
    raw: str

    @property
    def released(self) -> str:
        return f"{self.pipeline}-released"

    @property
    def dead_letters(self) -> str:
        return f"{self.pipeline}-dead-letters"

    @property
    def in_windows(self) -> Names:
        """A second pipeline that reads the same raw topic."""
        return replace(self, pipeline=f"{self.pipeline}-windows")


async def make(brokers: str, partitions: int, *, windows: bool) -> Names:
    """Makes the topics and returns when their partitions can be written."""
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        cluster = await admin.describe_cluster()
        pipeline = f"{PREFIX}{uuid.uuid4().hex[:10]}"
        names = Names(pipeline, partitions, min(REPLICAS_MOST, len(cluster["brokers"])), f"{pipeline}-raw")
        topics = [names.raw, names.released, names.dead_letters]
        if windows:
            topics += [names.in_windows.released, names.in_windows.dead_letters]
        await _create(admin, topics, partitions, names.replicas)
        return names
    finally:
        await admin.close()


async def make_missing(brokers: str, topic: str, partitions: int) -> None:
    """A topic that is there already stays as it is."""
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        if topic not in await admin.list_topics():
            cluster = await admin.describe_cluster()
            await _create(admin, [topic], partitions, min(REPLICAS_MOST, len(cluster["brokers"])))
    finally:
        await admin.close()


async def _create(admin: AIOKafkaAdminClient, topics: list[str], partitions: int, replicas: int) -> None:
    """Returns when their partitions can be written."""
    wanted = [NewTopic(topic, partitions, replicas, topic_configs=ANY_TIME) for topic in topics]
    for topic, error, *_ in (await admin.create_topics(wanted)).topic_errors:
        if error:
            raise for_code(error)(f"the topic {topic} cannot be made")
    while not all(_led(found, partitions) for found in await admin.describe_topics(topics)):
        await asyncio.sleep(0.1)


def _led(found: dict[str, object], partitions: int) -> bool:
    parts = found["partitions"]
    assert isinstance(parts, list)
    return found["error_code"] == 0 and len(parts) == partitions and all(part["leader"] >= 0 for part in parts)


async def remove(brokers: str, names: Names) -> list[str]:
    """Removes every topic and consumer group whose name begins with the pipeline's; returns what it removed."""
    admin = AIOKafkaAdminClient(bootstrap_servers=brokers)
    await admin.start()
    try:
        topics = sorted(topic for topic in await admin.list_topics() if topic.startswith(names.pipeline))
        await admin.delete_topics(topics)
        groups = sorted(group for group, _ in await admin.list_consumer_groups() if group.startswith(names.pipeline))
        for group in groups:
            await _remove_group(admin, group)
        return topics + groups
    finally:
        await admin.close()


async def _remove_group(admin: AIOKafkaAdminClient, group: str) -> None:
    """A static member leaves a group only when its session is over, and Kafka refuses to remove a group before that."""
    coordinator = await admin.find_coordinator(group)
    deadline = time.monotonic() + GROUP_EMPTY_SECONDS_MAX
    while True:
        # aiokafka's admin client knows the request, but has no method for it.
        answer = await admin._send_request(DeleteGroupsRequest([group]), coordinator)  # noqa: SLF001
        ((_, code),) = answer.results
        if code == 0 or time.monotonic() > deadline:
            if code != 0:
                raise for_code(code)(f"the consumer group {group} cannot be removed")
            return
        await asyncio.sleep(1.0)
