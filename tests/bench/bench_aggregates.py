"""Windows of aggregates over 100,000 users: how many events a second are carried out, seen from outside as the offsets
that the group has committed. Four aggregates of windows of a minute; events are a millisecond apart.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError
from bench_broker import Broker, drop_topics, make_topic
from bench_contestants import Heat
from bench_machine import await_quiet
from bench_meter import Observer, Progress, Result, follow, rate
from bench_processes import Child
from bench_sottovoce import COMMAND, HEAD, keys_of
from bench_traffic import Alphabet, draw_traffic, fill

NAME = "sottovoce-aggregates"
USERS = 100_000
EVENTS = 1_000_000
SETTINGS = (
    HEAD
    + """\
record:
  user: key
keys:
  file: {keys}
admin:
  port: 0
aggregate:
  window: 1m
  from: {start}
  each:
    people: {{count: users, epsilon: 0.2}}
    battery: {{mean: $.battery, low: 0, high: 100, grid: 1, epsilon: 0.3}}
    steps: {{sum: $.steps, low: 0, high: 20000, grid: 10, take: largest, epsilon: 0.3}}
    activity: {{histogram: $.activity, values: [{values}], epsilon: 0.2}}
  dependence: {{users: independent}}
  target: {{nats: unlimited, windows: 60}}
"""
)


class Carried(Observer):
    """Looks at the offsets that the group has committed."""

    def __init__(self, child: Child, broker: Broker, group: str) -> None:
        super().__init__(child, broker, f"{group}-raw")
        self._group = group
        self._admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)

    async def start(self) -> None:
        await super().start()
        await self._admin.start()

    async def stop(self) -> None:
        await super().stop()
        await self._admin.close()

    async def committed(self) -> int:
        try:
            found = await self._admin.list_consumer_group_offsets(self._group)
        except GroupCoordinatorNotAvailableError:
            return 0  # a new cluster has none before it was asked for one
        return sum(int(at.offset) for part, at in found.items() if at.offset > 0 and part.topic == f"{self._group}-raw")


async def measure_aggregates(broker: Broker, folder: Path, events: int, patience: float, progress: Progress) -> Result:
    group, alphabet = f"bench-{NAME}", Alphabet(10)
    heat = Heat(broker.bootstrap, f"{group}-raw", f"{group}-out", group, folder / group)
    heat.folder.mkdir()
    await make_topic(broker.bootstrap, heat.source)
    start = datetime.now(UTC).timestamp() // 60 * 60 - events // 1000 - 60
    await fill(broker.bootstrap, heat.source, draw_traffic(alphabet, events, USERS), USERS, lambda _: None)
    settings = heat.folder / "settings.yaml"
    settings.write_text(
        SETTINGS.format(
            group=group,
            bootstrap=heat.bootstrap,
            source=heat.source,
            sink=heat.sink,
            keys=keys_of(heat),
            start=datetime.fromtimestamp(start, UTC).isoformat(),
            values=", ".join(alphabet.json_texts),
        )
    )
    await await_quiet(patience)
    child = Child(NAME, [str(COMMAND), "run", str(settings)], heat.folder, heat.environment())
    observer = Carried(child, broker, group)
    await observer.start()
    try:
        first, middle, last = await follow(child, observer, events, whole=True, progress=progress)
        memory = child.memory_bytes()
    finally:
        await observer.stop()
        child.stop()
    await drop_topics(broker.bootstrap, group)
    measured = events * (1 - first.committed / last.committed)
    return Result(
        contestant=NAME,
        events=events,
        events_per_second=rate(first, last, events),
        warm_events_per_second=rate(middle, last, events),
        startup_seconds=first.at - child.started_at,
        cpu_microseconds_per_event=1e6 * (last.contestant_cpu - first.contestant_cpu) / measured,
        broker_cpu_microseconds_per_event=1e6 * (last.broker_cpu - first.broker_cpu) / measured,
        memory_bytes=memory,
        others_share_of_machine=(last.others_cpu - first.others_cpu) / ((last.at - first.at) * (os.cpu_count() or 1)),
    )
