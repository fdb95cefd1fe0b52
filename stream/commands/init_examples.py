"""What a settings file to start from says: what is in force in it, and how everything else is written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PIPELINE: Final = "phones"
"""The name of the example's pipeline; topics are called after it."""


@dataclass(frozen=True)
class Example:
    """`live` stands in force; `without` stands nowhere, since it does not go with what does. Of a section under names
    of the user's own `named` says the name that is explained, and `first` what stands in force before it.
    """

    live: Mapping[str, str]
    steps: tuple[str, ...]
    without: frozenset[str] = frozenset()
    first: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


NAMED: Final[dict[str, str]] = {"fields.each": "occupation", "aggregate.each": "example", "crowd.release.by": "age"}

_OF_EVENTS: Final = frozenset(
    {
        "record.protect",
        "record.public",
        "record.headers",
        "record.release_key",
        "model",
        "mechanism",
        "window",
        "fields",
        "budget",
        "metrics.accounts",
        "metrics.near_budget",
    }
)

EVENTS: Final = Example(
    live={
        "version": "1",
        "pipeline.name": "phones",
        "kafka.brokers": "[127.0.0.1:9092]",
        "kafka.raw_topic": "phones.raw",
        "kafka.released_topic": "phones.released",
        "kafka.dead_letter_topic": "phones.dead-letters",
        "record.user": "key",
        "record.event_time": "record",
        "record.protect.path": "$.activity",
        "record.protect.distance": "hamming",
        "record.public": "[]",
        "record.release_key": "keep",
        "model": "model.json",
        "mechanism.name": "optimal",
        "mechanism.epsilon": "1.0",
        "budget.nats": "20.0",
        "budget.window": "1d",
        "budget.when_spent": "forecast",
        "keys.file": "keys.json",
        "policy_version": "1",
    },
    steps=("put the model of your field into {folder}/model.json",),
    without=frozenset({"aggregate", "crowd"}),
)

AGGREGATES: Final = Example(
    live={
        "version": "1",
        "pipeline.name": "phones",
        "kafka.brokers": "[127.0.0.1:9092]",
        "kafka.raw_topic": "phones.raw",
        "kafka.released_topic": "phones.aggregates",
        "kafka.dead_letter_topic": "phones.dead-letters",
        "record.user": "key",
        "record.event_time": "record",
        "aggregate.window": "1h",
        "aggregate.from": "2026-01-01T00:00:00Z",
        "aggregate.lateness": "1m",
        "aggregate.dependence.users": "independent",
        "aggregate.dependence.windows": "any",
        "aggregate.protects": "everything",
        "aggregate.target.nats": "4.0",
        "aggregate.target.windows": "24",
        "aggregate.target.beyond": "withhold",
        "keys.file": "keys.json",
        "policy_version": "1",
    },
    steps=("say in {file} since when, of which fields, and who depends on whom",),
    without=_OF_EVENTS | {"crowd"},
    first={
        "aggregate.each": (
            ("how many users had an event in the window", "people: {count: users, epsilon: 0.05}"),
            (
                "the mean of what each of them told last",
                "speed: {mean: $.speed, low: 0, high: 40, grid: 0.5, epsilon: 0.05}",
            ),
            (
                "how many of them told last that they were doing what",
                "activity: {histogram: $.activity, values: [still, walking, in_car], epsilon: 0.05}",
            ),
        )
    },
)

CROWDS: Final = Example(
    live={
        "version": "1",
        "pipeline.name": "phones",
        "kafka.brokers": "[127.0.0.1:9092]",
        "kafka.raw_topic": "phones.raw",
        "kafka.released_topic": "phones.crowds",
        "kafka.dead_letter_topic": "phones.dead-letters",
        "record.user": "key",
        "record.event_time": "record",
        "crowd.k": "10",
        "crowd.over": "all",
        "crowd.window": "1m",
        "crowd.from": "2026-01-01T00:00:00Z",
        "crowd.release.mean": "$.speed",
        "crowd.release.low": "0",
        "crowd.release.high": "40",
        "crowd.release.grid": "1",
        "crowd.release.take": "last",
        "crowd.believes.law": "law.json",
        "crowd.believes.known": "0.2",
        "crowd.believes.windows": "any",
        "crowd.target.epsilon": "1.0",
        "crowd.target.delta": "1e-6",
        "crowd.target.beyond": "withhold",
        "keys.file": "keys.json",
        "policy_version": "1",
    },
    steps=(
        "say in {file} since when, and which statistic of which field",
        "put the law of that field's values, one chance for each step from low to high, into {folder}/law.json",
    ),
    without=_OF_EVENTS | {"aggregate"},
)

_FIELD: Final = "fields.each.occupation."
_QUERY: Final = "aggregate.each.example."
_CROWD: Final = "crowd.release."
_AGE: Final = f"{_CROWD}by.age."

# What an optional field without a default looks like when it is used.
WHEN_USED: Final[dict[str, str]] = {
    "kafka.tls.ca_file": "ca.pem",
    "kafka.tls.certificate_file": "client.pem",
    "kafka.tls.private_key_file": "client.key",
    "kafka.sasl.mechanism": "SCRAM-SHA-512",
    "kafka.sasl.username": "sottovoce",
    "kafka.sasl.password.file": "password.txt",
    "kafka.sasl.password.environment": "KAFKA_PASSWORD",
    "kafka.group_instance": "worker-1",
    "record.user.path": "$.user",
    "model.file": "model.json",
    "model.by": "$.device",
    "model.files": "{sensor: sensor.json, phone: phone.json}",
    "model.otherwise": "other.json",
    "model.learn.values": "[still, walking]",
    "model.step": "10m",
    "model.listed": "2000",
    "mechanism.upper": "2.0",
    "window.events": "10",
    "window.stretch": "10m",
    "window.deadline": "60s",
    "fields.window": "forever",
    "fields.joint": "joint.json",
    "fields.protected_cap": "30.0",
    f"{_FIELD}path": "$.occupation",
    f"{_FIELD}values": "[clerk, nurse, pilot]",
    f"{_FIELD}mechanism.name": "grr",
    f"{_FIELD}mechanism.top": "[clerk]",
    f"{_FIELD}mechanism.report_zero": "0.5",
    f"{_FIELD}mechanism.report_one": "0.75",
    f"{_FIELD}epsilon": "0.5",
    f"{_FIELD}cap": "4.0",
    f"{_FIELD}at_most": "3",
    f"{_FIELD}coarser": "{office: [clerk], away: [nurse, pilot]}",
    "record.event_time.path": "$.time",
    "record.event_time.unit": "ms",
    "record.protect.distance.table": "distances.json",
    "record.protect.distance.cost_table": "costs.json",
    "keys.environment": "SOTTOVOCE_KEYS",
    "store.folder": "beliefs",
    "aggregate.window": "1h",
    "aggregate.from": "2026-01-01T00:00:00Z",
    f"{_QUERY}count": "users",
    f"{_QUERY}sum": "$.speed",
    f"{_QUERY}mean": "$.speed",
    f"{_QUERY}histogram": "$.activity",
    f"{_QUERY}top": "10",
    f"{_QUERY}of": "$.cell",
    f"{_QUERY}values": "[still, walking, in_car]",
    f"{_QUERY}low": "0",
    f"{_QUERY}high": "40",
    f"{_QUERY}grid": "0.5",
    f"{_QUERY}at_most": "8",
    f"{_QUERY}epsilon": "0.05",
    "aggregate.dependence.users": "independent",
    "aggregate.dependence.windows": "any",
    "aggregate.dependence.users.group": "4",
    "aggregate.dependence.users.law": "households.json",
    "aggregate.dependence.windows.law": "chain.json",
    "aggregate.target.nats": "4.0",
    "aggregate.target.windows": "24",
    "crowd.delay.events": "1000",
    "crowd.delay.time": "1m",
    f"{_CROWD}count": "$.activity",
    f"{_CROWD}sum": "$.speed",
    f"{_CROWD}range": "$.speed",
    f"{_CROWD}histogram": "$.activity",
    f"{_CROWD}records": "mondrian",
    f"{_CROWD}of": "[walking, running]",
    f"{_CROWD}values": "[still, walking, in_car]",
    f"{_CROWD}loss_most": "0.5",
    f"{_CROWD}sensitive.of": "$.disease",
    f"{_CROWD}sensitive.values": "[flu, angina, none]",
    f"{_CROWD}sensitive.diverse": "2",
    f"{_CROWD}sensitive.close": "0.2",
    f"{_AGE}of": "$.age",
    f"{_AGE}low": "0",
    f"{_AGE}high": "120",
    f"{_AGE}grid": "1",
    f"{_AGE}tree": "{any: {young: [child, teen], old: [adult, senior]}}",
    "crowd.believes.by": "$.vehicle_type",
    "crowd.believes.household": "$.home",
}
