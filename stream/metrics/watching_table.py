"""The metrics of the model's monitor and of exact accounts; rows of `table`."""

from __future__ import annotations

from typing import Final

from stream.metrics.metric import Kind, Metric

_FLOOR = "fewer than the floor are shown as 0"
_MONITOR = "absent while fewer users than the floor are tracked"
_STRETCH = (
    "over up to 50 events since the worker took the partition, for single releases, beside what was known before them, "
    "for a reader who knows the model; renewed in turn; an upper edge of a fine bin, 1 is the largest"
)

MODEL_SCORE_RELEASES: Final = Metric(
    "sottovoce_model_score_releases_total",
    Kind.COUNTER,
    "releases",
    "Releases that the model was tested with since this worker started: a public sample of those made one by one.",
)
MODEL_SCORE_SEEN: Final = Metric(
    "sottovoce_model_score_seen_nats",
    Kind.GAUGE,
    "nats",
    f"Mean logarithm of the chance that the model gave the released value; {_MONITOR}.",
)
MODEL_SCORE_EXPECTED: Final = Metric(
    "sottovoce_model_score_expected_nats",
    Kind.GAUGE,
    "nats",
    f"What the model expects that mean to be; {_MONITOR}.",
)
MODEL_SCORE_EVIDENCE: Final = Metric(
    "sottovoce_model_score_evidence_ratio",
    Kind.GAUGE,
    "ratio",
    "The most that one unit of money bet against the model has been worth since this worker started; under a right "
    f"model, of users who do not depend on each other, it ever reaches A with a chance of at most 1/A; {_MONITOR}.",
)
BELIEF_DRIFT_MAX: Final = Metric(
    "sottovoce_belief_drift_max_nats",
    Kind.GAUGE,
    "nats",
    "The furthest that a stored belief may have been from the exact one since this worker started, for which charges "
    f"and channels make room; +Inf where that is not known of some user; {_MONITOR}.",
)
ACCOUNT_USERS: Final = Metric(
    "sottovoce_account_users", Kind.GAUGE, "users", f"Users whose exact accounts are kept; {_FLOOR}."
)
ACCOUNT_EXACT: Final = Metric(
    "sottovoce_account_exact_nats",
    Kind.GAUGE,
    "nats",
    f"What a user's latest releases tell together about the whole sequence of values, exactly; {_STRETCH}.",
    ("quantile",),
)
ACCOUNT_SINGLE: Final = Metric(
    "sottovoce_account_single_value_nats",
    Kind.GAUGE,
    "nats",
    f"What all of a user's latest releases tell about the worst single value among them; {_STRETCH}.",
    ("quantile",),
)
ACCOUNT_COUNTERS: Final = Metric(
    "sottovoce_account_counters_nats",
    Kind.GAUGE,
    "nats",
    f"The larger of the two counters over the same releases, which is never below the exact amount; {_STRETCH}.",
    ("quantile",),
)
ACCOUNT_SUM: Final = Metric(
    "sottovoce_account_sum_nats",
    Kind.GAUGE,
    "nats",
    f"The sum of the larger sides of the same releases, which is never below the counters; {_STRETCH}.",
    ("quantile",),
)
