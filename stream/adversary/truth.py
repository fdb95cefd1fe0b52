"""The raw topic as the truth, for whoever may read it. No key is needed: a raw record's offset gives the release id
that its release bears, under a pseudonym as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

import orjson

from stream.adversary.facts import Known, Naming
from stream.audit.public import Public
from stream.audit.records import Record
from stream.audit.world import Topics
from stream.errors import CannotAudit
from stream.records.paths import MISSING, getter

_CONTROL = b"c"


@dataclass
class RawValues:
    """The values of one partition's raw records by release id. What cannot be read has no release, and is left out."""

    public: Public
    naming: Naming
    partition: int
    known: Known = field(default_factory=Known)

    def __post_init__(self) -> None:
        protected = self.public.form.protected
        if protected is None:
            raise ValueError("the adversary guesses the field whose values follow one another, and there is none")
        self._get = getter(protected)

    def take(self, records: Iterable[Record]) -> None:
        for record in records:
            value = self._value_of(record.value)
            if value is not None:
                self.known.by_id[self.naming.id_of(self.partition, record.offset)] = value

    def _value_of(self, text: bytes | None) -> int | None:
        try:
            document = orjson.loads(text or b"")
        except orjson.JSONDecodeError:
            return None
        value = self._get(document)
        return None if value is MISSING else self.public.form.alphabet.index_of(value)


async def topic_id_of(public: Public, topics: Topics) -> bytes | None:
    """The raw topic's id, as the beliefs' control record names it; None where nobody may read that or nothing is
    there yet."""
    topic = public.changelog_topic
    for partition in await topics.partitions(topic):
        end = (await topics.bounds(topic, partition)).stable
        async for records in topics.read(topic, partition, end, committed=True):
            for record in records:
                if record.key == _CONTROL:
                    return _id_in(record.value)
    return None


def _id_in(text: bytes | None) -> bytes | None:
    try:
        return UUID(str(json.loads(text or b"")["topic_id"])).bytes
    except (ValueError, KeyError, TypeError):
        return None


def require_topic_id(naming: Naming, public: Public) -> None:
    if naming.topic_id is None:
        raise CannotAudit(
            "Raw records cannot be matched with releases.",
            where=f"topic {public.changelog_topic}",
            why="it has no control record that names the raw topic's id, which is part of every release id",
            fix="see whether the settings are those of this pipeline, or give the truth by user and step: --truth FILE",
        )
