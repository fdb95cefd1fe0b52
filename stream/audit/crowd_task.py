"""From the public settings, and the law that they name, to what is audited of a pipeline of crowds. No key is read
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beliefs.crowd.law_file import CrowdLaw, InvalidCrowdLaw, parse
from stream import names
from stream.audit.crowd_rules import Crowds, crowds_of
from stream.errors import CannotAudit
from stream.settings.load import crowd_fingerprint
from stream.settings.model import RecordSettings, Settings


@dataclass(frozen=True)
class CrowdTask:
    """What is to be audited; `ring_keys` are the keys of the ring by their epochs, if they may be used."""

    crowds: Crowds
    record: RecordSettings
    raw_topic: str
    released_topic: str
    dead_letter_topic: str
    changelog_topic: str
    with_changelog: bool = True
    with_uncommitted: bool = True
    ring_keys: Mapping[int, bytes] | None = field(default=None, repr=False)

    @property
    def total_changelog(self) -> str:
        return self.crowds.pipeline + names.TOTAL_SUFFIX + names.CHANGELOG_SUFFIX

    @property
    def sent_topic(self) -> str:
        return self.crowds.pipeline + names.CROWDS_SUFFIX


def task_of_crowds(
    settings: Settings,
    *,
    changelog: bool = True,
    uncommitted: bool = True,
    ring_keys: Mapping[int, bytes] | None = None,
) -> CrowdTask:
    law = _law(None if settings.crowd is None else settings.crowd.believes.law)
    fingerprint = crowd_fingerprint(settings, None if law is None else law.digest)
    return CrowdTask(
        crowds=crowds_of(settings, law, fingerprint),
        record=settings.record,
        raw_topic=settings.kafka.raw_topic,
        released_topic=settings.kafka.released_topic,
        dead_letter_topic=settings.kafka.dead_letter_topic,
        changelog_topic=settings.changelog_topic,
        with_changelog=changelog,
        with_uncommitted=uncommitted,
        ring_keys=ring_keys,
    )


def _law(name: str | None) -> CrowdLaw | None:
    if name is None:
        return None
    try:
        return parse(Path(name).read_bytes())
    except (OSError, InvalidCrowdLaw) as error:
        why = (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
        raise CannotAudit(
            "The law that the settings name cannot be read.",
            where=name,
            why=why,
            fix="name the file that the pipeline ran with",
        ) from None
