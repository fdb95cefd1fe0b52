"""The privacy officers' dashboard: what is promised, what was really told, and whether its ground holds."""

from __future__ import annotations

from typing import Final

from panels import EVERY, NATS, OF_EVENTS, Dashboard, Panel, Pipeline, Row, Shape
from privacy_of_windows import AGGREGATES, CROWD_DELAY, CROWD_WINDOWS
from queries import Query, distribution, facts, largest, mean, percentile, rate, recent, total

from stream.metrics import fields, learning, table, watching_table
from stream.metrics.metric import Metric

PROMISE: Final = Row(
    "What is promised",
    EVERY,
    (
        Panel(
            "Policy in force",
            "Epsilon and budgets in nats; +Inf where there is no limit. Of windows over all users, epsilon is that of "
            "one window, and what several tell stands below. `sottovoce explain` says it in words.",
            (facts(table.POLICY_INFO),),
            shape=Shape.SHEET,
            width=18,
        ),
        Panel(
            "Smallest group of users that is shown",
            "Counts of fewer users are shown as 0 on all of these panels.",
            (largest(table.SMALL_COUNT_FLOOR),),
            shape=Shape.NUMBER,
            width=6,
        ),
    ),
)

TOLD: Final = Row(
    "What releases told about users",
    OF_EVENTS,
    (
        Panel(
            "Releases above epsilon",
            "0 under every mechanism that promises epsilon; two_budget promises it for the lower side only, "
            "published_crr for none.",
            (largest(table.RELEASES_ABOVE_EPSILON, "side"),),
            shape=Shape.NUMBER,
            red_from=1,
        ),
        Panel(
            "What one release tells",
            "As charged. Lower: how much less likely a value became; upper: how much more.",
            (percentile(table.RELEASE_LEAKAGE, 50, "side"), percentile(table.RELEASE_LEAKAGE, 99, "side")),
            NATS,
        ),
        Panel(
            "Mean of all releases",
            "Since the workers started; both sums are exact.",
            (mean(table.RELEASE_LEAKAGE, "side"),),
            NATS,
        ),
        Panel(
            "Users by all that was ever told about them: upper side",
            "Groups smaller than the floor stand with a group that leaked more.",
            (distribution(table.LIFETIME_LEAKAGE, side="upper"),),
            shape=Shape.BARS,
        ),
        Panel(
            "Users by all that was ever told about them: lower side",
            "Groups smaller than the floor stand with a group that leaked more.",
            (distribution(table.LIFETIME_LEAKAGE, side="lower"),),
            shape=Shape.BARS,
        ),
        Panel(
            "Worst total of a user",
            "The largest lifetime charge, and that of 99, 90 and 50 % of users: edges of bins, never too low.",
            (
                largest(table.LIFETIME_LEAKAGE_MAX, "side").called("worst"),
                largest(table.LIFETIME_LEAKAGE_PERCENTILE, "side", "percentile"),
            ),
            NATS,
        ),
    ),
)

BUDGETS: Final = Row(
    "Budgets",
    frozenset({Pipeline.EVENTS}),
    (
        Panel(
            "Largest share of a budget that is spent",
            "More than 1 is refused by the ledger, so it would be a defect.",
            (largest(table.BUDGET_SPENT_MAX),),
            "percentunit",
            Shape.NUMBER,
            red_from=1.001,
        ),
        Panel(
            "Users by share of the budget spent",
            "In the window of their latest event, on the worse side.",
            (distribution(table.BUDGET_SPENT),),
            shape=Shape.BARS,
        ),
        Panel(
            "Share spent, by percentile of users",
            "Edges of bins, never too low.",
            (largest(table.BUDGET_SPENT_PERCENTILE, "percentile"),),
            "percentunit",
        ),
        Panel(
            "Users near, at and beyond their budget",
            "At: less is left than one release needs. Stopped: the policy says to stop.",
            (total(table.USERS_TRACKED), total(table.USERS_NEAR), total(table.USERS_AT), total(table.USERS_STOPPED)),
            width=24,
        ),
    ),
)


def _account(metric: Metric) -> Query:
    query = largest(metric, quantile="1")
    return Query(query.expression, query.legend.removeprefix("account "))


MODEL: Final = Row(
    "Whether the model is right",
    frozenset({Pipeline.EVENTS}),
    (
        Panel(
            "Won by betting against the model",
            "Under a right model, of users who do not depend on each other, it reaches A with a chance of 1/A.",
            (largest(watching_table.MODEL_SCORE_EVIDENCE, "instance"),),
            red_from=1000,
        ),
        Panel(
            "What the model expects, and what is seen",
            "Mean logarithm of the chance that the model gave the released value.",
            (largest(watching_table.MODEL_SCORE_SEEN), largest(watching_table.MODEL_SCORE_EXPECTED)),
            NATS,
            signed=True,
        ),
        Panel(
            "Releases that it was tested with",
            "A public sample of those made one by one.",
            (total(watching_table.MODEL_SCORE_RELEASES),),
        ),
        Panel(
            "Worst exact account",
            "Of the users that `metrics.accounts` asks for, over up to 50 of a user's events: exactly, of the worst "
            "single value, of the larger counter, and summed up. The exact amount is never above the last two.",
            (
                _account(watching_table.ACCOUNT_EXACT),
                _account(watching_table.ACCOUNT_SINGLE),
                _account(watching_table.ACCOUNT_COUNTERS),
                _account(watching_table.ACCOUNT_SUM),
            ),
            NATS,
        ),
        Panel(
            "Users with exact accounts",
            "As many as `metrics.accounts` asks for; fewer than the floor are shown as 0.",
            (total(watching_table.ACCOUNT_USERS),),
        ),
        Panel(
            "Furthest that a stored belief may be off",
            "Charges and channels make room for it.",
            (largest(watching_table.BELIEF_DRIFT_MAX),),
            NATS,
        ),
    ),
)

FIELDS: Final = Row(
    "Fields that are protected each by itself",
    frozenset({Pipeline.FIELDS}),
    (
        Panel(
            "Told in total about a field, worst user",
            "By its own reports and through all other fields, and its cap.",
            (largest(fields.FIELD_TOTAL, "field", quantile="1"), largest(fields.FIELD_CAP, "field").called("cap of")),
            NATS,
        ),
        Panel(
            "Own reports in the current window, worst user",
            "Levels added up.",
            (largest(fields.FIELD_SPENT, "field", quantile="1"),),
            NATS,
        ),
        Panel(
            "What single reports really told",
            "Mean, by the joint table, of the field through which it was told.",
            (mean(fields.FIELD_REALISED, "field", "through"),),
            NATS,
        ),
        Panel(
            "Reports by choice",
            "Reports a second: in full, at a part of epsilon, coarsely, or withheld for a cap.",
            (rate(fields.FIELD_REPORTS, "field", "choice"),),
            "reqps",
            width=24,
        ),
    ),
)

LEARNING: Final = Row(
    "Models that are learnt",
    frozenset({Pipeline.LEARNING}),
    (
        Panel(
            "Partitions that have learnt a model",
            "0: locally private, against everybody. 1: under a model that was learnt.",
            (
                largest(learning.LEARNING_INFORMED, "partition").called("informed in"),
                largest(learning.LEARNING_EPOCH, "partition").called("epoch of"),
            ),
        ),
        Panel(
            "Epochs that began in the last hour",
            "Learning: the releases had contradicted the model, which was given up.",
            (recent(learning.LEARNING_CHANGES, "phase"),),
        ),
        Panel(
            "How far the model may be off, and what is withheld for it",
            "Error in nats; withheld as a share of epsilon.",
            (
                largest(learning.LEARNING_ERROR, "partition").called("error of"),
                largest(learning.LEARNING_WITHHELD, "partition").called("withheld in"),
            ),
        ),
        Panel(
            "Won by betting against the learnt model",
            "A partition begins to learn anew where this is too much.",
            (largest(learning.LEARNING_EVIDENCE, "partition"),),
        ),
        Panel(
            "Pairs learnt from",
            "Pairs of consecutive releases.",
            (largest(learning.LEARNING_PAIRS, "partition"),),
        ),
        Panel(
            "Records until the next look",
            "Then it is decided whether the epoch ends.",
            (largest(learning.LEARNING_NEXT, "partition"),),
        ),
    ),
)

FOR_PRIVACY: Final = Dashboard(
    "privacy",
    "Sottovoce: privacy",
    "What is promised, what was really told, and whether the ground it stands on holds. Rows that do not concern a "
    "pipeline stay empty.",
    (PROMISE, TOLD, BUDGETS, MODEL, FIELDS, LEARNING, AGGREGATES, CROWD_WINDOWS, CROWD_DELAY),
)
