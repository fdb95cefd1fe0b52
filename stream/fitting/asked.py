"""What somebody asks of a fit, in words, made into a task; whatever cannot be meant is refused."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from pydantic_core import PydanticCustomError

from beliefs import json_text
from beliefs.alphabet import Alphabet, Bins, IntegerRange
from beliefs.alphabet_rows import read_alphabet
from beliefs.checks import Invalid
from stream.errors import CannotFit
from stream.fitting.sources import FORMATS, TOPIC, Source, fields_of, file_source, format_of
from stream.fitting.task import Sample, Task
from stream.records.paths import Path as FieldPath
from stream.records.paths import PathError, parse_path
from stream.settings.kinds import read_step
from stream.settings.model import EventTimeSettings, ProtectSettings, RecordSettings, Settings, UserSettings

_MOST_BYTES: Final = 16 << 20


@dataclass(frozen=True)
class Asked:
    """The options as they were given."""

    source: str | None = None
    user: str | None = None
    value: str | None = None
    time: str | None = None
    time_unit: str = "ms"
    file_format: str | None = None
    alphabet: Path | None = None
    integers: str | None = None
    bins: str | None = None
    rare: int = 1
    other: str | None = None
    order: int | None = None
    most_order: int = 3
    least: int = 2
    failure: float = 0.05
    step: str | None = None
    sample: str | None = None
    private_epsilon: str | None = None
    contribution: int = 32


def task_of(asked: Asked, settings: Settings | None) -> Task:
    if asked.source is None:
        raise cannot("--from", "nothing says what to learn from", "name a file, or topic; or learn from --released")
    _refuse_together(asked)
    topic = topic_of(asked.source, settings)
    if asked.file_format not in (None, *FORMATS):
        raise cannot("--format", "it is not known", f"write one of {', '.join(FORMATS)}")
    if not 0.0 < asked.failure < 1.0:
        raise cannot("--failure", "it is no probability between 0 and 1", "write for example 0.05")
    if topic is not None and asked.file_format is not None:
        raise cannot("--format", "a topic holds JSON records, and no file", "leave it away")
    record = _record(asked, settings, from_topic=topic is not None)
    _refuse_overlaps(record)
    alphabet = _alphabet(asked)
    step = _step(asked, settings)
    if step is not None and topic is None and record.event_time.path is None:
        raise cannot("--step", "the records of a file have no time of their own", "name the field: --time $.time")
    if topic is not None and settings is not None:
        from stream.fitting.topic import topic_source

        source: Source = topic_source(settings, topic, os.environ)
    else:
        form = asked.file_format or format_of(Path(asked.source))
        source = file_source(Path(asked.source), form, fields_of(record, alphabet))
    return Task(
        source=source,
        record=record,
        alphabet=alphabet,
        rare=asked.rare,
        other=asked.other,
        order=asked.order,
        most_order=asked.most_order,
        least=asked.least,
        failure=asked.failure,
        step=step,
        epsilon=1.0 if settings is None else settings.mechanism.epsilon,
        sample=sample_of(asked, protected=settings is not None and topic == settings.kafka.raw_topic),
    )


def _refuse_together(asked: Asked) -> None:
    """Options that would be passed over in silence."""
    plain, private = Asked(), asked.private_epsilon is not None
    if asked.order is not None and asked.most_order != plain.most_order:
        raise cannot("--most-order", "--order says which one is learnt, so none is chosen", "keep one of them")
    if not private and asked.contribution != plain.contribution:
        why = "every event counts, unless noise is put onto the counts"
        raise cannot("--contribution", why, "leave it away, or add --private-epsilon")
    if private and (asked.least, asked.most_order) != (plain.least, plain.most_order):
        raise cannot("--private-epsilon", "--least and --most-order choose by true counts", "leave these two away")
    if private and asked.sample is not None:
        raise cannot("--sample", "a model from noisy counts says itself what it tells of its users", "leave it away")


def _refuse_overlaps(record: RecordSettings) -> None:
    """One field cannot be two things; in a table there would not even be a record."""
    user, value, time = record.user.path, record.protect.place, record.event_time.path
    for one, other, options in (
        (user, value, "--user and --value"),
        (user, time, "--user and --time"),
        (value, time, "--value and --time"),
    ):
        if one is not None and other is not None and (one.overlaps(other) or one.shape_conflict(other)):
            raise cannot(options, "they name one field, or a field inside the other", "name two different fields")


def topic_of(source: str, settings: Settings | None) -> str | None:
    """The topic that is meant: `topic` is the settings' raw topic, `topic:NAME` that one; None for a file."""
    if source != TOPIC and not source.startswith(f"{TOPIC}:"):
        return None
    if settings is None:
        raise cannot(
            "--from", "a topic needs brokers", "give the settings file first: sottovoce fit sottovoce.yaml ..."
        )
    return source[len(TOPIC) + 1 :] or settings.kafka.raw_topic


def _record(asked: Asked, settings: Settings | None, *, from_topic: bool) -> RecordSettings:
    """The settings' own, with the options in front of them."""
    given = None if settings is None else settings.record
    user = UserSettings() if given is None else given.user
    if asked.user is not None:
        user = UserSettings(path=field_path(asked.user, "--user"), partitioned_by_user=True)
    elif user.path is None and not from_topic:
        raise cannot("--user", "the records of a file have no key that names the user", "name the field: --user $.user")
    elif user.and_key and not from_topic:
        user = UserSettings(path=user.path, partitioned_by_user=True)
    time = EventTimeSettings() if given is None else given.event_time
    if asked.time is None and asked.time_unit != "ms":
        raise cannot("--time-unit", "it says how the field of --time is written, and none is named", "add --time FIELD")
    if asked.time is not None:
        if asked.time_unit not in ("ms", "s", "iso8601"):
            raise cannot("--time-unit", "it is none of ms, s and iso8601", "write how the field is written")
        time = EventTimeSettings.model_validate({"path": field_path(asked.time, "--time"), "unit": asked.time_unit})
    if asked.value is not None:
        protect = ProtectSettings(path=field_path(asked.value, "--value"))
    elif given is not None and given.protect.path is not None:
        protect = ProtectSettings(path=given.protect.path)
    else:
        raise cannot("--value", "nothing says which field is to be learnt", "name it: --value $.activity")
    public = () if given is None else given.public
    most = _MOST_BYTES if given is None else given.max_bytes
    return RecordSettings(user=user, event_time=time, protect=protect, public=public, max_bytes=most)


def field_path(text: str, option: str) -> FieldPath:
    """A path, or the plain name of a field or a column."""
    try:
        return parse_path(text) if text.startswith("$") else FieldPath((text,))
    except PathError as problem:
        raise cannot(option, str(problem), "write a path such as $.device.activity, or a plain name") from None


def _alphabet(asked: Asked) -> Alphabet | None:
    given = [name for name in ("alphabet", "integers", "bins") if getattr(asked, name) is not None]
    if len(given) > 1:
        raise cannot(f"--{given[1]}", f"--{given[0]} declares the values, too", "keep one of them")
    if given and asked.other is not None:
        raise cannot("--other", "the values are declared, so there is nothing to pool", "leave one of the two away")
    if asked.rare > 1 and asked.other is None:
        raise cannot("--rare", "nothing says what rare values become", 'name their value: --other "other"')
    if asked.alphabet is not None:
        return _alphabet_in(asked.alphabet)
    try:
        if asked.integers is not None:
            low, high = _numbers(asked.integers, "--integers", 2, int)
            return IntegerRange(int(low), int(high))
        if asked.bins is not None:
            low, high, cells = _numbers(asked.bins, "--bins", 3, float)
            return Bins(float(low), float(high), int(cells) if float(cells).is_integer() else -1)
    except Invalid as problem:
        raise cannot(f"--{given[0]}", str(problem), "correct the numbers") from None
    return None


def _alphabet_in(file: Path) -> Alphabet:
    """What a model file holds under `alphabet`, or that alone."""
    try:
        document = json_text.read(file.read_bytes())
        if isinstance(document, dict) and isinstance(document.get("alphabet"), dict):
            document = document["alphabet"]
        return read_alphabet(document)
    except OSError as error:
        why = error.strerror or type(error).__name__
    except Invalid as problem:
        why = str(problem)
    raise CannotFit("The alphabet cannot be read.", str(file), why, 'write it as in a model file: {"kind": ...}')


def _numbers(text: str, option: str, count: int, kind: type[int] | type[float]) -> list[int | float]:
    parts = text.split(":")
    try:
        if len(parts) == count:
            return [kind(part) for part in parts]
    except ValueError:
        pass
    raise cannot(option, f"it is not {count} numbers with colons between them", "write for example 0:23, or -10:40:100")


def _step(asked: Asked, settings: Settings | None) -> int | None:
    if asked.step is None:
        return None if settings is None else settings.model.step
    try:
        return read_step(asked.step)
    except PydanticCustomError as problem:
        raise cannot("--step", f"allowed is {(problem.context or {})['allowed']}", "write for example 10m") from None


def sample_of(asked: Asked, *, protected: bool) -> Sample:
    if asked.sample is None:
        return "protected" if protected else "unknown"
    for known in get_args(Sample):
        if asked.sample == known:
            found: Sample = known
            return found
    raise cannot("--sample", "it is not known", f"write one of {', '.join(get_args(Sample))}")


def cannot(option: str, why: str, fix: str) -> CannotFit:
    return CannotFit("What is asked for cannot be done.", where=option, why=why, fix=fix)
