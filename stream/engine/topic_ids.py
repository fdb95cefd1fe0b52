"""A topic's own id, which a topic that was deleted and made again under the same name does not share.

aiokafka speaks Metadata up to version 5; ids came with version 10. This is version 12 (Kafka 3.1 and later), written
with aiokafka's own building blocks. The request never makes a topic, which aiokafka's own does wherever brokers allow
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from aiokafka.errors import TopicAuthorizationFailedError
from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Boolean, CompactArray, CompactString, Int16, Int32, Schema, TaggedFields

_UNKNOWN_TOPIC = 3
_FORBIDDEN = 29
_NO_ERROR = 0
_ANY_ID = UUID(int=0)


class _Uuid(AbstractType):  # type: ignore[misc]
    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: Any) -> UUID:
        return UUID(bytes=data.read(16))


class _MetadataResponseV12(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString("utf-8")),
                ("port", Int32),
                ("rack", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", CompactString("utf-8")),
                ("topic_id", _Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _MetadataRequestV12(RequestStruct):  # type: ignore[misc]
    FLEXIBLE_VERSION = True
    API_KEY = 3
    API_VERSION = 12
    RESPONSE_TYPE = _MetadataResponseV12
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(("topic_id", _Uuid), ("name", CompactString("utf-8")), ("tags", TaggedFields)),
        ),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class _MetadataRequest(Request[_MetadataRequestV12]):  # type: ignore[misc]
    API_KEY = 3

    def __init__(self, topics: Sequence[str]) -> None:
        self._topics = topics

    def build(self, request_struct_class: type[_MetadataRequestV12]) -> _MetadataRequestV12:
        return request_struct_class([(_ANY_ID, topic, {}) for topic in self._topics], False, False, {})


@dataclass(frozen=True, slots=True)
class TopicFacts:
    name: str
    id: UUID
    partitions: int
    led: bool
    """Whether every partition has a leader, so that it can be written and read."""


async def describe(client: Any, topics: Sequence[str]) -> dict[str, TopicFacts]:
    """The facts of those of these topics that exist. `client` is a bootstrapped `aiokafka.client.AIOKafkaClient`."""
    response = await client.send(client.get_random_node(), _MetadataRequest(topics))
    facts = {}
    for error, name, topic_id, _, partitions, *_ in response.topics:
        if error == _UNKNOWN_TOPIC:
            continue
        if error == _FORBIDDEN:
            raise TopicAuthorizationFailedError(name)
        led = error == _NO_ERROR and all(leader >= 0 for _, _, leader, *_ in partitions)
        facts[name] = TopicFacts(name, topic_id, len(partitions), led)
    return facts
