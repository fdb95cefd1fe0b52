"""The settings of a chosen point: the user's own file, with what the point changes and nothing else.

What is written is read again before it is handed out, and must make the very settings that were tried.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from stream.errors import CannotPlan, ConfigurationRefused
from stream.planning.grid import Document
from stream.settings.load import FILES, written_out
from stream.settings.model import Settings
from stream.settings.rewrite import REMOVED, CannotRewrite, Names, rewritten
from stream.settings.yaml_lines import read_tree

HEAD: Final = "# Written by `sottovoce plan`"


@dataclass(frozen=True)
class Given:
    """A settings file as it was when the plan began, and the model that stands in for its own, if any."""

    file: Path
    data: bytes
    mode: int = 0o600
    model: Path | None = None


def settings_text(given: Given, wanted: Document, out: Path, title: str) -> str:
    """The text for `out` that makes the wanted settings, in which every file is absolute."""
    changes = _changes(written_out(given.data, given.file), wanted)
    text, renamed = given.data.decode("utf-8-sig"), dict(_renamed(given, wanted, changes, out))
    try:
        made = rewritten(text, _as_in_file(given, {**changes, **renamed}))
        if text.startswith(HEAD):
            made = made.partition("\n")[2]
        head = f"{HEAD}: {title}. Changed: {', '.join(map('.'.join, changes))}; the rest is as in {given.file.name}."
        made = head + ("\r\n" if "\r\n" in made else "\n") + made
        if _settings(written_out(made.encode(), out)) == _settings(wanted):
            return made
        why = "read again, it makes other settings than those that were tried"
    except CannotRewrite as problem:
        why = str(problem)
    except (ConfigurationRefused, ValidationError):
        why = "read again, it is refused"
    by_hand = "; ".join(f"{'.'.join(place)} {_by_hand(value)}" for place, value in changes.items())
    fix = f"write one setting a line there, or change by hand: {by_hand}"
    raise CannotPlan("The chosen settings cannot be written into the text of your file.", str(given.file), why, fix)


def _by_hand(value: Any) -> str:
    return "away" if value is REMOVED else f"to {value}"


def _changes(base: Document, wanted: Document) -> dict[Names, Any]:
    """Every place that has to change; what means the same in other words, as 24h and 1d, stays as it is written."""
    found = dict(_differences(base, wanted, ()))
    goal, need = _settings(wanted), {}
    for place, value in found.items():
        tried = copy.deepcopy(wanted)
        _put(tried, place, _at(base, place, REMOVED))
        try:
            same = _settings(tried) == goal
        except ValidationError:
            same = False
        if not same:
            need[place] = _only_needed(value) if isinstance(value, Mapping) else value
    return need


def _only_needed(section: Mapping[str, Any]) -> Document:
    return {name: value for name, value in section.items() if value is not None}


def _differences(base: Document, wanted: Document, above: Names) -> Iterator[tuple[Names, Any]]:
    for name in (*wanted, *(name for name in base if name not in wanted)):
        old, new = base.get(name, REMOVED), wanted.get(name, REMOVED)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, (*above, name))
        elif old is REMOVED or new is REMOVED or old != new:
            yield (*above, name), new


def _at(document: Document, place: Names, otherwise: Any = None) -> Any:
    found: Any = document
    for name in place:
        if not isinstance(found, dict) or name not in found:
            return otherwise
        found = found[name]
    return found


def _put(document: Document, place: Names, value: Any) -> None:
    section = _at(document, place[:-1])
    if value is REMOVED:
        section.pop(place[-1], None)
    else:
        section[place[-1]] = value


def _renamed(given: Given, wanted: Document, changes: Mapping[Names, Any], out: Path) -> Iterator[tuple[Names, str]]:
    """A relative name is meant beside the file that it stands in."""
    folder, new_folder = _folder(given.file), _folder(out)
    raw = read_tree(given.data).value
    for place in FILES:
        name = _at(wanted, place)
        if name is None:
            continue
        if place in changes:
            if given.model is not None and not given.model.is_absolute():
                yield place, _relative(Path(name), new_folder)
        elif folder != new_folder and not Path(_at(raw, _written_place(raw, place))).is_absolute():
            yield place, _relative(Path(name), new_folder)


def _folder(file: Path) -> Path:
    return file.absolute().parent.resolve()


def _relative(file: Path, folder: Path) -> str:
    """Links on the way are followed, or .. would lead elsewhere; a last one is not: what it points to may change."""
    return os.path.relpath(file.parent.resolve() / file.name, folder)


def _as_in_file(given: Given, changes: Mapping[Names, Any]) -> dict[Names, Any]:
    raw = read_tree(given.data).value
    return {_written_place(raw, place): value for place, value in changes.items()}


def _written_place(raw: Document, place: Names) -> Names:
    """`model: FILE` is short for model.file."""
    return place[:-1] if isinstance(_at(raw, place[:-1]), str) else place


def _settings(document: Document) -> Settings:
    """With one name for each file, so that two names of the same file are the same settings."""
    plain = copy.deepcopy(document)
    for place in FILES:
        name = _at(plain, place)
        if name is not None:
            _put(plain, place, str(Path(name).parent.resolve() / Path(name).name))
    return Settings.model_validate(plain)
