"""The meter as Prometheus metric families, one for every row of the table; the only file that knows Prometheus."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client import metrics_core as families
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector

from beliefs.rounding import nats
from stream.metrics import table, watching_table, work_table
from stream.metrics.bins import Bucket, Tally
from stream.metrics.fields import FIELD_REALISED
from stream.metrics.learning import learning_samples
from stream.metrics.meter import SIDES, Meter
from stream.metrics.metric import Metric
from stream.metrics.standing import Distribution, Standing, standing

Labels = tuple[str, ...]
Values = Mapping[Labels, float]


class MeterCollector(Collector):
    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def collect(self) -> Iterator[families.Metric]:
        now = standing(self._meter)
        yield from _events(self._meter)
        yield from _users(self._meter, now)
        yield from _model(now)
        yield from (_values(metric, values) for metric, values in learning_samples(self._meter.learners))
        if self._meter.fields is not None:
            yield from (_values(metric, values) for metric, values in self._meter.fields.samples())
            yield _tallies(FIELD_REALISED, self._meter.fields.realised)
        if self._meter.gathered is not None:
            yield from (_values(metric, values) for metric, values in self._meter.gathered.samples())
            yield from (_tallies(metric, tallies) for metric, tallies in self._meter.gathered.tallies())
        yield from _accounts(now)
        yield from _work(self._meter)
        yield from _progress(self._meter)
        yield from _about(self._meter, now)


def registry_of(meter: Meter) -> CollectorRegistry:
    """A registry of our own: nothing that another library registers globally appears on the page."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(MeterCollector(meter))
    return registry


def exposition(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """The text format, or OpenMetrics for whoever says that it reads it, and the content type."""
    if "application/openmetrics-text" in accept:
        write: Callable[[Collector], bytes] = openmetrics.generate_latest
        return write(registry), openmetrics.CONTENT_TYPE_LATEST
    return generate_latest(registry), CONTENT_TYPE_PLAIN_0_0_4


def _events(meter: Meter) -> Iterator[families.Metric]:
    yield _values(table.EVENTS, {(outcome,): number for outcome, number in meter.outcomes.items()})
    yield _values(table.WAITING_EVENTS, {(): meter.waiting_events()})
    yield _values(table.DEAD_LETTERS, {(reason,): number for reason, number in sorted(meter.dead_letters.items())})
    yield _tallies(table.RELEASE_LEAKAGE, {(side,): meter.leakage[side] for side in SIDES})
    yield _values(table.RELEASES_ABOVE_EPSILON, {(side,): meter.above_epsilon[side] for side in SIDES})
    yield _values(table.UNCERTIFIED, {(): meter.uncertified_fallbacks})
    yield _values(table.NEAR_CUT_SHORT, {(): meter.near_cut_short})
    yield _values(table.REPEATED, {(): meter.repeated_records})
    yield _values(table.MISSING, {(): meter.missing_offsets})
    yield _values(table.FAILURES, {(error,): number for error, number in sorted(meter.failures.items())})


def _users(meter: Meter, now: Standing) -> Iterator[families.Metric]:
    spent = now.spent
    yield _over_users(table.BUDGET_SPENT, {} if spent is None else {(): spent})
    yield _values(table.BUDGET_SPENT_PERCENTILE, {} if spent is None else _percentiles(spent))
    yield _values(table.BUDGET_SPENT_MAX, {} if spent is None or spent.maximum is None else {(): spent.maximum})
    yield _over_users(table.LIFETIME_LEAKAGE, {(side,): now.lifetime[side] for side in SIDES})
    yield _values(
        table.LIFETIME_LEAKAGE_PERCENTILE,
        {(side, *labels): value for side in SIDES for labels, value in _percentiles(now.lifetime[side]).items()},
    )
    maxima = {(side,): now.lifetime[side].maximum for side in SIDES}
    yield _values(table.LIFETIME_LEAKAGE_MAX, {side: value for side, value in maxima.items() if value is not None})
    yield _values(table.USERS_TRACKED, {(): now.tracked})
    yield _values(table.USERS_NEAR, {(): now.near})
    yield _values(table.USERS_AT, {(): now.at_budget})
    yield _values(table.USERS_STOPPED, {(): now.stopped})
    yield _values(table.USERS_QUARANTINED, {(): meter.quarantined_users()})
    yield _values(table.SMALL_COUNT_FLOOR, {(): meter.settings.small_count_floor})


def _model(now: Standing) -> Iterator[families.Metric]:
    monitor = now.monitor
    figures = (
        watching_table.MODEL_SCORE_RELEASES,
        watching_table.MODEL_SCORE_SEEN,
        watching_table.MODEL_SCORE_EXPECTED,
        watching_table.MODEL_SCORE_EVIDENCE,
    )
    for place, metric in enumerate(figures):
        yield _values(metric, {} if monitor is None else {(): monitor[place]})
    yield _values(watching_table.BELIEF_DRIFT_MAX, {} if now.drift is None else {(): now.drift})


def _accounts(now: Standing) -> Iterator[families.Metric]:
    shown = now.accounts
    yield _values(watching_table.ACCOUNT_USERS, {(): 0 if shown is None else shown.users})
    for name, metric in (
        ("exact", watching_table.ACCOUNT_EXACT),
        ("single_value", watching_table.ACCOUNT_SINGLE),
        ("counters", watching_table.ACCOUNT_COUNTERS),
        ("sum", watching_table.ACCOUNT_SUM),
    ):
        amounts = {} if shown is None else shown.quantiles[name]
        yield _values(metric, {(label,): amount for label, amount in amounts.items()})


def _work(meter: Meter) -> Iterator[families.Metric]:
    yield _tallies(work_table.BLOCK_EVENTS, {(): meter.block_events})
    yield _tallies(work_table.COMPUTE_SECONDS, {(): meter.compute})
    yield _tallies(work_table.PUBLISH_SECONDS, {(): meter.publish})
    yield _tallies(work_table.EVENT_LATENCY, {(): meter.latency})


def _progress(meter: Meter) -> Iterator[families.Metric]:
    progress = meter.progress
    states = sorted(progress.partitions.items())
    yield _values(work_table.LAG, {(str(partition),): state.lag_records for partition, state in states})
    yield _values(work_table.RECOVERY, {(str(partition),): state.recovered_ratio for partition, state in states})
    yield _values(work_table.STALLED, {(): max((stall.seconds for stall in progress.stalls()), default=0.0)})
    yield _values(work_table.READY, {(): float(not progress.not_ready())})
    yield _values(work_table.PARTITIONS, {(): len(states)})


def _about(meter: Meter, now: Standing) -> Iterator[families.Metric]:
    settings = meter.settings
    amounts = [number(nats(units)) for units in (settings.epsilon, settings.upper_budget, settings.lower_budget)]
    yield _values(table.STATE_BYTES, {(): now.state_bytes})
    yield _values(table.RESTARTS, {(): settings.restarts})
    yield _info(table.BUILD_INFO, (settings.version, platform.python_version()))
    policy = (settings.pipeline, settings.policy, settings.model, settings.mechanism, *amounts)
    yield _info(table.POLICY_INFO, policy)


def number(value: float) -> str:
    """A number in a label as a person writes it: 2 for 2.0, +Inf for no limit."""
    if math.isinf(value):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)


def _edge(value: float) -> str:
    """An edge as the client's own histograms write it, with a point in it."""
    return "+Inf" if math.isinf(value) else repr(float(value))


def _percentiles(distribution: Distribution) -> dict[Labels, float]:
    return {(name,): value for name, value in distribution.percentiles.items()}


def _values(metric: Metric, values: Values) -> families.Metric:
    family = _family(metric)
    for labels, value in values.items():
        family.add_sample(metric.name, dict(zip(metric.labels, labels, strict=True)), value)
    return family


def _info(metric: Metric, labels: Labels) -> families.Metric:
    return _values(metric, {labels: 1.0})


def _tallies(metric: Metric, tallies: Mapping[Labels, Tally]) -> families.Metric:
    family = _family(metric)
    for labels, tally in tallies.items():
        _histogram(family, metric, labels, tally.buckets(), tally.sum)
    return family


def _over_users(metric: Metric, distributions: Mapping[Labels, Distribution]) -> families.Metric:
    family = _family(metric)
    for labels, distribution in distributions.items():
        _histogram(family, metric, labels, distribution.buckets, distribution.sum)
    return family


def _histogram(
    family: families.Metric, metric: Metric, values: Labels, buckets: Sequence[Bucket], total: float
) -> None:
    labels = dict(zip(metric.labels, values, strict=True))
    bucket_name, count_name, sum_name = metric.sample_names()
    for bucket in buckets:
        family.add_sample(bucket_name, {**labels, "le": _edge(bucket.upper_edge)}, bucket.cumulative)
    family.add_sample(count_name, labels, buckets[-1].cumulative)
    family.add_sample(sum_name, labels, total)


def _family(metric: Metric) -> families.Metric:
    """Families of the client are named without the suffix that their kind adds when written."""
    name = metric.name.removesuffix("_total").removesuffix("_info")
    return families.Metric(name, metric.help, metric.kind.value)
