"""The Faust app: one source topic, one agent, one table that Faust believes it has recovered, and no web server."""

from typing import Any

import faust
from faust.app.base import BootStrategy
from faust.stores import memory
from faust.types import TP

from stream.engine.blocks import BlockScheduler
from stream.engine.consumer import Transport
from stream.engine.gate import Gate, gate_of
from stream.engine.plan import Plan

AGENT_NAME = "sottovoce-release"
TABLE_NAME = (
    "beliefs"  # Faust names the table's changelog <app>-<table>-changelog, which is the belief changelog's name
)
# Higher than any offset: the store tells Faust that it has everything, so that Faust's recovery has nothing to do.
EVERYTHING = 1 << 60
# A member's address is only used to route web requests, which there are none of; a fixed one lets a worker come back
# from another host under its old static membership.
NO_ADDRESS = "http://localhost"


class Boot(BootStrategy):
    """No web server whatever the settings or the environment say: Faust's shows table values to anybody who asks.

    No producer of Faust's either: whatever is written goes through a partition's transactional producer.
    """

    enable_web = False
    enable_kafka_producer = False


class BeliefStore(memory.Store[bytes, bytes]):
    """Holds nothing: stands where Faust calls between a partition's assignment and its first record."""

    def persisted_offset(self, tp: TP) -> int:  # noqa: ARG002 Faust's signature
        return EVERYTHING

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:  # noqa: ARG002 Faust's
        await gate_of(self.app).recovered()


class BeliefTable(faust.Table[bytes, bytes]):
    def _new_store_by_url(self, url: Any) -> BeliefStore:
        return BeliefStore(url, self.app, self, table_name=self.name, loop=self.loop)


class BlockApp(faust.App):
    BootStrategy = Boot

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        super().__init__(gate.plan.pipeline, **faust_settings(gate.plan))
        source = self.topic(gate.plan.topics.raw, key_serializer="raw", value_serializer="raw")
        self.Table(TABLE_NAME, key_type=bytes, value_type=bytes)
        self.agent(source, name=AGENT_NAME, concurrency=1)(self._take_blocks)

    async def _take_blocks(self, blocks: Any) -> None:
        async for event in blocks.events():
            self.gate.accept(event.value)

    def _crash(self, reason: BaseException) -> None:
        """Faust gives up in whichever thread found the reason, and tells nobody else."""
        self.gate.on_failure(reason)
        super()._crash(reason)

    def _new_transport(self) -> Transport:
        return Transport(self.conf.broker_consumer, self)

    def _create_directories(self) -> None:
        """Faust would make a folder for table files in the current directory."""


def faust_settings(plan: Plan) -> dict[str, Any]:
    return {
        "broker": [f"kafka://{broker}" for broker in plan.connection.brokers],
        "ConsumerScheduler": BlockScheduler,
        "Table": BeliefTable,
        "store": "memory://",
        "autodiscover": False,
        "canonical_url": NO_ADDRESS,
        "web_enabled": False,
        "consumer_group_instance_id": plan.instance_id,
        "broker_session_timeout": plan.session_timeout_ms / 1000,
        "broker_commit_interval": 60.0,
        "processing_guarantee": "at_least_once",
        "recovery_consistency_check": False,
        "reply_create_topic": False,
        "stream_recovery_delay": 0.0,
        "stream_wait_empty": False,
        "table_standby_replicas": 0,
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "worker_redirect_stdouts": False,
    }
