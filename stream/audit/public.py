"""What is public about a pipeline: all that its auditor knows beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

from beliefs.distance import Distance, equal
from stream.audit.book import Rules
from stream.audit.field_gate import Gate
from stream.audit.field_words import Words
from stream.audit.law import Law
from stream.audit.records import Form
from stream.audit.window_book import Windows


@dataclass(frozen=True)
class Public:
    """All that the auditor knows beforehand: the public settings and the public model."""

    form: Form
    rules: Rules
    law: Law
    tag: int
    fingerprint: bytes
    released_topic: str
    changelog_topic: str
    windows: Windows | None = None
    distance: Distance = field(default_factory=equal)
    listed: int = 0
    fields: Gate | None = None

    @property
    def states(self) -> int:
        return int(self.law.start.shape[0])

    @property
    def words(self) -> Words | None:
        """What the changelog keeps about the fields that are protected each by itself, where there are any."""
        return None if self.fields is None else Words(len(self.fields.fields.each), self.fields.fields.tag)

    @property
    def symbols(self) -> int:
        return int(self.law.begin.shape[0]) - 1
