"""`sottovoce adversary CONFIG`: read what was released as an adversary would, guess, and see how far that gets.

Exit status 0 when it stays under the bound, 1 when it gets beyond, 2 when nothing could be read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from beliefs.model_file import Model
from stream.adversary.attack import Task, attack, attack_export
from stream.adversary.export import read_export
from stream.adversary.facts import Naming, read_facts
from stream.adversary.page import page_of
from stream.adversary.report import tell
from stream.adversary.result import Result
from stream.adversary.serve import WHAT, Follower, exposition, follow
from stream.adversary.truth import topic_id_of
from stream.adversary.watcher import Adversary, refuse_unless_followed
from stream.audit.field_joint import joint_of
from stream.audit.kafka_world import KafkaTopics
from stream.audit.law import law_of
from stream.audit.progress import Shown
from stream.audit.public import Public
from stream.audit.task import public_of, segments_of
from stream.commands.report import errors_told, hint, say_json
from stream.engine.connection import connection_of
from stream.errors import CannotAudit, ModelRefused
from stream.exposition import Page
from stream.named_models import model_in, pipeline_models
from stream.names import EXIT_DONE
from stream.settings.followed import load_followed
from stream.settings.model import Settings


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    releases: Path | None = None
    model: Path | None = None
    knows: Path | None = None
    truth: Path | None = None
    raw: bool = False
    smooth: bool = False
    html: Path | None = None
    exposed: int = 0
    reidentify: int = 0
    as_json: bool = False
    brokers: Sequence[str] = ()


def adversary_command(config: Path, options: Options) -> int:
    with errors_told(as_json=options.as_json):
        settings, task = prepared(config, options)
        with Shown(sys.stderr, "adversary") as shown:
            if options.releases is not None:
                records = read_export(options.releases, "--releases", task.public)
                task = with_facts(task, options, None)
                result = attack_export(task, records, shown)
            else:
                result = asyncio.run(_attack(settings, task, options, shown))
        _say(result, options, are_pseudonyms=settings.record.release_key == "pseudonym")
        return result.exit_status


def prepared(config: Path, options: Options) -> tuple[Settings, Task]:
    """The settings, and the task without facts."""
    refuse_together(options)
    settings = load_followed(config)
    refuse_to_look_back(settings, options)
    if options.brokers:
        kafka = settings.kafka.model_copy(update={"brokers": tuple(options.brokers)})
        settings = settings.model_copy(update={"kafka": kafka})
    if settings.model.learn is not None:
        raise CannotAudit(
            "The adversary does not read the releases of a pipeline that learns its model.",
            where="model.learn",
            why="they were made in epochs, and a reader's belief would have to go over from model to model",
            fix="ask `sottovoce audit` whether they keep what is promised; `sottovoce learnt` shows the epochs",
        )
    models = pipeline_models(settings)
    own = None
    if options.model is not None:
        own = model_in(options.model, "correct the file after --model, or leave the option out")
        refuse_other_values(models[0], own, options.model)
    readers = readers_of(settings, models, own)
    return settings, Task(
        settings.pipeline.name,
        settings.kafka.raw_topic,
        readers,
        Naming(readers[0].public.fingerprint, None),
        raw_truth=options.raw,
        smooth=options.smooth,
        reidentify=options.reidentify,
    )


def refuse_to_look_back(settings: Settings, options: Options) -> None:
    if options.smooth and settings.window is not None:
        raise CannotAudit(
            "The adversary does not look back upon windows.",
            where="option --smooth",
            why="what later windows say about earlier ones is worked out for single releases only",
            fix="leave the option out: within a window all that it tells about each value is used anyway",
        )


def readers_of(settings: Settings, models: Sequence[Model], own: Model | None = None) -> tuple[Adversary, ...]:
    """A reader for each model that serves. One who believes a model of his own believes it of everybody, whatever the
    segment; he is the reader that epsilon is about if it is the pipeline's, for everybody.
    """
    joint = joint_of(settings)
    segments = segments_of(settings, models, joint)
    publics = (public_of(settings, models[0], joint),) if segments is None else segments.publics
    if own is None:
        return tuple(Adversary(public, public.law, is_the_model_reader=True) for public in publics)
    law, same = law_of(own.chain), {model.digest for model in models} == {own.digest}
    readers = tuple(Adversary(public, law, is_the_model_reader=same) for public in publics)
    for reader in readers:
        refuse_unless_followed(reader)
    return readers


def serve_command(config: Path, options: Options, host: str, port: int) -> int:
    """Follow the topic and serve what is seen, until interrupted."""
    with errors_told(as_json=options.as_json):
        if options.releases or options.html or options.exposed or options.smooth or options.reidentify:
            why = "--serve shows sums over all users as metrics, of the topic and as they come, and nothing else"
            raise CannotAudit("Options do not go together.", "command line", why, "leave the other options out")
        settings, task = prepared(config, options)
        told_to_stop = contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError)
        with Page(host, port, WHAT, exposition(None, 1)) as page, told_to_stop:
            hint(f"adversary: metrics at http://{host}:{page.port}/metrics; the first look compiles for some seconds")
            asyncio.run(_serve(settings, task, options, page))
        return EXIT_DONE


async def _serve(settings: Settings, task: Task, options: Options, page: Page) -> None:
    task_at_work = asyncio.current_task()
    if task_at_work is not None:  # an interrupt would not do: shells start what is in the background deaf to it
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task_at_work.cancel)
    topics = KafkaTopics(connection_of(settings.kafka, os.environ))
    task = with_facts(task, options, await topic_id_of(task.public, topics))
    await follow(Follower(task, topics), page, floor=settings.metrics.small_count_floor)


async def _attack(settings: Settings, task: Task, options: Options, shown: Shown) -> Result:
    topics = KafkaTopics(connection_of(settings.kafka, os.environ))
    task = with_facts(task, options, await topic_id_of(task.public, topics))
    return await attack(task, topics, shown)


def with_facts(task: Task, options: Options, topic_id: bytes | None) -> Task:
    """The task with what the files say; who knows raw values is no longer the reader that epsilon is about."""
    public: Public = task.public
    naming, alphabet = replace(task.naming, topic_id=topic_id), public.form.alphabet
    if options.truth is not None:
        task = replace(task, truth=read_facts(options.truth, "--truth", alphabet, naming))
    if options.knows is not None:
        side = read_facts(options.knows, "--knows", alphabet, naming)
        task = replace(
            task, side=side, readers=tuple(replace(each, is_the_model_reader=False) for each in task.readers)
        )
    return replace(task, naming=naming)


def refuse_together(options: Options) -> None:
    why = ""
    if options.raw and options.truth is not None:
        why = "--raw and --truth both say what is true"
    elif options.raw and options.releases is not None:
        why = "--raw reads a topic, and --releases reads a file"
    elif options.exposed and options.as_json:
        why = "--exposed is for the terminal alone, and --json is for programs"
    if why:
        raise CannotAudit("Options do not go together.", "command line", why, "leave one of them out")
    if options.html is not None and (options.html.is_dir() or not options.html.absolute().parent.is_dir()):
        why = "it is a folder" if options.html.is_dir() else "its folder is not there"
        raise CannotAudit("The page cannot be written.", f"--html {options.html}", why, "name a file in a folder")


def refuse_other_values(model: Model, own: Model, file: Path) -> None:
    if own.alphabet != model.alphabet and own.alphabet.__dict__ != model.alphabet.__dict__:
        raise ModelRefused(
            "The adversary's model is about other values.",
            where=str(file),
            why="its alphabet is not that of the pipeline's model",
            fix="give a model whose values are the same, in the same order",
        )


def _say(result: Result, options: Options, *, are_pseudonyms: bool) -> None:
    if options.html is not None:
        try:
            options.html.write_text(page_of(result), encoding="utf-8")
        except OSError as error:
            reason = error.strerror or type(error).__name__
            where = f"--html {options.html}"
            raise CannotAudit("The page cannot be written.", where, reason, "name a file that you may write") from None
    if options.as_json:
        say_json(result.as_json())
        return
    exposed = result.exposed(options.exposed, are_pseudonyms=are_pseudonyms)
    tell(result, Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120), exposed)
