"""`sottovoce fit [CONFIG] --from DATA --out MODEL`: a model from data; with `--released`, from releases alone; with
`--joint A,B`, a joint table of several fields; with `--law KIND`, how people depend on each other.

Exit status 0 when the model is written, 2 when there is none that could be.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from stream.commands.report import errors_told, say, say_json
from stream.errors import CannotFit
from stream.fitting.asked import Asked, cannot, task_of
from stream.fitting.law_asked import LawAsked, law_task_of, refuse_without_law
from stream.fitting.progress import Progress
from stream.names import EXIT_DONE
from stream.settings.followed import load_followed
from stream.settings.load import load_settings


class Answer(NamedTuple):
    """The model file's bytes, the figures, the report as text and as a page."""

    data: bytes
    facts: dict[str, Any]
    text: str
    page: str


def fit_command(
    *,
    config: Path | None,
    out: Path,
    html: Path | None,
    replace: bool,
    as_json: bool,
    released: bool,
    joint: str | None = None,
    **options: Any,
) -> int:
    """Learn a model, write it, and say how good it is. `options` are those of `Asked` and `LawAsked`."""
    wanted = LawAsked(**{each.name: options.pop(each.name, None) for each in fields(LawAsked)})
    asked = Asked(**options)
    with errors_told(as_json=as_json):
        _refuse_one_for_two(config, asked.source, out, html, wanted.friends)
        for file in (out, html):
            if file is not None:
                _require_free(file, replace=replace)
        way = _from_data if asked.private_epsilon is None else _from_noisy_counts
        if wanted.law is not None:
            _refuse_beside("--law", released, html, config=config, joint=joint)
            answer = _law(wanted, asked, out)
        elif joint is not None:
            refuse_without_law(wanted)
            _refuse_beside("--joint", released, html)
            answer = _joint_table(joint, config, asked, out)
        else:
            refuse_without_law(wanted)
            answer = (_from_releases if released else way)(config, asked, out)
        _write(out, answer.data)
        if html is not None:
            _write(html, answer.page.encode())
        if as_json:
            say_json({"ok": True, "file": str(out), **answer.facts})
        else:
            say(answer.text)
    return EXIT_DONE


def _from_data(config: Path | None, asked: Asked, out: Path) -> Answer:
    from stream.fitting.fit import fit
    from stream.fitting.picture import page
    from stream.fitting.report import figures, write_report

    task = task_of(asked, None if config is None else load_settings(config))
    with _progress() as progress:
        fitted = fit(task, progress)
    facts = figures(fitted)
    return Answer(fitted.data, facts, write_report(facts, _written_to(out)), page(fitted, facts))


def _from_noisy_counts(config: Path | None, asked: Asked, out: Path) -> Answer:
    from stream.fitting.private import fit_private, privacy_of
    from stream.fitting.private_report import private_figures, private_page, write_private

    privacy = privacy_of(asked.private_epsilon or "", asked.contribution)
    task = task_of(asked, None if config is None else load_settings(config))
    with _progress() as progress:
        fitted = fit_private(task, privacy, progress)
    facts = private_figures(fitted)
    return Answer(fitted.data, facts, write_private(facts, _written_to(out)), private_page(fitted, facts))


def _from_releases(config: Path | None, asked: Asked, out: Path) -> Answer:
    from stream.commands.compiling import compiling_told
    from stream.commands.report import hint
    from stream.fitting.released import fit_released
    from stream.fitting.released_report import released_figures, released_page, write_released
    from stream.fitting.topic import topic_source
    from stream.serving import load_model

    if config is None or asked != Asked():
        raise CannotFit(
            "What is asked for cannot be done.",
            where="--released",
            why="releases are read as the settings and the model in use say, and in no other way",
            fix="give the settings file, and no option but --out, --html, --replace and --json beside --released",
        )
    settings = load_followed(config)
    if settings.model.learn is not None:
        raise CannotFit(
            "What is asked for cannot be done.",
            where="--released",
            why="this pipeline learns its model from its releases itself, and made them in epochs of several models",
            fix="write the model that it has learnt: `sottovoce learnt SETTINGS --partition N --out FILE`",
        )
    if settings.model.file is None:
        raise CannotFit(
            "What is asked for cannot be done.",
            where="--released",
            why="several models serve the users of these settings, and releases would have to be told apart by them",
            fix="give the settings of a pipeline with one model for everybody",
        )
    model = load_model(Path(settings.model.file))
    topic = topic_source(settings, settings.kafka.released_topic, os.environ)
    with _progress() as progress, compiling_told(hint):
        fitted = fit_released(settings, model, topic, progress)
    facts = released_figures(fitted)
    return Answer(fitted.data, facts, write_released(facts, _written_to(out)), released_page(fitted, facts))


def _refuse_beside(
    way: str, released: bool, html: Path | None, config: Path | None = None, joint: str | None = None
) -> None:
    for option, given in (
        ("--released", released),
        ("--html", html is not None),
        ("CONFIG", config is not None),
        ("--joint", joint is not None),
    ):
        if given:
            raise cannot(option, f"{way} counts a table of its own, and has no such thing", "leave it away")


def _law(wanted: LawAsked, asked: Asked, out: Path) -> Answer:
    from stream.fitting.law import fit_law
    from stream.fitting.law_report import law_figures, write_law

    task = law_task_of(wanted, asked)
    with _progress() as progress:
        fitted = fit_law(task, progress)
    facts = law_figures(fitted)
    return Answer(fitted.data, facts, write_law(facts, _written_to(out)), "")


def _joint_table(joint: str, config: Path | None, asked: Asked, out: Path) -> Answer:
    from stream.fitting.joint import fit_joint
    from stream.fitting.joint_asked import joint_task_of
    from stream.fitting.joint_report import joint_figures, write_joint

    task = joint_task_of(joint, asked, None if config is None else load_settings(config))
    with _progress() as progress:
        fitted = fit_joint(task, progress)
    facts = joint_figures(fitted)
    return Answer(fitted.data, facts, write_joint(facts, _written_to(out)), "")


@contextmanager
def _progress() -> Iterator[Progress]:
    progress = Progress(sys.stderr)
    try:
        yield progress
    finally:
        progress.end()


def _written_to(out: Path) -> str:
    return f", written to {out}"


def _refuse_one_for_two(
    config: Path | None, source: str | None, out: Path, html: Path | None, friends: Path | None
) -> None:
    """Nothing that is read is written over, with --replace either."""
    read = None if source is None else Path(source)
    named = [("the settings", config), ("--from", read), ("--friends", friends), ("--html", html)]
    for written, file in (("--out", out), ("--html", html)):
        for option, other in named:
            if file is not None and other is not None and option != written and file.absolute() == other.absolute():
                why = f"{option} and {written} name the same file, and one would be written over the other"
                raise CannotFit("What is asked for cannot be done.", str(file), why, "name another file")


def _require_free(file: Path, *, replace: bool) -> None:
    """Before hours of reading, not after them."""
    if file.is_dir():
        raise CannotFit("The file cannot be written.", str(file), "it is a folder", "name a file")
    if file.exists() and not replace:
        raise CannotFit("A file is in the way.", str(file), "it is there already", "name another one, or add --replace")
    if not file.absolute().parent.is_dir():
        raise CannotFit("The file cannot be written.", str(file), "its folder is not there", "make the folder")


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CannotFit("The file cannot be written.", str(file), why, "name another place") from None
