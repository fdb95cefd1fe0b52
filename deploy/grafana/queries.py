"""What panels ask Prometheus. Names come from the worker's own table of metrics, so no panel can ask for another."""

from __future__ import annotations

from dataclasses import dataclass

from stream.metrics.metric import Kind, Metric


@dataclass(frozen=True, slots=True)
class Query:
    expression: str
    legend: str

    def called(self, name: str) -> Query:
        """Its lines' names begin with this, where another query of the panel has lines for the same labels."""
        return Query(self.expression, f"{name} {self.legend}")


def series(metric: Metric, part: str = "", **matching: str) -> str:
    """What the workers that the reader has chosen export; `part` is of a histogram."""
    name = f"{metric.name}{part}"
    assert name in metric.sample_names(), f"{metric.name} has no series {name}"
    assert set(matching) <= set(metric.labels), f"{metric.name} has no label of {sorted(matching)}"
    chosen = "".join(f', {label}="{value}"' for label, value in matching.items())
    return f'{name}{{job="$job", instance=~"$instance"{chosen}}}'


def total(metric: Metric, *by: str, **matching: str) -> Query:
    """Of all chosen workers together."""
    return Query(_over("sum", metric, by, series(metric, **matching)), _legend(metric, by))


def largest(metric: Metric, *by: str, **matching: str) -> Query:
    """Of the chosen worker that is worst off."""
    return Query(_over("max", metric, by, series(metric, **matching)), _legend(metric, by))


def rate(metric: Metric, *by: str, **matching: str) -> Query:
    """A second, of all chosen workers together."""
    assert metric.kind is Kind.COUNTER, f"{metric.name} does not only grow"
    return Query(_over("sum", metric, by, f"rate({series(metric, **matching)}[$__rate_interval])"), _legend(metric, by))


def recent(metric: Metric, *by: str) -> Query:
    """How many in the last hour; series that say 0 are there, too, so that nothing and no data differ."""
    assert metric.kind is Kind.COUNTER, f"{metric.name} does not only grow"
    return Query(_over("sum", metric, by, f"increase({series(metric)}[1h])"), _legend(metric, by))


def percentile(metric: Metric, percent: int, *by: str) -> Query:
    """Of what was counted lately, by linear interpolation within a bucket: for the eye, not for a promise."""
    assert metric.kind is Kind.HISTOGRAM, f"{metric.name} is no histogram of events"
    counts = _over("sum", metric, ("le", *by), f"rate({series(metric, '_bucket')}[$__rate_interval])")
    return Query(f"histogram_quantile({percent / 100:g}, {counts})", _legend(metric, by, f"{percent} %"))


def mean(metric: Metric, *by: str) -> Query:
    """Of all that was counted since the workers started: both sums are exact."""
    assert metric.kind is Kind.HISTOGRAM, f"{metric.name} is no histogram of events"
    amount, count = (_over("sum", metric, by, series(metric, part)) for part in ("_sum", "_count"))
    return Query(f"{amount} / {count}", _legend(metric, by, "mean"))


def distribution(metric: Metric, **matching: str) -> Query:
    """The buckets as they are now, of all chosen workers together."""
    assert metric.kind in (Kind.OVER_USERS, Kind.HISTOGRAM), f"{metric.name} has no buckets"
    return Query(_over("sum", metric, ("le",), series(metric, "_bucket", **matching)), "{{le}}")


def facts(metric: Metric) -> Query:
    assert metric.kind is Kind.INFO, f"{metric.name} is no sheet of facts"
    return Query(_over("max", metric, ("instance", *metric.labels), series(metric)), "")


def _over(operator: str, metric: Metric, by: tuple[str, ...], inner: str) -> str:
    assert set(by) <= {*metric.labels, "le", "instance"}, f"{metric.name} has no label of {sorted(by)}"
    return f"{operator} by ({', '.join(by)}) ({inner})" if by else f"{operator}({inner})"


def _legend(metric: Metric, by: tuple[str, ...], prefix: str = "") -> str:
    """By labels where a panel has a line for each, otherwise what is left of the name."""
    words = [f"{{{{{label}}}}}" for label in by]
    if prefix:
        words.insert(0, prefix)
    return " ".join(words) or metric.name.removeprefix("sottovoce_").removesuffix("_total").replace("_", " ")
