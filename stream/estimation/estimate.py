"""What an analyst calls: released records in, frequencies with intervals out. How to use it: estimation.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic_core import PydanticCustomError

from beliefs.checks import Invalid
from mechanisms.local.pooled import Pooling
from stream.adversary.export import record_in
from stream.adversary.facts import json_lines
from stream.audit.audit import Progress
from stream.audit.records import Record
from stream.errors import CannotAudit, CannotEstimate
from stream.estimation.asked import Asked
from stream.estimation.gathering import Gathering
from stream.estimation.reading import NO_RELEASE
from stream.estimation.results import FieldResult, WindowResult, columns_of
from stream.estimation.task import task_of
from stream.estimation.told import finished
from stream.named_models import pipeline_models
from stream.settings.kinds import read_duration
from stream.settings.load import load_settings
from stream.settings.model import Settings

BLOCK: Final = 8_000
POOLINGS: Final[Mapping[str, Pooling]] = {"precision": "precision", "shares": "shares"}


@dataclass(frozen=True)
class Estimates:
    """Windows in their order; `passed_over` says of how many records, and why, nothing was taken."""

    windows: Sequence[WindowResult]
    passed_over: Mapping[str, int]

    def columns(self) -> dict[str, list[Any]]:
        """One row for each number: pandas.DataFrame(found.columns()), pyarrow.table(found.columns())."""
        return columns_of(self.windows)

    def of(self, field: str) -> list[FieldResult]:
        """One field, or a pair written a,b, in each window."""
        return [one for window in self.windows for one in window.fields if one.name == field]


def estimate(
    settings: Settings | Path | str,
    records: Iterable[Record | Mapping[str, Any] | bytes | str],
    *,
    window: str | None = None,
    late: str = "0s",
    joint: Sequence[tuple[str, str]] = (),
    confidence: float = 0.95,
    pooling: Pooling = "precision",
    transitions: bool = False,
    floor: int | None = None,
    epochs: Mapping[int, Iterable[bytes]] | None = None,
) -> Estimates:
    """Of records as a consumer hands them over, or as lines of an export: objects, or their JSON.

    Records of a partition are in its order. `window` and `late` are durations such as 1h; `floor` stands in for the
    settings' small_count_floor. Of a pipeline that learns its model, `epochs` are the records of epochs from the belief
    topic, by partition.
    """
    known = settings if isinstance(settings, Settings) else load_settings(Path(settings))
    if known.aggregate is not None:
        why = "windows of aggregates are released with their intervals, and nothing for an event"
        fix = "read the records of the released topic: each number has its interval"
        raise CannotEstimate("There is nothing to estimate.", "aggregate", why, fix)
    if known.crowd is not None:
        why = "crowds are released as they are, and nothing for an event"
        fix = "read the records of the released topic: their numbers are the true ones, or say their noise"
        raise CannotEstimate("There is nothing to estimate.", "crowd", why, fix)
    asked = asked_for(window, late, tuple(joint), confidence, pooling, transitions)
    task = task_of(known, pipeline_models(known), asked)
    gathering = Gathering(task if floor is None else replace(task, floor=floor))
    for partition, its in (epochs or {}).items():
        for record in its:
            gathering.add_epoch(partition, record)
    take_all(gathering, _records_in(records, gathering))
    return Estimates(tuple(finished(gathering)), dict(gathering.reader.counts))


def asked_for(
    window: str | None,
    late: str,
    joint: tuple[tuple[str, str], ...],
    confidence: float,
    pooling: str,
    transitions: bool,
) -> Asked:
    if not 0.5 <= confidence < 1.0:
        raise _cannot("confidence", "it is not from 0.5 to below 1", "write one such as 0.95")
    way = POOLINGS.get(pooling)
    if way is None:
        raise _cannot("pool", "it is neither precision nor shares", "write precision or shares")
    length = 0 if window is None else _duration(window, "window")
    if window is not None and length < 1000:
        raise _cannot("window", "it is shorter than a second", "write one such as 1h")
    return Asked(length, _duration(late, "late"), joint, confidence, way, transitions)


def take_all(gathering: Gathering, records: Iterable[tuple[int, Record]]) -> None:
    """Records with their partitions, which may come in any order of partitions."""
    going = iter(records)
    while block := list(islice(going, BLOCK)):
        parts: dict[int, list[Record]] = {}
        for partition, record in block:
            parts.setdefault(partition, []).append(record)
        for partition, part in parts.items():
            gathering.take(partition, part)


def records_of_file(file: Path, gathering: Gathering, progress: Progress) -> Iterator[tuple[int, Record]]:
    """The lines of an export; a line that is no JSON object is refused with its number."""

    def lines() -> Iterator[Mapping[str, Any]]:
        try:
            for number, line in json_lines(file, "--releases"):
                if number % BLOCK == 0:
                    progress("released records", BLOCK)
                yield line
        except CannotAudit as error:
            fix = "export the released topic once more, one JSON object a line: key, value, headers, timestamp"
            raise CannotEstimate("A file of released records cannot be read.", error.where, error.why, fix) from None

    return _records_in(lines(), gathering)


def _records_in(
    records: Iterable[Record | Mapping[str, Any] | bytes | str], gathering: Gathering
) -> Iterator[tuple[int, Record]]:
    """What is no record at all is counted as that."""
    needs_time, counts = gathering.task.asked.window > 0, gathering.reader.counts
    for number, one in enumerate(records):
        if not isinstance(one, Mapping | bytes | str):
            yield int(getattr(one, "partition", 0)), one
            continue
        try:
            line = one if isinstance(one, Mapping) else orjson.loads(one)
            if not isinstance(line, Mapping):
                raise Invalid("line", "is no object")
            found = record_in(line, number, needs_time=needs_time)
        except (Invalid, orjson.JSONDecodeError):
            counts[NO_RELEASE] += 1
            continue
        yield found


def _duration(text: str, name: str) -> int:
    try:
        return read_duration(text)
    except PydanticCustomError as problem:
        context = problem.context or {}
        raise _cannot(name, f"it is not {context.get('allowed')}", str(context.get("fix"))) from None


def _cannot(where: str, why: str, fix: str) -> CannotEstimate:
    return CannotEstimate("What is asked for cannot be done.", f"option --{where}", why, fix)
