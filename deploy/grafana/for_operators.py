"""The operators' dashboard: does everything come through, how fast, and what does not."""

from __future__ import annotations

from typing import Final

from panels import EVERY, OF_EVENTS, Dashboard, Panel, Pipeline, Row, Shape
from queries import Query, facts, largest, mean, percentile, rate, recent, total

from stream.metrics import aggregates, crowd_table, table, work_table
from stream.metrics.window_progress import ProgressMetrics

WORK: Final = Row(
    "All workers: throughput and lag",
    EVERY,
    (
        Panel(
            "Input records by outcome",
            "Records a second that were carried out. Released, forecast, suppressed and dead-lettered add up to the "
            "input; of windows over all users: taken, repeated, dead-lettered, replayed.",
            (rate(table.EVENTS, "outcome"),),
            "reqps",
        ),
        Panel(
            "Lag by partition",
            "Raw records that wait. It grows where a worker is too slow or a partition has none.",
            (largest(work_table.LAG, "partition"),),
        ),
        Panel(
            "Longest wait without a commit",
            "More than a minute is an alert: records wait in a recovered partition and nothing is committed.",
            (largest(work_table.STALLED, "instance"),),
            "s",
            red_from=60,
        ),
        Panel(
            "Dead letters by reason",
            "Records a second that could not be released. The dead letters themselves say where, never the value.",
            (rate(table.DEAD_LETTERS, "reason"),),
            "reqps",
        ),
        Panel(
            "From begin to commit of a block",
            "A block is one transaction. Long ones point to the brokers.",
            (percentile(work_table.PUBLISH_SECONDS, 50), percentile(work_table.PUBLISH_SECONDS, 99)),
            "s",
        ),
        Panel(
            "Work on a block",
            "Parsing, stepping and formatting. A slow mechanism's blocks are cut to about a tenth of a second.",
            (percentile(work_table.COMPUTE_SECONDS, 50), percentile(work_table.COMPUTE_SECONDS, 99)),
            "s",
        ),
        Panel(
            "Records in a block",
            "The mean of all blocks. Small ones mean that the workers keep up.",
            (mean(work_table.BLOCK_EVENTS),),
            width=12,
        ),
        Panel(
            "Repeated, missing, waiting",
            "In the last hour: records read again and dropped, and offsets that the raw topic no longer held; "
            "missing ones were never released. Waiting ones stand sealed in their user's window.",
            (recent(table.REPEATED), recent(table.MISSING), total(table.WAITING_EVENTS)),
            width=12,
        ),
    ),
)

STATE: Final = Row(
    "All workers: health",
    EVERY,
    (
        Panel(
            "Ready",
            "1 where a worker has joined and recovered all its partitions.",
            (largest(work_table.READY, "instance"),),
            width=6,
        ),
        Panel(
            "Partitions",
            "Source partitions of each worker.",
            (largest(work_table.PARTITIONS, "instance"),),
            width=6,
        ),
        Panel(
            "Recovery",
            "How much of a partition's changelog is loaded; nothing of it is released below 1.",
            (largest(work_table.RECOVERY, "partition"),),
            "percentunit",
            width=6,
        ),
        Panel(
            "Restarts",
            "Fresh workers that supervisors have started; once is harmless, often in a row is an alert.",
            (largest(table.RESTARTS, "instance"),),
            shape=Shape.NUMBER,
            width=6,
        ),
        Panel(
            "What is running",
            "Two versions at once are fine while workers are renewed one by one.",
            (facts(table.BUILD_INFO),),
            shape=Shape.SHEET,
        ),
        Panel(
            "State",
            "Bytes of all user rows; 0 while fewer users than the floor are tracked.",
            (total(table.STATE_BYTES),),
            "bytes",
        ),
        Panel(
            "Users whose rows cannot be read",
            "Nothing is released for them.",
            (total(table.USERS_QUARANTINED),),
            shape=Shape.NUMBER,
            red_from=1,
        ),
    ),
)

EVENTS: Final = Row(
    "Releases one by one, or in windows of a user's events",
    OF_EVENTS,
    (
        Panel(
            "From a raw record's timestamp to its commit",
            "Timestamps are the producers'. Old events that are replayed show as old.",
            (percentile(work_table.EVENT_LATENCY, 50), percentile(work_table.EVENT_LATENCY, 99)),
            "s",
        ),
        Panel(
            "Fallbacks in the last hour",
            "Channels that could not be certified became forecasts; searches of `near` ended at their limit. Promises "
            "hold, utility falls.",
            (recent(table.UNCERTIFIED), recent(table.NEAR_CUT_SHORT)),
        ),
        Panel(
            "Users tracked and stopped",
            "Fewer than the small-count floor are shown as 0.",
            (total(table.USERS_TRACKED), total(table.USERS_STOPPED)),
        ),
    ),
)


def _progress(progress: ProgressMetrics) -> tuple[Panel, ...]:
    return (
        Panel(
            "From a window's end to its record",
            "Released: how long ago the latest window ended that has its record. Due: the most while all goes well.",
            (largest(progress.released_lag), largest(progress.due)),
            "s",
        ),
        Panel(
            "From a window's end until a partition closed it",
            "The partition on top holds back all others.",
            (largest(progress.closed_lag, "partition"),),
            "s",
        ),
        Panel(
            "Open windows by partition, and parts that wait",
            "Parts wait, sealed, until every partition has closed the same window.",
            (largest(progress.open, "partition").called("open in"), total(progress.waiting)),
        ),
    )


AGGREGATES: Final = Row(
    "Windows of aggregates",
    frozenset({Pipeline.AGGREGATES}),
    (
        *_progress(aggregates.AGGREGATE_PROGRESS),
        Panel(
            "Windows released and withheld",
            "Windows in the last hour, by reason where they were withheld.",
            (recent(aggregates.AGGREGATE_WINDOWS, "outcome", "reason"),),
            width=24,
        ),
    ),
)

CROWD_WINDOWS: Final = Row(
    "Windows of crowds",
    frozenset({Pipeline.CROWD_WINDOWS}),
    (
        *_progress(crowd_table.CROWD_PROGRESS),
        Panel(
            "Windows released and withheld",
            "Windows in the last hour, by reason where they were withheld.",
            (recent(crowd_table.CROWD_WINDOWS, "outcome", "reason"),),
            width=12,
        ),
        Panel(
            "Users of a window",
            "Of released windows; those of fewer users than the floor are left out.",
            (mean(crowd_table.CROWD_USERS),),
            width=12,
        ),
    ),
)


def _delay() -> tuple[Query, ...]:
    waited = [percentile(crowd_table.CROWD_DELAY, percent) for percent in (50, 99)]
    return (*waited, largest(crowd_table.CROWD_DELAY_LIMIT))


CROWD_DELAY: Final = Row(
    "Crowds of events that wait for each other",
    frozenset({Pipeline.CROWD_DELAY}),
    (
        Panel(
            "How long events wait for their crowd",
            "By the clock of the brokers. More than twice the limit is an alert.",
            _delay(),
            "s",
        ),
        Panel(
            "Events that wait",
            "They stand sealed.",
            (total(crowd_table.CROWD_WAITING),),
        ),
        Panel(
            "Events by outcome",
            "Events a second that went out in a new box (released), in an earlier one (reused), or without one.",
            (rate(crowd_table.CROWD_EVENTS, "outcome", "reason"),),
            "reqps",
        ),
        Panel(
            "Users of a crowd",
            "Of crowds that came out together; those of fewer users than the floor are left out.",
            (mean(crowd_table.CROWD_USERS),),
        ),
        Panel(
            "Information lost by a box",
            "0 for nothing, 1 for all.",
            (percentile(crowd_table.CROWD_LOSS, 50), percentile(crowd_table.CROWD_LOSS, 99)),
            "percentunit",
        ),
        Panel(
            "Clusters merged in the last hour",
            "Somebody in them was due and had no crowd. Many mean that crowds are forced together.",
            (recent(crowd_table.CROWD_MERGED),),
        ),
    ),
)

FOR_OPERATORS: Final = Dashboard(
    "operators",
    "Sottovoce: operation",
    "Whether everything comes through, how fast, and what does not. Rows that do not concern a pipeline stay empty.",
    (WORK, STATE, EVENTS, AGGREGATES, CROWD_WINDOWS, CROWD_DELAY),
)
