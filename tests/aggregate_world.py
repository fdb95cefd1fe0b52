"""Settings of windows of aggregates, for the tests that read, change and compile them."""

from __future__ import annotations

from pathlib import Path

import pytest
from audit_world import EPOCH

from stream.aggregates.opening import OpenedAggregates, compile_aggregates, open_aggregates
from stream.aggregates.promise import AggregatePromise
from stream.errors import ConfigurationRefused
from stream.keys import KeyRing, _document_of
from stream.settings.load import parse_settings
from stream.settings.model import Settings

HEAD = """\
version: 1
pipeline: {name: walkers}
kafka: {brokers: ['127.0.0.1:9092'], raw_topic: walkers.raw, released_topic: walkers.out, dead_letter_topic: w.dead}
record: {user: key}
keys: {file: keys.json}
policy_version: 1
"""
PEOPLE = "people: {count: users, epsilon: 0.2}"
STEPS = "steps: {sum: $.steps, low: 0, high: 40, grid: 0.5, epsilon: 0.3}"
PACE = "pace: {mean: $.pace, low: 0, high: 12, grid: 0.1, take: first, epsilon: 0.4}"
JOB = "job: {histogram: $.job, values: [clerk, nurse, pilot], epsilon: 0.2}"
PLACES = "places: {top: 2, of: $.cell, values: {kind: integers, low: 0, high: 9}, epsilon: 0.5}"
ALL = (PEOPLE, STEPS, PACE, JOB, PLACES)
INDEPENDENT = "dependence: {users: independent}"
TARGET = "target: {nats: 2.0, windows: 1440}"
TIMES = "window: 1m\nfrom: 2026-01-01T00:00:00Z"


def aggregate_text(*queries: str, times: str = TIMES, more: str = INDEPENDENT, target: str = TARGET) -> str:
    lines = [*times.splitlines(), "each:", *(f"  {query}" for query in queries or ALL), *more.splitlines(), target]
    return HEAD + "aggregate:\n" + "".join(f"  {line}\n" for line in lines)


def aggregate_settings(*queries: str, times: str = TIMES, more: str = INDEPENDENT, target: str = TARGET) -> Settings:
    text = aggregate_text(*queries, times=times, more=more, target=target)
    return parse_settings(text.encode(), Path("c.yaml"))


def aggregate_house(folder: Path, text: str) -> Path:
    """Settings with a key ring that is always the same, so that every run draws the same noise."""
    keys = folder / "keys.json"
    keys.touch(mode=0o600)
    keys.write_bytes(_document_of((EPOCH,), 1))
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    return folder / "c.yaml"


def opened_aggregates(folder: Path, text: str | None = None) -> OpenedAggregates:
    return open_aggregates(aggregate_house(folder, aggregate_text() if text is None else text), {})


def promise_of(*queries: str) -> AggregatePromise:
    """The same without a house."""
    settings = aggregate_settings(*queries)
    assert settings.aggregate is not None
    return compile_aggregates(settings, settings.aggregate, KeyRing((EPOCH,), EPOCH))


def refused(file: Path) -> list[tuple[int, str, str]]:
    """Line, place and what was found of every problem; each says what is allowed and how to put it right."""
    with pytest.raises(ConfigurationRefused) as told:
        open_aggregates(file, {})
    assert all(problem.allowed and problem.fix for problem in told.value.problems)
    return [(problem.line, problem.path, problem.found) for problem in told.value.problems]
