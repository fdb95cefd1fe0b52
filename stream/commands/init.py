"""`sottovoce init`: a settings file to start from, with every setting there is and what it means."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

from pydantic.fields import FieldInfo

from stream.commands.report import errors_told, say
from stream.errors import ConfigurationRefused, Problem
from stream.names import EXIT_DONE
from stream.settings.collect import named_section_of
from stream.settings.kinds import write_duration
from stream.settings.model import Settings
from stream.settings.section import Section

_WIDTH: Final = 100

# What somebody has to look at; all other fields stand in the file as comments with their defaults.
_EXAMPLE: Final[dict[str, str]] = {
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
}

# Under sections of the user's own names stands one of an example's name.
_EXAMPLE_NAME: Final = "occupation"
_NAMED: Final = f"fields.each.{_EXAMPLE_NAME}."

# What an optional field without a default looks like when it is used.
_WHEN_USED: Final[dict[str, str]] = {
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
    f"{_NAMED}path": "$.occupation",
    f"{_NAMED}values": "[clerk, nurse, pilot]",
    f"{_NAMED}mechanism.name": "grr",
    f"{_NAMED}mechanism.top": "[clerk]",
    f"{_NAMED}mechanism.report_zero": "0.5",
    f"{_NAMED}mechanism.report_one": "0.75",
    f"{_NAMED}epsilon": "0.5",
    f"{_NAMED}cap": "4.0",
    f"{_NAMED}at_most": "3",
    f"{_NAMED}coarser": "{office: [clerk], away: [nurse, pilot]}",
    "record.event_time.path": "$.time",
    "record.event_time.unit": "ms",
    "record.protect.distance.table": "distances.json",
    "record.protect.distance.cost_table": "costs.json",
    "keys.environment": "SOTTOVOCE_KEYS",
    "store.folder": "beliefs",
}

_HEAD: Final = """\
# Settings of one Sottovoce pipeline. `sottovoce validate` checks this file, `sottovoce explain` says in plain words
# what it promises. A setting right behind a # is not in force: the line shows what it is by default, or how it is
# written; take the # away to use it.
"""


def init_command(file: Path, pipeline: str) -> int:
    """Write the file, unless there is one already, and say what comes next."""
    with errors_told():
        text = template(pipeline)
        try:
            with file.open("x", encoding="utf-8") as new:
                new.write(text)
        except FileExistsError:
            fix = "name another file, or move the old one away"
            raise _refused(file, "a file of that name", "a name that is free", fix) from None
        except OSError as error:
            fix = "name a file in a folder that may be written"
            raise _refused(file, error.strerror or "an error", "a file that can be written", fix) from None
        say(_next_steps(file))
    return EXIT_DONE


def _refused(file: Path, found: str, allowed: str, fix: str) -> ConfigurationRefused:
    return ConfigurationRefused(str(file), [Problem(str(file), 1, "", found, allowed, fix)])


def _next_steps(file: Path) -> str:
    folder = file.parent
    return "\n".join(
        [
            f"{file} is written. What comes next:",
            f"  1. put the model of your field into {folder / 'model.json'}",
            f"  2. sottovoce keys new {folder / 'keys.json'}",
            f"  3. name your brokers, topics and fields in {file}",
            f"  4. sottovoce validate {file}",
            f"  5. sottovoce explain {file}",
            f"  6. sottovoce run {file}",
        ]
    )


def template(pipeline: str = "phones") -> str:
    """The text of a settings file for a pipeline of this name."""
    return _HEAD + "\n".join(_section(Settings, "", pipeline, live=True, level=0)) + "\n"


def _section(section: type[Section], prefix: str, pipeline: str, *, live: bool, level: int) -> Iterator[str]:
    for name, field in section.model_fields.items():
        place = f"{prefix}{name}"
        if level == 0:
            yield ""
        yield from _comment(field.description or "", level)
        named = named_section_of(field.annotation)
        if named is not None:
            yield _line(name, "", live=False, level=level)
            yield from _comment("a name of your own, by which metrics, reports and joint tables call it", level + 1)
            yield _line(_EXAMPLE_NAME, "", live=False, level=level + 1)
            yield from _section(named, f"{place}.{_EXAMPLE_NAME}.", pipeline, live=False, level=level + 2)
            continue
        inner = _inner_section(field)
        if inner is None or place in _EXAMPLE:
            yield _line(name, *_written(place, field, pipeline, live), level)
            if inner is not None:
                yield from _long_form(inner, place, pipeline, level)
        else:
            used = live and any(example.startswith(f"{place}.") for example in _EXAMPLE)
            yield _line(name, "", used, level)
            yield from _section(inner, f"{place}.", pipeline, live=used, level=level + 1)


def _long_form(section: type[Section], place: str, pipeline: str, level: int) -> Iterator[str]:
    word = "text" if section.text_is else "word"
    yield from _comment(f"or, instead of that {word}, a section {place.rpartition('.')[2]} with:", level)
    yield from _section(section, f"{place}.", pipeline, live=False, level=level + 1)


def _written(place: str, field: FieldInfo, pipeline: str, live: bool) -> tuple[str, bool]:
    """The text of a value, and whether it is in force."""
    if place in _EXAMPLE:
        return _EXAMPLE[place].replace("phones", pipeline), live
    if place in _WHEN_USED:
        return _WHEN_USED[place], False
    return _default(field, field.get_default()), False


def _default(field: FieldInfo, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[]"
    is_duration = any("duration" in getattr(getattr(part, "func", None), "__qualname__", "") for part in field.metadata)
    return write_duration(value) if is_duration else str(value)


def _inner_section(field: FieldInfo) -> type[Section] | None:
    for candidate in (field.annotation, *get_args(field.annotation)):
        if isinstance(candidate, type) and issubclass(candidate, Section):
            return candidate
    return None


def _comment(text: str, level: int) -> list[str]:
    indent = "  " * level
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _line(name: str, value: str, live: bool, level: int) -> str:
    return f"{'  ' * level}{'' if live else '#'}{name}:{' ' if value else ''}{value}"
