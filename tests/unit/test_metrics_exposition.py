"""Every row of the table appears in both formats, and the alert rules name nothing else."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import fields_world
import numpy as np
import pytest
from aggregate_world import promise_of
from crowd_metering import flow_told, of_flow, of_windows, work
from metering import a_block, heads_of, meter_settings
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric as FamilyRead
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain
from ruamel.yaml import YAML
from watching import watched_users

from beliefs.rounding import INFINITE, UNITS_PER_NAT
from stream.aggregates.ledger import Decision
from stream.aggregates.total import TotalTold, Window
from stream.fields.choices import FieldsTold
from stream.gathering.first import GatherTold
from stream.learning.learners import Learners
from stream.learning.standing import Standing
from stream.metrics import Meter, crowd_table, table
from stream.metrics.aggregates import AggregateCounts
from stream.metrics.families import MeterCollector, exposition, number, registry_of
from stream.metrics.fields import FieldCounts
from stream.metrics.metric import Kind, Metric
from stream.metrics.table import METRICS
from stream.names import METRIC_PREFIX

NAT = UNITS_PER_NAT
ALERTS = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "alerts.yaml"
LABELS = {"outcome", "side", "percentile", "partition", "reason", "error", "quantile", "phase", "releases"}
LABELS |= {"field", "choice", "through", "aggregate", "part", "adversary"}
INFO_LABELS = {
    "version",
    "python",
    "pipeline",
    "policy",
    "model",
    "mechanism",
    "epsilon",
    "budget_upper",
    "budget_lower",
}


A_STANDING = Standing(
    epoch=2,
    informed=True,
    drifted=False,
    first=16_384,
    next_look=20_480,
    reached=18_000,
    looks=0,
    pairs=15_000,
    error=0.02,
    withheld=0.08,
    blind_agreement=0.7,
    informed_agreement=0.9,
    evidence=1.5,
    model="2:0a1b2c3d",
    looked=False,
)


def busy_meter() -> Meter:
    """Every metric has something to show."""
    meter = Meter(meter_settings(restarts=2), witness=watched_users(12, 20).witness)
    meter.progress.joined = True
    meter.assigned(0)
    rng = np.random.default_rng(5)
    meter.loaded(0, heads_of([(int(spent), int(spent) // 2) for spent in rng.integers(0, 9 * NAT, 300)]))
    meter.progress.recovered(0)
    meter.block(0, a_block({"released": 2, "dead_lettered": 1}, {"not_json": 1}, [NAT // 3, NAT], [0, 1], [5, 70]))
    meter.progress.lag(0, 12)
    meter.failures["fenced"] += 1
    meter.learners = Learners(logging.getLogger("test"))
    meter.learners.stands(0, A_STANDING)
    meter.fields = counted_fields()
    meter.gathered = counted_windows()
    return meter


def counted_windows() -> AggregateCounts:
    counts = AggregateCounts(promise_of(), lambda: 0)
    counts.told(0, GatherTold(0, 0))
    counts.told(0, TotalTold([Window(0, Decision(None, NAT, NAT, NAT))], 0, 1, (0,)))
    return counts


def counted_fields() -> FieldCounts:
    world = fields_world.World(fields_world.settings_of(fields_world.SEX, fields_world.JOB), fields_world.table())
    assert world.promise.fields is not None
    counts, effects = FieldCounts(world.promise.fields, floor=1), world.carry_out(fields_world.events(40))
    counts.change(0, effects.before, effects.heads)
    assert isinstance(effects.fields, FieldsTold)
    counts.told(effects.fields)
    return counts


def series(text: str) -> dict[str, float]:
    return {
        sample.name + "".join(f"|{key}={value}" for key, value in sorted(sample.labels.items())): sample.value
        for family in read_plain(text)
        for sample in family.samples
    }


def test_the_table_lists_every_metric_of_its_module_once() -> None:
    written = [value for each in (table, crowd_table) for value in vars(each).values() if isinstance(value, Metric)]
    assert sorted(METRICS, key=lambda metric: metric.name) == sorted(written, key=lambda metric: metric.name)
    assert len({metric.name for metric in METRICS}) == len(METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: str(metric.name))
def test_names_follow_the_conventions(metric: Metric) -> None:
    assert metric.name.startswith(METRIC_PREFIX)
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
    assert metric.name.endswith("_info") == (metric.kind is Kind.INFO)
    assert not re.search(r"_(ms|milliseconds|percent|kib|mib|bits)\b", metric.name)
    if metric.unit and metric.kind is not Kind.COUNTER:
        assert metric.name.endswith(f"_{metric.unit}")
    assert set(metric.labels) <= (INFO_LABELS if metric.kind is Kind.INFO else LABELS)
    assert metric.help.endswith(".")


def test_exactly_the_metrics_of_the_table_leave_a_worker(tmp_path: Path) -> None:
    windows, flow = of_windows(tmp_path), of_flow(tmp_path)
    work(windows)
    flow.released(flow_told())
    meters = (busy_meter(), windows.meter, flow.meter)
    collected = {sample.name for meter in meters for each in MeterCollector(meter).collect() for sample in each.samples}
    assert collected == {name for metric in METRICS for name in metric.sample_names()}


@pytest.mark.parametrize("accept", ["", "text/plain;version=0.0.4", "*/*"])
def test_the_plain_format_is_the_default(accept: str) -> None:
    body, content_type = exposition(registry_of(busy_meter()), accept)
    assert content_type.startswith("text/plain; version=0.0.4")
    found = series(body.decode())
    assert found["sottovoce_events_total|outcome=released"] == 2
    assert found["sottovoce_release_leakage_nats_bucket|le=1.0|side=upper"] == 2
    assert found["sottovoce_lag_records|partition=0"] == 12
    assert found["sottovoce_worker_restarts_total"] == 2


@pytest.mark.parametrize(
    "accept", ["application/openmetrics-text", "application/openmetrics-text;version=nonsense;q=1"]
)
def test_openmetrics_for_whoever_asks(accept: str) -> None:
    body, content_type = exposition(registry_of(busy_meter()), f"{accept},text/plain;q=0.5")
    assert content_type.startswith("application/openmetrics-text")
    read: Callable[[str], Iterable[FamilyRead]] = read_openmetrics
    families = {family.name: family for family in read(body.decode())}
    assert families["sottovoce_budget_spent_ratio"].type == "gaugehistogram"
    assert not any(sample.exemplar for family in families.values() for sample in family.samples)


def test_a_registry_of_our_own_holds_nothing_else() -> None:
    registry = registry_of(Meter(meter_settings()))
    assert isinstance(registry, CollectorRegistry)
    assert all(family.name.startswith(METRIC_PREFIX) for family in registry.collect())


def test_a_policy_without_a_budget_shows_no_shares() -> None:
    meter = Meter(meter_settings(upper_budget=INFINITE, lower_budget=INFINITE))
    text = exposition(registry_of(meter), "")[0].decode()
    assert not [name for name in series(text) if name.startswith("sottovoce_budget_spent")]
    assert 'budget_lower="+Inf"' in text


def test_numbers_in_labels_read_like_numbers() -> None:
    assert [number(value) for value in (2.0, 0.7, float("inf"), 0.0)] == ["2", "0.7", "+Inf", "0"]


def alert_rules() -> list[dict[str, object]]:
    document = YAML(typ="safe").load(ALERTS)
    return [rule for group in document["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("rule", alert_rules(), ids=lambda rule: str(rule["alert"]))
def test_alerts_name_only_metrics_of_the_table(rule: dict[str, object]) -> None:
    known = {name for metric in METRICS for name in metric.sample_names()}
    annotations = rule["annotations"]
    assert isinstance(annotations, dict)
    used = set(re.findall(r"\bsottovoce_\w+", f"{rule['expr']} {annotations}"))
    assert used <= known
    assert used or 'up{job="sottovoce"}' in str(rule["expr"])
    assert set(annotations) == {"summary", "description", "runbook"}


def test_labels_that_alerts_match_exist() -> None:
    by_name = {name: metric for metric in METRICS for name in metric.sample_names()}
    for rule in alert_rules():
        for name, matchers in re.findall(r"\b(sottovoce_\w+)\{([^}]*)\}", str(rule["expr"])):
            assert set(re.findall(r"(\w+)\s*[=!]", matchers)) <= set(by_name[name].labels)
