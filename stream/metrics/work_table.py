"""The metrics of a worker's blocks and of how far it has come; rows of `table`."""

from __future__ import annotations

from typing import Final

from stream.metrics.metric import Kind, Metric

BLOCK_EVENTS: Final = Metric(
    "sottovoce_block_events", Kind.HISTOGRAM, "events", "Input records in a block, which is one transaction."
)
COMPUTE_SECONDS: Final = Metric(
    "sottovoce_block_compute_seconds", Kind.HISTOGRAM, "seconds", "Time to parse, step and format one block."
)
PUBLISH_SECONDS: Final = Metric(
    "sottovoce_block_publish_seconds",
    Kind.HISTOGRAM,
    "seconds",
    "Time of one block's transaction, from begin to commit.",
)
EVENT_LATENCY: Final = Metric(
    "sottovoce_event_latency_seconds",
    Kind.HISTOGRAM,
    "seconds",
    "Time from a raw record's Kafka timestamp to its block's commit, read at up to 64 evenly spaced records a block.",
)
LAG: Final = Metric(
    "sottovoce_lag_records", Kind.GAUGE, "records", "Raw records that wait for this worker.", ("partition",)
)
STALLED: Final = Metric(
    "sottovoce_stalled_seconds",
    Kind.GAUGE,
    "seconds",
    "Longest time for which a recovered partition has had records waiting without a commit; 0 when none waits.",
)
RECOVERY: Final = Metric(
    "sottovoce_recovery_progress_ratio",
    Kind.GAUGE,
    "ratio",
    "How much of a partition's belief changelog is loaded; 1 when the partition serves.",
    ("partition",),
)
READY: Final = Metric(
    "sottovoce_worker_ready",
    Kind.GAUGE,
    "",
    "1 when the worker has joined and recovered every partition it has, else 0.",
)
PARTITIONS: Final = Metric(
    "sottovoce_assigned_partitions", Kind.GAUGE, "partitions", "Source partitions that this worker has."
)
