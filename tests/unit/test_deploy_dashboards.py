"""The committed dashboards are what the program writes, and ask for nothing that no worker exports."""

from __future__ import annotations

import json
import re
from typing import Any

import dashboards
import pytest
from panels import Dashboard, Pipeline, Shape
from queries import mean, percentile, rate, series

from stream.metrics import table
from stream.metrics.table import METRICS

NAMES = {name: metric for metric in METRICS for name in metric.sample_names()}
SELECTOR = re.compile(r"\b(sottovoce_\w+)(\{[^}]*\})?")
VARIABLES = {"$job", "$instance", "$__rate_interval"}
WHOLE_WIDTH = 24


def written(dashboard: Dashboard) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dashboards.file_of(dashboard).read_text(encoding="utf-8"))
    return found


def asked(dashboard: Dashboard) -> list[str]:
    """Every query as it stands in the committed file, those of the variables included."""
    document = written(dashboard)
    panels = [target["expr"] for panel in document["panels"] for target in panel.get("targets", ())]
    variables = [one["query"] for one in document["templating"]["list"] if one["type"] == "query"]
    return [*panels, *variables]


each_dashboard = pytest.mark.parametrize("dashboard", dashboards.DASHBOARDS, ids=lambda one: str(one.name))


@each_dashboard
def test_the_committed_file_is_what_the_program_writes(dashboard: Dashboard) -> None:
    assert dashboards.file_of(dashboard).read_text(encoding="utf-8") == dashboard.json(), (
        "write the dashboards anew: .venv/bin/python deploy/grafana/dashboards.py"
    )


@each_dashboard
def test_every_query_names_metrics_and_labels_that_workers_export(dashboard: Dashboard) -> None:
    queries = asked(dashboard)
    assert len(queries) > 30
    for query in queries:
        selectors = SELECTOR.findall(query)
        assert selectors, query
        for name, matchers in selectors:
            assert name in NAMES, query
            assert set(re.findall(r"(\w+)=", matchers)) <= {*NAMES[name].labels, "job", "instance"}, query
        assert set(re.findall(r"\$\w+", query)) <= VARIABLES, query


@each_dashboard
def test_panels_fill_their_rows_and_have_names_of_their_own(dashboard: Dashboard) -> None:
    assert {kind for row in dashboard.rows for kind in row.kinds} == set(Pipeline)
    for row in dashboard.rows:
        assert sum(panel.width for panel in row.panels) % WHOLE_WIDTH == 0, row.title
        assert len({panel.title for panel in row.panels}) == len(row.panels)
        assert all(panel.text.endswith(".") for panel in row.panels)
    ids = [panel["id"] for panel in written(dashboard)["panels"]]
    assert len(set(ids)) == len(ids)


@each_dashboard
def test_where_a_query_makes_lines_each_is_told_from_the_others(dashboard: Dashboard) -> None:
    for panel in (panel for row in dashboard.rows for panel in row.panels if panel.shape is Shape.LINES):
        legends = [query.legend for query in panel.queries]
        assert all(legends), panel.title
        assert len(set(legends)) == len(legends), panel.title


def test_a_query_that_no_metric_answers_cannot_be_written() -> None:
    assert series(table.EVENTS, outcome="released").startswith("sottovoce_events_total{")
    with pytest.raises(AssertionError, match="no label"):
        series(table.EVENTS, reason="late")
    with pytest.raises(AssertionError, match="no series"):
        series(table.RELEASE_LEAKAGE)
    with pytest.raises(AssertionError, match="only grow"):
        rate(table.STATE_BYTES)
    with pytest.raises(AssertionError, match="no label"):
        mean(table.RELEASE_LEAKAGE, "outcome")
    with pytest.raises(AssertionError, match="no histogram"):
        percentile(table.LIFETIME_LEAKAGE, 99)
