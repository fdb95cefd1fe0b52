"""The rows of the privacy officers' dashboard for what is released of all users together."""

from __future__ import annotations

from typing import Final

from panels import NATS, Panel, Pipeline, Row, Shape
from queries import distribution, largest, recent

from stream.metrics import aggregates, crowd_table

AGGREGATES: Final = Row(
    "Windows of aggregates",
    frozenset({Pipeline.AGGREGATES}),
    (
        Panel(
            "Told about one user by the target's windows",
            "Up to the latest; a window that would pass the target is withheld.",
            (largest(aggregates.AGGREGATE_TOTAL, "instance").called("told by"), largest(aggregates.AGGREGATE_TARGET)),
            NATS,
        ),
        Panel(
            "Loss and leak of the latest window",
            "Loss: when one user's contribution changes. Leak: about him, those included on whom he depends.",
            (largest(aggregates.AGGREGATE_LOSS), largest(aggregates.AGGREGATE_LEAK)),
            NATS,
        ),
        Panel(
            "Windows released, and withheld by reason",
            "In the last hour.",
            (recent(aggregates.AGGREGATE_WINDOWS, "outcome", "reason"),),
        ),
        Panel(
            "Windows with more noise than declared",
            "In the last hour, so that they fit the target.",
            (recent(aggregates.AGGREGATE_TOPPED_UP),),
            width=12,
        ),
        Panel(
            "Scale of the declared noise",
            "In the unit of the field; of counts in users.",
            (largest(aggregates.AGGREGATE_NOISE, "aggregate", "part"),),
            width=12,
        ),
    ),
)

CROWD_WINDOWS: Final = Row(
    "Windows of crowds",
    frozenset({Pipeline.CROWD_WINDOWS}),
    (
        Panel(
            "Delta of the latest window, by adversary",
            "At the target's epsilon, which stands below.",
            (largest(crowd_table.CROWD_DELTA, "adversary"), largest(crowd_table.CROWD_WORST)),
        ),
        Panel(
            "Epsilon of the latest window, by adversary",
            "But for the target's delta.",
            (largest(crowd_table.CROWD_EPSILON, "adversary"), largest(crowd_table.CROWD_TARGET_EPSILON)),
            NATS,
        ),
        Panel(
            "Delta of the target's windows together",
            "A window that would pass the target is withheld.",
            (largest(crowd_table.CROWD_TOTAL), largest(crowd_table.CROWD_TARGET_DELTA)),
        ),
        Panel(
            "Windows released, and withheld by reason",
            "In the last hour.",
            (recent(crowd_table.CROWD_WINDOWS, "outcome", "reason"),),
            width=12,
        ),
        Panel(
            "Windows with noise, and users in no crowd",
            "In the last hour. Fewer users than the floor are shown as 0.",
            (recent(crowd_table.CROWD_TOPPED_UP), recent(crowd_table.CROWD_SUPPRESSED)),
            width=12,
        ),
    ),
)

CROWD_DELAY: Final = Row(
    "Crowds of events that wait for each other",
    frozenset({Pipeline.CROWD_DELAY}),
    (
        Panel(
            "Boxes by outcome",
            "In the last hour: new ones, earlier ones once more, or withheld. Nothing but k is promised here.",
            (recent(crowd_table.CROWD_CROWDS, "outcome", "reason"),),
            width=12,
        ),
        Panel(
            "Crowds by users",
            "Since the workers started; crowds of fewer users than the floor are left out.",
            (distribution(crowd_table.CROWD_USERS),),
            shape=Shape.BARS,
            width=12,
        ),
    ),
)
