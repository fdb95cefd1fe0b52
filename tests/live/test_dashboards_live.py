"""Debian's Prometheus reads loaded workers of every kind, and every panel and every alert has something to say."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import pytest
from broker import Broker
from dashboards import DASHBOARDS
from live_dashboards import LIVES, Watched
from panels import Pipeline, expressions
from prometheus_server import SAMPLE
from ruamel.yaml import YAML

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

ANSWER_SECONDS_MAX = 30.0
COMPARED = re.compile(r"(?<=\s)(==|>=|<=|>|<)(?=\s)")
OF_DELAY = ("sottovoce_crowd_delay_", "sottovoce_crowd_events_")
BY_PREFIX = {
    "sottovoce_crowd_": Pipeline.CROWD_WINDOWS,
    "sottovoce_aggregate_": Pipeline.AGGREGATES,
    "sottovoce_learning_": Pipeline.LEARNING,
    "": Pipeline.EVENTS,
}


def alerts() -> dict[str, str]:
    """By name, what each looks at before it compares: with `bool` a comparison answers 0 or 1 and drops nothing."""
    document = YAML(typ="safe").load(SAMPLE.with_name("alerts.yaml"))
    rules = [rule for group in document["groups"] for rule in group["rules"]]
    return {rule["alert"]: COMPARED.sub(r"\1 bool", rule["expr"]) for rule in rules}


def kind_of(expression: str) -> Pipeline:
    """The pipelines that an alert is for."""
    if any(name in expression for name in OF_DELAY):
        return Pipeline.CROWD_DELAY
    return next(kind for prefix, kind in BY_PREFIX.items() if prefix in expression)


def panels_of(kind: Pipeline, watched: Watched) -> dict[str, str]:
    """Every query of both dashboards, by where it stands."""
    return {
        f"{dashboard.name}: {title}: {query}": watched.asked(query)
        for dashboard in DASHBOARDS
        for title, query in expressions(dashboard.panels(kind))
    }


def test_every_kind_of_pipeline_is_tried_and_every_alert_belongs_to_one() -> None:
    assert set(LIVES) == set(Pipeline)
    assert {kind_of(inner) for inner in alerts().values()} == set(Pipeline) - {Pipeline.FIELDS}
    assert all(" bool " in inner for inner in alerts().values())


async def silent(watched: Watched, asked: dict[str, str]) -> list[str]:
    return [name for name, query in asked.items() if not await watched.prometheus.values(query)]


@pytest.mark.parametrize("kind", LIVES, ids=lambda kind: str(kind.name).lower())
async def test_every_panel_and_alert_of_a_kind_has_data(broker: Broker, tmp_path: Path, kind: Pipeline) -> None:
    async with LIVES[kind](broker.bootstrap, tmp_path) as watched:
        asked = panels_of(kind, watched) | {name: inner for name, inner in alerts().items() if kind_of(inner) is kind}
        assert len(asked) > 20
        ends = time.monotonic() + ANSWER_SECONDS_MAX
        while (still := await silent(watched, asked)) and time.monotonic() < ends:
            await asyncio.sleep(0.5)
        assert still == []
        nobody = panels_of(kind, watched._replace(instance="127.0.0.1:1"))
        assert await silent(watched, nobody) == list(nobody), "panels answer for a worker that is not there"
