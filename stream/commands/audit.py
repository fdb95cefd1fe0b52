"""`sottovoce audit CONFIG`: recompute every belief and every charge from what was released, and compare.

Exit status 0 when all agrees, 1 when something does not, 2 when the audit could not be carried out.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from stream.audit.aggregate_audit import audit_aggregates
from stream.audit.aggregate_report import tell_aggregates
from stream.audit.aggregate_task import task_of_aggregates
from stream.audit.audit import audit
from stream.audit.crowd_audit import audit_crowds
from stream.audit.crowd_report import tell_crowds
from stream.audit.crowd_task import task_of_crowds
from stream.audit.field_joint import joint_of
from stream.audit.kafka_world import KafkaTopics
from stream.audit.progress import Shown
from stream.audit.report import tell
from stream.audit.task import task_of
from stream.audit.verdict import Verdict
from stream.commands.report import errors_told, say_json
from stream.engine.connection import connection_of
from stream.errors import CannotAudit
from stream.named_models import pipeline_models
from stream.settings.load import load_settings
from stream.settings.model import Settings

Reported = TypeVar("Reported", bound=Verdict)


def audit_command(
    config: Path,
    as_json: bool = False,
    *,
    metrics: Sequence[str] = (),
    brokers: Sequence[str] = (),
    changelog: bool = True,
    uncommitted: bool = True,
    accounts: int = 0,
    keys: bool = False,
) -> int:
    """Audit the pipeline of this settings file. No key is needed; with `keys` what aggregates and crowds send sealed is
    opened.

    `metrics` are addresses of workers' metrics pages, all of them; without any, the one that the settings name is
    asked, if it answers. `brokers` stand in for those of the settings. Without `changelog` the releases are audited
    alone; without `uncommitted` nobody looks at what readers of uncommitted data saw. Of at most as many users
    as `accounts` says it is worked out exactly what all their releases tell.
    """
    with errors_told(as_json=as_json):
        settings = load_settings(config)
        if brokers:
            settings = settings.model_copy(
                update={"kafka": settings.kafka.model_copy(update={"brokers": tuple(brokers)})}
            )
        options = {"changelog": changelog, "uncommitted": uncommitted}
        if settings.aggregate is not None:
            _refuse_beside("windows of aggregates", metrics=bool(metrics), accounts=bool(accounts))
            sealed = task_of_aggregates(settings, ring_keys=_ring_keys(settings) if keys else None, **options)
            return asyncio.run(_audit(settings, as_json, partial(audit_aggregates, sealed), tell_aggregates))
        if settings.crowd is not None:
            _refuse_beside("crowds", metrics=bool(metrics), accounts=bool(accounts))
            recounted = task_of_crowds(settings, ring_keys=_ring_keys(settings) if keys else None, **options)
            return asyncio.run(_audit(settings, as_json, partial(audit_crowds, recounted), tell_crowds))
        if keys:
            raise _not_asked(
                "--keys", "only aggregates and crowds travel sealed; beliefs are recomputed from what is public"
            )
        first, *others = pipeline_models(settings)
        joint = joint_of(settings)
        task = task_of(settings, first, metrics, accounts=accounts, others=others, joint=joint, **options)
        return asyncio.run(_audit(settings, as_json, partial(audit, task), tell))


async def _audit(
    settings: Settings,
    as_json: bool,
    audit_topics: Callable[[KafkaTopics, Shown], Awaitable[Reported]],
    tell_people: Callable[[Reported, Console], None],
) -> int:
    topics = KafkaTopics(connection_of(settings.kafka, os.environ))
    with Shown(sys.stderr) as shown:
        report = await audit_topics(topics, shown)
    if as_json:
        say_json(report.as_json())
    else:
        tell_people(report, Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120))
    return report.exit_status


def _ring_keys(settings: Settings) -> dict[int, bytes]:
    from stream.keys import load_keys  # of the engine, and only where its keys are wanted

    return {epoch.number: epoch.secret for epoch in load_keys(settings.keys, os.environ).epochs}


def _refuse_beside(what: str, **given: bool) -> None:
    for name, is_given in given.items():
        if is_given:
            raise _not_asked(f"--{name}", f"{what} have no users to follow and no counters to compare")


def _not_asked(option: str, why: str) -> CannotAudit:
    return CannotAudit("This pipeline is not audited in that way.", where=option, why=why, fix="leave that option out")
