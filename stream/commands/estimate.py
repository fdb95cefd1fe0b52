"""`sottovoce estimate CONFIG`: unbiased statistics back from what was released.

Exit status 0 when all was told, 1 when nothing could be told of some field or pair, 2 when nothing could be read.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from stream.audit.kafka_world import KafkaTopics
from stream.audit.progress import Shown
from stream.commands.report import errors_told, hint, say_json
from stream.engine.connection import connection_of
from stream.engine.publisher import Publisher
from stream.errors import CannotEstimate
from stream.estimation.asked import Asked
from stream.estimation.estimate import asked_for, records_of_file, take_all
from stream.estimation.exporter import WHAT, exposition
from stream.estimation.gathering import Gathering
from stream.estimation.report import tell, tell_passed_over
from stream.estimation.results import WindowResult
from stream.estimation.run import TopicReader, follow, read, require_topic
from stream.estimation.sinks import TOPIC, Sink, TopicSink, file_sink, require_free
from stream.estimation.task import task_of
from stream.estimation.told import finished
from stream.exposition import Page
from stream.named_models import pipeline_models
from stream.names import EXIT_DONE, EXIT_FAILED
from stream.settings.followed import require_single_events
from stream.settings.load import load_settings
from stream.settings.model import Settings


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    asked: Asked = field(default_factory=Asked)
    releases: Path | None = None
    to: str | None = None
    follow: bool = False
    serve: int | None = None
    host: str = "127.0.0.1"
    replace: bool = False
    as_json: bool = False
    brokers: tuple[str, ...] = ()

    @property
    def follows(self) -> bool:
        return self.follow or self.serve is not None


def estimate_command(
    *,
    config: Path,
    window: str | None,
    late: str,
    joint: Sequence[str] | None,
    transitions: bool,
    confidence: float,
    pool: str,
    serve: int | None,
    brokers: Sequence[str] | None,
    **others: Any,
) -> int:
    """`others` are those of `Options`."""
    with errors_told(as_json=others["as_json"]):
        pairs = tuple(pair_in(text) for text in joint or ())
        asked = asked_for(window, late, pairs, confidence, pool, transitions)
        options = Options(asked, serve=serve, brokers=tuple(brokers or ()), **others)
        refuse_together(options)
        settings = load_settings(config)
        require_single_events(settings, config)
        if options.brokers:
            kafka = settings.kafka.model_copy(update={"brokers": options.brokers})
            settings = settings.model_copy(update={"kafka": kafka})
        gathering = Gathering(task_of(settings, pipeline_models(settings), options.asked))
        if options.releases is not None and not os.access(options.releases, os.R_OK):
            what, where = "A file of released records cannot be read.", f"--releases {options.releases}"
            fix = "name a file of released records, one JSON object a line"
            raise CannotEstimate(what, where, "it is not there, or not readable", fix)
        if options.to is not None and not options.to.startswith(TOPIC):
            require_free(Path(options.to), replace=options.replace)
        unanswered = asyncio.run(_run(settings, gathering, options))
        return EXIT_FAILED if unanswered else EXIT_DONE


def pair_in(text: str) -> tuple[str, str]:
    one, comma, other = text.partition(",")
    if not comma or "," in other:
        raise CannotEstimate("There is no such joint table.", f"--joint {text}", "it is no pair", "write --joint a,b")
    return one, other


async def _run(settings: Settings, gathering: Gathering, options: Options) -> bool:
    """Answers whether nothing could be told of some field."""
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
    async with AsyncExitStack() as stack:
        shown = stack.enter_context(Shown(sys.stderr, "estimate"))
        sink = Watched(await _sink(settings, options, console))
        stack.push_async_callback(sink.close)
        if options.releases is not None:
            take_all(gathering, records_of_file(options.releases, gathering, shown))
        else:
            topics = KafkaTopics(connection_of(settings.kafka, os.environ))
            reader = TopicReader(gathering, topics, shown)
            topic = gathering.task.released_topic
            fix = "correct kafka.released_topic and kafka.brokers in the settings"
            await require_topic(topics, topic, f"topic {topic}", fix)
            show = _page(options, stack)
            await (
                follow(reader, sink.take, show, _until_interrupted()) if options.follows else read(reader, sink.take)
            )
            if reader.is_cut:
                hint("estimate: the first records are gone; whose first releases are among them cannot be followed")
        for result in finished(gathering):
            await sink.take(result)
        if not options.as_json:
            tell_passed_over(gathering.reader.counts, Console(file=sys.stderr, width=120))
        if options.to is not None or options.serve is not None:
            for line in sink.not_told:
                hint(f"estimate: not told: {line}")
        return sink.unanswered


def _until_interrupted() -> asyncio.Event:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    return stop


def _page(options: Options, stack: AsyncExitStack) -> Callable[[str], None] | None:
    if options.serve is None:
        return None
    page = stack.enter_context(Page(options.host, options.serve, WHAT, exposition(None, {})))
    hint(f"estimate: metrics at http://{options.host}:{page.port}/metrics")
    return page.show


async def _sink(settings: Settings, options: Options, console: Console) -> Sink:
    if options.to is None:
        return Printed(console, as_json=options.as_json, quiet=options.serve is not None)
    if not options.to.startswith(TOPIC):
        return file_sink(Path(options.to))
    name = options.to.removeprefix(TOPIC)
    kafka = settings.kafka
    own = (kafka.raw_topic, kafka.released_topic, kafka.dead_letter_topic, settings.changelog_topic)
    where, fix = f"--to {options.to}", "make a topic for the results, and name it"
    if name in own or not name:
        why = "it is one of the pipeline's own topics" if name else "no topic is named"
        raise CannotEstimate("Results cannot be written there.", where, why, fix)
    connection = connection_of(kafka, os.environ)
    await require_topic(KafkaTopics(connection), name, where, fix)
    publisher = Publisher(connection, name)
    await publisher.start()
    return TopicSink(publisher)


@dataclass
class Watched:
    """A sink, and what could not be told of what went into it, each thing once."""

    sink: Sink
    unanswered: bool = False
    not_told: dict[str, None] = field(default_factory=dict)

    async def take(self, result: WindowResult) -> None:
        for one in result.fields:
            self.unanswered |= one.is_unanswered
            self.not_told |= {f"{one.name}: {why}": None for why in (*one.notes, one.why_nothing) if why}
        await self.sink.take(result)

    async def close(self) -> None:
        await self.sink.close()


@dataclass
class Printed:
    """On the terminal, or as JSON, one object for each field, one after the other."""

    console: Console
    as_json: bool
    quiet: bool = False

    async def take(self, result: WindowResult) -> None:
        if self.as_json:
            for document in result.documents():
                say_json(document)
        elif not self.quiet:
            tell(result, self.console)

    async def close(self) -> None:
        return


def refuse_together(options: Options) -> None:
    why = ""
    if options.releases is not None and options.follows:
        why = "--releases reads a file, and --follow and --serve a topic"
    elif options.follow and options.serve is None and not options.asked.window:
        why = "--follow tells of each window as it ends, and there is no --window"
    elif options.to is not None and options.as_json:
        why = "--json is for standard output, and --to for elsewhere"
    if why:
        raise CannotEstimate("Options do not go together.", "command line", why, "leave one out, or add the other")
