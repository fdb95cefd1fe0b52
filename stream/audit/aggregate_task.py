"""From the public settings to what is audited of a pipeline of aggregates. No key is read."""

from __future__ import annotations

from collections.abc import Mapping

from stream.audit.aggregate_account import Account, GroupAccount, People
from stream.audit.aggregate_audit import AggregateTask
from stream.audit.aggregate_rules import Windows, windows_of
from stream.settings.aggregate import AggregateSettings
from stream.settings.load import aggregate_fingerprint
from stream.settings.model import Settings


def task_of_aggregates(
    settings: Settings,
    *,
    changelog: bool = True,
    uncommitted: bool = True,
    secrets: Mapping[int, bytes] | None = None,
) -> AggregateTask:
    """With `secrets`, the keys of the ring by their epochs, the sealed sums are opened."""
    windows = windows_of(settings, aggregate_fingerprint(settings, {}))
    declared = settings.aggregate
    assert declared is not None  # windows_of has refused it
    return AggregateTask(
        windows=windows,
        account=lambda: account_of(windows, declared),
        raw_topic=settings.kafka.raw_topic,
        released_topic=settings.kafka.released_topic,
        changelog_topic=settings.changelog_topic,
        with_changelog=changelog,
        with_uncommitted=uncommitted,
        secrets=secrets,
    )


def account_of(windows: Windows, declared: AggregateSettings) -> Account:
    users, over = declared.dependence.users, declared.dependence.windows
    adds_up = not (declared.protects == "one_window" and over.fresh)
    group = users.group or 1
    lonely = "exact" if len(windows.asked) == 1 and windows.asked[0].kind in ("count", "sum") else "sound"
    methods = frozenset([lonely] if group == 1 else ["group"])
    return GroupAccount(windows, People(group, adds_up, methods, declared.adversary))
