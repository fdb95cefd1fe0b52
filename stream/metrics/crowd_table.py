"""The metrics of crowds; rows of `table`. No value, nobody, and of few people not even how many."""

from __future__ import annotations

from typing import Final

from stream.metrics.metric import Kind, Metric
from stream.metrics.window_progress import ProgressMetrics

CROWD_WINDOWS: Final = Metric(
    "sottovoce_crowd_windows_total",
    Kind.COUNTER,
    "windows",
    "Windows of crowds that this worker has given their record: released, or withheld for what everybody may know.",
    ("outcome", "reason"),
)
CROWD_TOPPED_UP: Final = Metric(
    "sottovoce_crowd_topped_up_windows_total",
    Kind.COUNTER,
    "windows",
    "Windows among the released ones that have noise, so that they fit the target.",
)
CROWD_USERS: Final = Metric(
    "sottovoce_crowd_group_users",
    Kind.HISTOGRAM,
    "users",
    "How many users a released window or crowd has; those of fewer than the floor are left out.",
)
CROWD_DELTA: Final = Metric(
    "sottovoce_crowd_window_delta",
    Kind.GAUGE,
    "",
    "The delta of the latest released window at the target's epsilon, before each adversary that is declared.",
    ("adversary",),
)
CROWD_EPSILON: Final = Metric(
    "sottovoce_crowd_window_epsilon_nats",
    Kind.GAUGE,
    "nats",
    "What the latest released window tells about one person's value at most but for the target's delta, before each "
    "adversary that is declared.",
    ("adversary",),
)
CROWD_WORST: Final = Metric(
    "sottovoce_crowd_worst_window_delta",
    Kind.GAUGE,
    "",
    "The largest delta, before any adversary, of all windows that this worker has released.",
)
CROWD_TOTAL: Final = Metric(
    "sottovoce_crowd_total_delta",
    Kind.GAUGE,
    "",
    "The delta at the target's epsilon of the windows of the target together, up to the latest released one.",
)
CROWD_TARGET_DELTA: Final = Metric(
    "sottovoce_crowd_target_delta",
    Kind.GAUGE,
    "",
    "The most that this delta may be; absent where nothing is promised but k.",
)
CROWD_TARGET_EPSILON: Final = Metric(
    "sottovoce_crowd_target_epsilon_nats",
    Kind.GAUGE,
    "nats",
    "The epsilon at which deltas are told; absent where nothing is promised but k.",
)
CROWD_CROWDS: Final = Metric(
    "sottovoce_crowd_boxes_total",
    Kind.COUNTER,
    "boxes",
    "Records with a box, or without one for a reason: released, reused (an earlier crowd's box once more) or withheld.",
    ("outcome", "reason"),
)
CROWD_EVENTS: Final = Metric(
    "sottovoce_crowd_events_total",
    Kind.COUNTER,
    "events",
    "Events that went out of a delay, in a box (released, reused) or without one (withheld).",
    ("outcome", "reason"),
)
CROWD_MERGED: Final = Metric(
    "sottovoce_crowd_merged_clusters_total",
    Kind.COUNTER,
    "clusters",
    "Clusters that were merged into others because somebody in them was due and had no crowd.",
)
CROWD_LOSS: Final = Metric(
    "sottovoce_crowd_loss_ratio",
    Kind.HISTOGRAM,
    "ratio",
    "Information loss: of each crowd that comes out of a delay, of windows the mean over theirs; 0 nothing, 1 all.",
)
CROWD_SUPPRESSED: Final = Metric(
    "sottovoce_crowd_suppressed_users_total",
    Kind.COUNTER,
    "users",
    "Users of released windows who are in none of their crowds; fewer than the floor are shown as 0.",
)
CROWD_DELAY: Final = Metric(
    "sottovoce_crowd_delay_seconds",
    Kind.HISTOGRAM,
    "seconds",
    "How long events have waited for their crowd, by the clock of the brokers.",
)
CROWD_DELAY_LIMIT: Final = Metric(
    "sottovoce_crowd_delay_limit_seconds",
    Kind.GAUGE,
    "seconds",
    "How long an event waits at most while all goes well.",
)
CROWD_WAITING: Final = Metric(
    "sottovoce_crowd_waiting_events", Kind.GAUGE, "events", "Events that wait, sealed, for their crowd."
)
CROWD_OPEN: Final = Metric(
    "sottovoce_crowd_open_windows",
    Kind.GAUGE,
    "windows",
    "Windows of a partition from the first that is open to the one that its events have reached.",
    ("partition",),
)
CROWD_CLOSED_LAG: Final = Metric(
    "sottovoce_crowd_closed_lag_seconds",
    Kind.GAUGE,
    "seconds",
    "How long ago the windows ended that a partition has closed; a silent one stays within window, lateness and grace.",
    ("partition",),
)
CROWD_RELEASED_LAG: Final = Metric(
    "sottovoce_crowd_released_lag_seconds",
    Kind.GAUGE,
    "seconds",
    "How long ago the latest window ended that has its record, of the partition that is least far.",
)
CROWD_DUE: Final = Metric(
    "sottovoce_crowd_due_lag_seconds",
    Kind.GAUGE,
    "seconds",
    "How long after its end a window has its record at the latest while all goes well: lateness and grace, and up to "
    "one more window until the next one ends.",
)
CROWD_PARTS: Final = Metric(
    "sottovoce_crowd_waiting_parts",
    Kind.GAUGE,
    "parts",
    "Parts of windows that wait, sealed, for other partitions to close the same windows.",
)
CROWD_PROGRESS: Final = ProgressMetrics(CROWD_OPEN, CROWD_CLOSED_LAG, CROWD_RELEASED_LAG, CROWD_DUE, CROWD_PARTS)

CROWD_METRICS: Final = (
    CROWD_WINDOWS,
    CROWD_TOPPED_UP,
    CROWD_USERS,
    CROWD_DELTA,
    CROWD_EPSILON,
    CROWD_WORST,
    CROWD_TOTAL,
    CROWD_TARGET_DELTA,
    CROWD_TARGET_EPSILON,
    CROWD_CROWDS,
    CROWD_EVENTS,
    CROWD_LOSS,
    CROWD_SUPPRESSED,
    CROWD_DELAY,
    CROWD_MERGED,
    CROWD_DELAY_LIMIT,
    CROWD_WAITING,
    *CROWD_PROGRESS,
)
