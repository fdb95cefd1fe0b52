"""`sottovoce init`: a settings file to start from, with every setting there is and what it means."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

from pydantic.fields import FieldInfo

from stream.commands.init_examples import EVENTS, NAMED, PIPELINE, WHEN_USED, Example
from stream.commands.report import errors_told, say
from stream.errors import ConfigurationRefused, Problem
from stream.names import EXIT_DONE
from stream.settings.collect import named_section_of
from stream.settings.kinds import write_duration
from stream.settings.model import Settings
from stream.settings.section import Section, written_fields

_WIDTH: Final = 100

_HEAD: Final = """\
# Settings of one Sottovoce pipeline. `sottovoce validate` checks this file, `sottovoce explain` says in plain words
# what it promises. A setting right behind a # is not in force: the line shows what it is by default, or how it is
# written; take the # away to use it.
"""


def init_command(file: Path, pipeline: str, example: Example = EVENTS) -> int:
    """Write the file, unless there is one already, and say what comes next."""
    with errors_told():
        text = template(pipeline, example)
        try:
            with file.open("x", encoding="utf-8") as new:
                new.write(text)
        except FileExistsError:
            fix = "name another file, or move the old one away"
            raise _refused(file, "a file of that name", "a name that is free", fix) from None
        except OSError as error:
            fix = "name a file in a folder that may be written"
            raise _refused(file, error.strerror or "an error", "a file that can be written", fix) from None
        say(_next_steps(file, example))
    return EXIT_DONE


def _refused(file: Path, found: str, allowed: str, fix: str) -> ConfigurationRefused:
    return ConfigurationRefused(str(file), [Problem(str(file), 1, "", found, allowed, fix)])


def _next_steps(file: Path, example: Example) -> str:
    folder = file.parent
    steps = [
        *(step.format(file=file, folder=folder) for step in example.steps),
        f"sottovoce keys new {folder / 'keys.json'}",
        f"name your brokers, topics and fields in {file}",
        f"sottovoce validate {file}",
        f"sottovoce explain {file}",
        f"sottovoce run {file}",
    ]
    return "\n".join([f"{file} is written. What comes next:", *(f"  {i}. {step}" for i, step in enumerate(steps, 1))])


def template(pipeline: str = PIPELINE, example: Example = EVENTS) -> str:
    """The text of a settings file for a pipeline of this name."""
    return _HEAD + "\n".join(_Template(pipeline, example).section(Settings, "", live=True, level=0)) + "\n"


class _Template:
    def __init__(self, pipeline: str, example: Example) -> None:
        self._pipeline, self._example = pipeline, example

    def section(self, section: type[Section], prefix: str, *, live: bool, level: int) -> Iterator[str]:
        live_places = self._example.live
        for name, field in written_fields(section).items():
            place = f"{prefix}{name}"
            if place in self._example.without:
                continue
            if level == 0:
                yield ""
            yield from _comment(field.description or "", level)
            named = named_section_of(field.annotation)
            if named is not None:
                yield from self._named(name, named, place, live=live, level=level)
                continue
            inner = _inner_section(field)
            if inner is None or place in live_places:
                yield _line(name, *self._written(place, field, live), level)
                if inner is not None:
                    yield from self._long_form(inner, place, level)
            else:
                used = live and any(example.startswith(f"{place}.") for example in live_places)
                yield _line(name, "", used, level)
                yield from self.section(inner, f"{place}.", live=used, level=level + 1)

    def _named(self, name: str, section: type[Section], place: str, *, live: bool, level: int) -> Iterator[str]:
        first = self._example.first.get(place, ())
        yield _line(name, "", live=live and bool(first), level=level)
        for what, line in first:
            yield from _comment(what, level + 1)
            yield "  " * (level + 1) + line
        yield from _comment("a name of your own, by which metrics, reports and joint tables call it", level + 1)
        yield _line(NAMED[place], "", live=False, level=level + 1)
        yield from self.section(section, f"{place}.{NAMED[place]}.", live=False, level=level + 2)

    def _long_form(self, section: type[Section], place: str, level: int) -> Iterator[str]:
        word = "text" if section.text_is else "word"
        yield from _comment(f"or, instead of that {word}, a section {place.rpartition('.')[2]} with:", level)
        yield from self.section(section, f"{place}.", live=False, level=level + 1)

    def _written(self, place: str, field: FieldInfo, live: bool) -> tuple[str, bool]:
        """The text of a value, and whether it is in force."""
        if place in self._example.live:
            return self._example.live[place].replace(PIPELINE, self._pipeline), live
        if place in WHEN_USED:
            return WHEN_USED[place], False
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
