"""What the brokers must let a pipeline do, and nothing beyond: the least that its work needs.

Reading and writing include describing, so that is not written apart. A worker looks at the settings of the topics that
it writes to, since one wrong setting there would stop it later. Whoever audits reads, and writes nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from stream import names
from stream.settings.model import Settings

Kind = Literal["topic", "group", "transactional-id"]
Work = Literal["run", "audit"]
READ, WRITE, CREATE, SETTINGS = "Read", "Write", "Create", "DescribeConfigs"


@dataclass(frozen=True)
class Permission:
    """`operations` on one thing of this name; on all whose names begin so where it is `prefixed`."""

    kind: Kind
    name: str
    operations: tuple[str, ...]
    prefixed: bool = False


def permissions(settings: Settings, work: Work, *, make_topics: bool) -> list[Permission]:
    """Of who runs or audits this pipeline; with `make_topics` also to make the topics that are not there."""
    if work == "audit":
        return [Permission("topic", topic, (READ,)) for topic in _topics(settings)]
    kafka, name = settings.kafka, settings.pipeline.name
    write = (WRITE, SETTINGS, *([CREATE] if make_topics else []))
    found = [Permission("topic", kafka.raw_topic, (READ,))]
    found += [Permission("topic", topic, write) for topic in (kafka.released_topic, kafka.dead_letter_topic)]
    found += [Permission("topic", topic, (READ, *write)) for topic in _own_topics(settings)]
    found += [Permission("group", group, (READ,)) for group in _groups(settings)]
    begin = f"{names.TRANSACTIONAL_ID_PREFIX}-{name}-"
    return [*found, Permission("transactional-id", begin, (WRITE,), prefixed=True)]


def _topics(settings: Settings) -> Iterator[str]:
    kafka = settings.kafka
    yield from (kafka.raw_topic, kafka.released_topic, kafka.dead_letter_topic)
    yield from _own_topics(settings)


def _own_topics(settings: Settings) -> Iterator[str]:
    """Those that nobody but the pipeline reads and writes."""
    yield settings.changelog_topic
    for section, suffix in names.STAGES.items():
        if getattr(settings, section) is not None:
            yield settings.pipeline.name + suffix
            yield settings.pipeline.name + names.TOTAL_SUFFIX + names.CHANGELOG_SUFFIX


def _groups(settings: Settings) -> Iterator[str]:
    yield settings.pipeline.name
    if any(getattr(settings, section) is not None for section in names.STAGES):
        yield settings.pipeline.name + names.TOTAL_SUFFIX


def as_commands(found: Sequence[Permission], brokers: str, principal: str) -> list[list[str]]:
    """The arguments of kafka-acls.sh, one line for each thing."""
    return [
        [
            *("kafka-acls.sh", "--bootstrap-server", brokers, "--add", "--allow-principal", principal),
            *(part for operation in one.operations for part in ("--operation", operation)),
            *(f"--{one.kind}", one.name),
            *(("--resource-pattern-type", "prefixed") if one.prefixed else ()),
        ]
        for one in found
    ]


def as_strimzi(found: Sequence[Permission], cluster: str, name: str, login: str) -> dict[str, object]:
    """The same as a KafkaUser of the Strimzi operator."""
    kinds = {"transactional-id": "transactionalId"}
    acls = [
        {
            "resource": {
                "type": kinds.get(one.kind, one.kind),
                "name": one.name,
                "patternType": "prefix" if one.prefixed else "literal",
            },
            "operations": list(one.operations),
        }
        for one in found
    ]
    return {
        "apiVersion": "kafka.strimzi.io/v1beta2",
        "kind": "KafkaUser",
        "metadata": {"name": name, "labels": {"strimzi.io/cluster": cluster}},
        "spec": {"authentication": {"type": login}, "authorization": {"type": "simple", "acls": acls}},
    }
