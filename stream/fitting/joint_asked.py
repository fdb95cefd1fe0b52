"""What somebody asks of a joint table, in words, made into a task; whatever cannot be meant is refused."""

from __future__ import annotations

import itertools
import os
from dataclasses import fields
from pathlib import Path
from typing import Final

from stream.fitting.asked import Asked, cannot, field_path, sample_of, topic_of
from stream.fitting.joint import JointTask
from stream.fitting.sources import FORMATS, Fields, Source, file_source, format_of
from stream.records.paths import Path as FieldPath
from stream.settings.model import Settings

_MOST_BYTES: Final = 16 << 20
_SERVES: Final = ("source", "file_format", "user", "rare", "other", "failure", "sample")


def joint_task_of(joint: str, asked: Asked, settings: Settings | None) -> JointTask:
    """`joint` names the fields with commas between them."""
    if asked.source is None:
        raise cannot("--from", "nothing says what to learn from", "name a file, or topic")
    _refuse_others(asked)
    paths = [field_path(text.strip(), "--joint") for text in joint.split(",")]
    if len(paths) < 2:
        raise cannot("--joint", "a joint table has two fields or more", "name them with commas: --joint a,b")
    topic = topic_of(asked.source, settings)
    user = None if asked.user is None else field_path(asked.user, "--user")
    if topic is not None and settings is not None and user is None:
        user = settings.record.user.path
    _refuse_overlaps(paths, user)
    if asked.rare > 1 and asked.other is None:
        raise cannot("--rare", "nothing says what rare values become", 'name their value: --other "other"')
    if not 0.0 < asked.failure < 1.0:
        raise cannot("--failure", "it is no probability between 0 and 1", "write for example 0.05")
    return JointTask(
        source=_source(asked, paths, user, topic, settings),
        fields=tuple(paths),
        names=tuple(".".join(str(step) for step in path.steps) for path in paths),
        user=user,
        by_key=topic is not None and user is None,
        rare=asked.rare,
        other=asked.other,
        failure=asked.failure,
        sample=sample_of(asked, protected=settings is not None and topic == settings.kafka.raw_topic),
    )


def _source(
    asked: Asked, paths: list[FieldPath], user: FieldPath | None, topic: str | None, settings: Settings | None
) -> Source:
    if asked.file_format not in (None, *FORMATS):
        raise cannot("--format", "it is not known", f"write one of {', '.join(FORMATS)}")
    if topic is not None and settings is not None:
        from stream.fitting.topic import topic_source

        if asked.file_format is not None:
            raise cannot("--format", "a topic holds JSON records, and no file", "leave it away")
        return topic_source(settings, topic, os.environ)
    file = Path(asked.source or "")
    wanted = tuple(paths) if user is None else (*paths, user)
    read = Fields(wanted, frozenset(), _MOST_BYTES, options="columns of the table: --joint A,B and --user")
    return file_source(file, asked.file_format or format_of(file), read)


def _refuse_others(asked: Asked) -> None:
    """Options that would be passed over in silence."""
    for option in fields(Asked):
        if option.name not in _SERVES and getattr(asked, option.name) != option.default:
            name = f"--{option.name.replace('_', '-')}"
            raise cannot(name, "it says how a model is learnt, and --joint counts a table", "leave it away")


def _refuse_overlaps(paths: list[FieldPath], user: FieldPath | None) -> None:
    named = [(path, "--joint") for path in paths] + ([] if user is None else [(user, "--user")])
    for (one, first), (other, second) in itertools.combinations(named, 2):
        if one.overlaps(other) or one.shape_conflict(other):
            options = first if first == second else f"{first} and {second}"
            raise cannot(options, "two of its names are one field, or a field inside another", "name each once")
