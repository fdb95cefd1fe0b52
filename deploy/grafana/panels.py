"""A dashboard as data: rows of panels, each row for kinds of pipelines, and how that becomes Grafana's JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from grafana_foundation_sdk.builders import bargauge, common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import GraphThresholdsStyleMode
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DataSourceRef,
    DataTransformerConfig,
    Threshold,
    VariableRefresh,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat
from queries import Query


class Pipeline(Enum):
    """What a pipeline releases decides which of the metrics its workers have."""

    EVENTS = "events, one by one or in windows"
    FIELDS = "events with fields"
    LEARNING = "events under a model that is learnt"
    AGGREGATES = "windows of aggregates"
    CROWD_WINDOWS = "windows of crowds"
    CROWD_DELAY = "events that wait for their crowd"


OF_EVENTS: Final = frozenset({Pipeline.EVENTS, Pipeline.FIELDS, Pipeline.LEARNING})
EVERY: Final = frozenset(Pipeline)
NATS: Final = "suffix: nat"


class Shape(Enum):
    LINES = "lines"
    NUMBER = "number"
    BARS = "bars"
    """Users or events by bucket, as they are now."""
    SHEET = "sheet"


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    text: str
    queries: tuple[Query, ...]
    unit: str = "short"
    shape: Shape = Shape.LINES
    width: int = 8
    red_from: float | None = None
    """From here on the panel is red: something that must not be."""
    signed: bool = False
    """Values below 0 are as good as others."""


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    kinds: frozenset[Pipeline]
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Dashboard:
    name: str
    title: str
    text: str
    rows: tuple[Row, ...]

    def panels(self, kind: Pipeline) -> list[Panel]:
        """Those that must have data where such a pipeline works."""
        return [panel for row in self.rows if kind in row.kinds for panel in row.panels]

    def json(self) -> str:
        return JSONEncoder(indent=1, sort_keys=True, ensure_ascii=False).encode(self._built().build()) + "\n"

    def _built(self) -> dashboard.Dashboard:
        built = dashboard.Dashboard(self.title).uid(f"sottovoce-{self.name}").description(self.text)
        built.tags(["sottovoce"]).timezone("browser").tooltip(DashboardCursorSync.CROSSHAIR)
        built.time("now-6h", "now").refresh("30s").readonly()
        built.with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
        for name, asked in (("job", _UP), ("instance", _UP_OF_JOB)):
            built.with_variable(_chosen(name, asked))
        number = 0
        for row in self.rows:
            built.with_row(dashboard.Row(row.title).id(number := number + 1))
            for panel in row.panels:
                built.with_panel(_panel(panel).id(number := number + 1))
        return built


_SOURCE: Final = DataSourceRef("prometheus", "${datasource}")
_UP: Final = "label_values(sottovoce_build_info, job)"
_UP_OF_JOB: Final = 'label_values(sottovoce_build_info{job="$job"}, instance)'
_HEIGHT: Final = 8

AnyPanel = timeseries.Panel | stat.Panel | bargauge.Panel | table.Panel


def _chosen(name: str, asked: str) -> dashboard.QueryVariable:
    variable = dashboard.QueryVariable(name).label(name).query(asked).datasource(_SOURCE)
    variable.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
    if name == "instance":
        variable.multi(True).include_all(True).all_value(".+")
    return variable


def _panel(panel: Panel) -> AnyPanel:
    made = _shaped(panel)
    made.title(panel.title).description(panel.text).datasource(_SOURCE).unit(panel.unit)
    made.height(_HEIGHT).span(panel.width)
    for place, query in enumerate(panel.queries):
        made.with_target(_target(query, chr(ord("A") + place), panel.shape))
    if panel.red_from is not None:
        steps = [Threshold(None, "green"), Threshold(panel.red_from, "red")]
        made.thresholds(dashboard.ThresholdsConfig().steps(steps))
        if isinstance(made, timeseries.Panel):
            made.thresholds_style(common.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.LINE))
    return made


def _shaped(panel: Panel) -> AnyPanel:
    match panel.shape:
        case Shape.LINES:
            lines = timeseries.Panel().fill_opacity(8)
            return lines if panel.signed else lines.min(0)
        case Shape.NUMBER:
            return stat.Panel()
        case Shape.BARS:
            return bargauge.Panel().min(0)
        case Shape.SHEET:
            options = {"excludeByName": {"Time": True, "Value": True}}
            return table.Panel().with_transformation(DataTransformerConfig("organize", options=options))


def _target(query: Query, letter: str, shape: Shape) -> prometheus.Dataquery:
    target = prometheus.Dataquery().expr(query.expression).ref_id(letter).datasource(_SOURCE)
    if query.legend:
        target.legend_format(query.legend)
    match shape:
        case Shape.LINES:
            return target.range()
        case Shape.NUMBER:
            return target.instant()
        case Shape.BARS:
            # Grafana takes the difference of cumulative buckets where a query says that it draws a heat map.
            return target.instant().format(PromQueryFormat.HEATMAP)
        case Shape.SHEET:
            return target.instant().format(PromQueryFormat.TABLE)


def expressions(panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Of each query the panel's title and what is asked."""
    return [(panel.title, query.expression) for panel in panels for query in panel.queries]
