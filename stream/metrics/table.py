"""Every metric that leaves a worker: name, kind, unit, labels and what it says. There is no other list.

Names start with `sottovoce_` and end with their unit. No label ever names a user, and there are no exemplars. Where a
number counts users, fewer than the small-count floor are not shown; each such help text says so.
"""

from __future__ import annotations

from typing import Final

from stream.metrics.aggregates import (
    AGGREGATE_CLOSED_LAG,
    AGGREGATE_DUE,
    AGGREGATE_LEAK,
    AGGREGATE_LOSS,
    AGGREGATE_NOISE,
    AGGREGATE_OPEN,
    AGGREGATE_RELEASED_LAG,
    AGGREGATE_TARGET,
    AGGREGATE_TOPPED_UP,
    AGGREGATE_TOTAL,
    AGGREGATE_WAITING,
    AGGREGATE_WINDOWS,
)
from stream.metrics.crowd_table import CROWD_METRICS
from stream.metrics.fields import FIELD_CAP, FIELD_REALISED, FIELD_REPORTS, FIELD_SPENT, FIELD_TOTAL
from stream.metrics.learning import (
    LEARNING_AGREEMENT,
    LEARNING_CHANGES,
    LEARNING_EPOCH,
    LEARNING_ERROR,
    LEARNING_EVIDENCE,
    LEARNING_INFORMED,
    LEARNING_NEXT,
    LEARNING_PAIRS,
    LEARNING_WITHHELD,
)
from stream.metrics.metric import Kind, Metric
from stream.metrics.watching_table import (
    ACCOUNT_COUNTERS,
    ACCOUNT_EXACT,
    ACCOUNT_SINGLE,
    ACCOUNT_SUM,
    ACCOUNT_USERS,
    BELIEF_DRIFT_MAX,
    MODEL_SCORE_EVIDENCE,
    MODEL_SCORE_EXPECTED,
    MODEL_SCORE_RELEASES,
    MODEL_SCORE_SEEN,
)
from stream.metrics.work_table import (
    BLOCK_EVENTS,
    COMPUTE_SECONDS,
    EVENT_LATENCY,
    LAG,
    PARTITIONS,
    PUBLISH_SECONDS,
    READY,
    RECOVERY,
    STALLED,
)

_GROUPS = "groups of users smaller than the floor are shown with a group that leaked more"
_UPPER_EDGE = "the upper edge of a fine bin, so never too low; absent while fewer users than the floor are tracked"
_FLOOR = "fewer than the floor are shown as 0"

EVENTS: Final = Metric(
    "sottovoce_events_total",
    Kind.COUNTER,
    "events",
    "Input records that were carried out, by outcome; with those that wait in windows they add up to the input.",
    ("outcome",),
)
WAITING_EVENTS: Final = Metric(
    "sottovoce_waiting_events",
    Kind.GAUGE,
    "events",
    "Input records that wait, sealed, for the end of their user's window; always 0 where events are released alone.",
)
RELEASE_LEAKAGE: Final = Metric(
    "sottovoce_release_leakage_nats",
    Kind.HISTOGRAM,
    "nats",
    "What each release, an event or a window, told about its user, as charged to the ledger.",
    ("side",),
)
RELEASES_ABOVE_EPSILON: Final = Metric(
    "sottovoce_releases_above_epsilon_total",
    Kind.COUNTER,
    "releases",
    "Releases charged more than the policy's epsilon on this side; 0 under every mechanism that promises epsilon; "
    "two_budget promises it for the lower side.",
    ("side",),
)
BUDGET_SPENT: Final = Metric(
    "sottovoce_budget_spent_ratio",
    Kind.OVER_USERS,
    "ratio",
    f"Users by the share of the budget spent in the window of their latest event, on the worse side; {_GROUPS}.",
)
BUDGET_SPENT_PERCENTILE: Final = Metric(
    "sottovoce_budget_spent_percentile_ratio",
    Kind.GAUGE,
    "ratio",
    f"Spent share of the budget at this percentile of users: {_UPPER_EDGE}.",
    ("percentile",),
)
BUDGET_SPENT_MAX: Final = Metric(
    "sottovoce_budget_spent_max_ratio",
    Kind.GAUGE,
    "ratio",
    f"Largest spent share of the budget: {_UPPER_EDGE}.",
)
USERS_TRACKED: Final = Metric(
    "sottovoce_tracked_users",
    Kind.GAUGE,
    "users",
    f"Users whose belief this worker keeps and of whom an event was carried out, not only waits; {_FLOOR}.",
)
USERS_NEAR: Final = Metric(
    "sottovoce_near_budget_users",
    Kind.GAUGE,
    "users",
    f"Users who have spent at least the near share of their budget, those at budget included; {_FLOOR}.",
)
USERS_AT: Final = Metric(
    "sottovoce_at_budget_users",
    Kind.GAUGE,
    "users",
    f"Users whose remaining budget is less than one release at epsilon, rounded to more users; {_FLOOR}.",
)
USERS_STOPPED: Final = Metric(
    "sottovoce_stopped_users", Kind.GAUGE, "users", f"Users stopped because their budget was spent; {_FLOOR}."
)
USERS_QUARANTINED: Final = Metric(
    "sottovoce_quarantined_users",
    Kind.GAUGE,
    "users",
    "Users whose stored state cannot be read, so nothing is released for them; exact, as it tells of storage only.",
)
LIFETIME_LEAKAGE: Final = Metric(
    "sottovoce_lifetime_leakage_nats",
    Kind.OVER_USERS,
    "nats",
    f"Users by all that was ever charged to them; {_GROUPS}.",
    ("side",),
)
LIFETIME_LEAKAGE_PERCENTILE: Final = Metric(
    "sottovoce_lifetime_leakage_percentile_nats",
    Kind.GAUGE,
    "nats",
    f"Lifetime charge at this percentile of users: {_UPPER_EDGE}.",
    ("side", "percentile"),
)
LIFETIME_LEAKAGE_MAX: Final = Metric(
    "sottovoce_lifetime_leakage_max_nats",
    Kind.GAUGE,
    "nats",
    f"Largest lifetime charge: {_UPPER_EDGE}.",
    ("side",),
)
SMALL_COUNT_FLOOR: Final = Metric(
    "sottovoce_small_count_floor_users", Kind.GAUGE, "users", "The smallest group of users that is shown."
)
STATE_BYTES: Final = Metric(
    "sottovoce_state_bytes",
    Kind.GAUGE,
    "bytes",
    "Bytes of all user rows, without the store's own overhead; 0 while fewer users than the floor are tracked.",
)
DEAD_LETTERS: Final = Metric(
    "sottovoce_dead_letters_total",
    Kind.COUNTER,
    "records",
    "Records sent to the dead-letter topic, by reason.",
    ("reason",),
)
UNCERTIFIED: Final = Metric(
    "sottovoce_uncertified_fallbacks_total",
    Kind.COUNTER,
    "releases",
    "Releases that became forecasts because their channel could not be certified; the promise holds, utility falls.",
)
NEAR_CUT_SHORT: Final = Metric(
    "sottovoce_near_cut_short_total",
    Kind.COUNTER,
    "events",
    "Events for which near took the best channel found when its work reached the limit; the promise holds, "
    "values may be further away.",
)
REPEATED: Final = Metric(
    "sottovoce_repeated_records_total",
    Kind.COUNTER,
    "records",
    "Raw records read again after an earlier transaction had dealt with them, and dropped.",
)
MISSING: Final = Metric(
    "sottovoce_missing_offsets_total",
    Kind.COUNTER,
    "offsets",
    "Raw offsets skipped because the topic no longer held them when a partition was taken over.",
)
FAILURES: Final = Metric(
    "sottovoce_block_failures_total",
    Kind.COUNTER,
    "blocks",
    "Blocks that were not committed, by error; the worker stops and a fresh one takes the block again.",
    ("error",),
)
RESTARTS: Final = Metric(
    "sottovoce_worker_restarts_total", Kind.COUNTER, "restarts", "Fresh workers that the supervisor has started."
)
BUILD_INFO: Final = Metric("sottovoce_build_info", Kind.INFO, "info", "What is running.", ("version", "python"))
POLICY_INFO: Final = Metric(
    "sottovoce_policy_info",
    Kind.INFO,
    "info",
    "The policy and the model in force; epsilon and the budgets are in nats.",
    ("pipeline", "policy", "model", "mechanism", "epsilon", "budget_upper", "budget_lower"),
)

METRICS: Final = (
    EVENTS,
    WAITING_EVENTS,
    RELEASE_LEAKAGE,
    RELEASES_ABOVE_EPSILON,
    BUDGET_SPENT,
    BUDGET_SPENT_PERCENTILE,
    BUDGET_SPENT_MAX,
    USERS_TRACKED,
    USERS_NEAR,
    USERS_AT,
    USERS_STOPPED,
    USERS_QUARANTINED,
    LIFETIME_LEAKAGE,
    LIFETIME_LEAKAGE_PERCENTILE,
    LIFETIME_LEAKAGE_MAX,
    MODEL_SCORE_RELEASES,
    MODEL_SCORE_SEEN,
    MODEL_SCORE_EXPECTED,
    MODEL_SCORE_EVIDENCE,
    BELIEF_DRIFT_MAX,
    LEARNING_EPOCH,
    LEARNING_INFORMED,
    LEARNING_CHANGES,
    LEARNING_PAIRS,
    LEARNING_NEXT,
    LEARNING_ERROR,
    LEARNING_WITHHELD,
    LEARNING_AGREEMENT,
    LEARNING_EVIDENCE,
    FIELD_REPORTS,
    FIELD_SPENT,
    FIELD_TOTAL,
    FIELD_CAP,
    FIELD_REALISED,
    AGGREGATE_WINDOWS,
    AGGREGATE_TOPPED_UP,
    AGGREGATE_NOISE,
    AGGREGATE_LOSS,
    AGGREGATE_LEAK,
    AGGREGATE_TOTAL,
    AGGREGATE_TARGET,
    AGGREGATE_OPEN,
    AGGREGATE_CLOSED_LAG,
    AGGREGATE_RELEASED_LAG,
    AGGREGATE_DUE,
    AGGREGATE_WAITING,
    *CROWD_METRICS,
    ACCOUNT_USERS,
    ACCOUNT_EXACT,
    ACCOUNT_SINGLE,
    ACCOUNT_COUNTERS,
    ACCOUNT_SUM,
    SMALL_COUNT_FLOOR,
    BLOCK_EVENTS,
    COMPUTE_SECONDS,
    PUBLISH_SECONDS,
    EVENT_LATENCY,
    LAG,
    STALLED,
    RECOVERY,
    READY,
    PARTITIONS,
    STATE_BYTES,
    DEAD_LETTERS,
    UNCERTIFIED,
    NEAR_CUT_SHORT,
    REPEATED,
    MISSING,
    FAILURES,
    RESTARTS,
    BUILD_INFO,
    POLICY_INFO,
)
