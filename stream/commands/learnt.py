"""`sottovoce learnt`: how far each partition of a pipeline that learns its model has come, and the model of one."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beliefs.model_file import serialise
from beliefs.rounding import UNITS_PER_NAT, budget_units
from stream.commands.report import errors_told, say, say_json
from stream.engine.changelog import KafkaChangelog
from stream.engine.connection import connection_of
from stream.engine.lookups import Lookups
from stream.engine.topics import facts_of
from stream.errors import CannotFit, PublishFailed
from stream.learning.epochs import Turn, standing_of
from stream.learning.learners import in_words
from stream.learning.mark import decode_mark
from stream.learning.record import Epoch, decode_epoch, epoch_number
from stream.learning.standing import Standing
from stream.names import EXIT_DONE
from stream.protocol.control import LEARNING_KEY, PROGRESS_KEY, decode_progress, is_mark
from stream.settings.followed import require_single_events
from stream.settings.load import load_settings
from stream.settings.model import Settings

Marks = Mapping[bytes, bytes]


@dataclass(frozen=True)
class Partition:
    """`standing` is None where no record has come yet."""

    number: int
    epochs: tuple[Epoch, ...]
    standing: Standing | None


def learnt_command(config: Path, partition: int | None, out: Path | None, as_json: bool) -> int:
    """Say where each partition stands; with `out`, write the model of one of them."""
    with errors_told(as_json=as_json):
        settings = load_settings(config)
        require_single_events(settings, config)
        if settings.model.learn is None:
            why = "the settings name a model, and nothing is learnt"
            raise CannotFit(
                "There is nothing to show.", "model", why, "write model: {learn: {values: [...]}} to learn one"
            )
        with _read_only():
            found = asyncio.run(_read(settings))
        if partition is not None:
            found = [each for each in found if each.number == partition]
        written = None if out is None else _write(out, found, config)
        if as_json:
            say_json({"ok": True, "file": written, "partitions": [_facts(each) for each in found]})
        else:
            say("\n".join([_text(each) for each in found] + ([] if written is None else [f"{written} is written."])))
    return EXIT_DONE


@contextmanager
def _read_only() -> Iterator[None]:
    """What reads the topics for a worker says what becomes of the worker, and here there is none."""
    try:
        yield
    except PublishFailed as error:
        fix = "see whether the brokers are up, and whether this login may read the belief topic; then ask again"
        raise CannotFit("The belief topic cannot be read.", error.where, error.why, fix) from None


async def _read(settings: Settings) -> list[Partition]:
    """From the belief topic alone: no key is needed, and no worker is asked."""
    connection, topic = connection_of(settings.kafka, os.environ), settings.changelog_topic
    facts = (await facts_of(connection, [topic])).get(topic)
    if facts is None:
        why = "no worker of this pipeline has run on these brokers"
        raise CannotFit("There is nothing to show yet.", f"topic {topic}", why, "start one: `sottovoce run SETTINGS`")
    lookups = Lookups(connection)
    await lookups.start()
    try:
        reader = KafkaChangelog(connection, lookups, topic)
        return [partition_of(number, await _marks(reader, number), settings) for number in range(facts.partitions)]
    finally:
        await lookups.close()


async def _marks(reader: KafkaChangelog, partition: int) -> Marks:
    found: dict[bytes, bytes] = {}
    async for chunk in reader.read(partition, 0):
        found |= {key: value for key, value in chunk.pairs if value is not None and is_mark(key)}
    return found


def partition_of(number: int, marks: Marks, settings: Settings) -> Partition:
    learn, where = settings.model.learn, f"topic {settings.changelog_topic}, partition {number}"
    mark = marks.get(LEARNING_KEY)
    if mark is None or learn is None:
        return Partition(number, (), None)
    records = {at: value for key, value in marks.items() if (at := epoch_number(key)) is not None}
    epochs = tuple(decode_epoch(records[at], where) for at in sorted(records))
    turn = Turn(decode_mark(mark, learn.values.size, where), epochs[-1])
    reached = decode_progress(marks[PROGRESS_KEY], where)
    return Partition(number, epochs, standing_of(turn, budget_units(settings.mechanism.epsilon), reached))


def _write(out: Path, found: list[Partition], config: Path) -> str:
    ready = [each for each in found if each.standing is not None and each.standing.informed]
    if len(ready) != 1:
        numbers = ", ".join(str(each.number) for each in ready) or "none"
        raise CannotFit(
            "No model can be written.",
            where=f"{config}",
            why=f"exactly one partition is needed that releases under a model it has learnt; there: {numbers}",
            fix="name one of them with --partition" if ready else "wait until one has learnt a model, and ask again",
        )
    model = ready[0].epochs[-1].model
    try:
        with out.open("xb") as new:
            new.write(serialise(model.alphabet, model.chain, model.learnt_from))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CannotFit("The model cannot be written.", f"{out}", why, "name a file that does not exist yet") from None
    return str(out)


def _facts(each: Partition) -> dict[str, Any]:
    return {
        "partition": each.number,
        "standing": None if each.standing is None else each.standing._asdict(),
        "epochs": [
            {
                "epoch": epoch.number,
                "phase": epoch.phase,
                "because": epoch.because,
                "first_offset": epoch.first,
                "model": epoch.model.short,
                "error": epoch.error,
                "withheld_nats": epoch.withheld_units / UNITS_PER_NAT if epoch.informed else None,
            }
            for epoch in each.epochs
        ],
    }


def _text(each: Partition) -> str:
    if each.standing is None:
        return f"Partition {each.number}: no record has come yet."
    lines = [f"Partition {each.number}, epoch {each.standing.epoch}: {in_words(each.standing)}."]
    because = {"start": "nothing was known", "learnt": "a model was learnt", "drift": "the releases contradicted it"}
    lines += [
        f"  epoch {epoch.number}, {epoch.phase}, from offset {epoch.first:,} on: {because[epoch.because]}"
        for epoch in each.epochs
    ]
    return "\n".join(lines)
