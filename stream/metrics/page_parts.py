"""The parts of the status page that speak of events, releases and settings."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from stream.metrics import table as metrics
from stream.metrics import work_table
from stream.metrics.meter import SIDES, Meter, MeterSettings
from stream.metrics.picture import over_users, pace
from stream.metrics.rows import Row, budget, card, duration, octave, rate, rounded_up, share, table, within, words
from stream.metrics.standing import PERCENTILES, Distribution, Standing
from stream.metrics.throughput import SLOT_SECONDS
from stream.names import DEAD_LETTERED, FORECAST, RELEASED, REPEATED, REPLAYED, SUPPRESSED, TAKEN

_OUTCOMES: Final = (
    (RELEASED, "released", "a perturbed value went out"),
    (FORECAST, "forecast", "a value that tells nothing went out instead"),
    (SUPPRESSED, "suppressed", "nothing went out"),
    (DEAD_LETTERED, "dead letters", "could not be released; why went to the dead-letter topic"),
    (REPLAYED, "replayed", "had been carried out before and was skipped"),
)
_GATHERED: Final = (
    (TAKEN, "taken", "is gathered with those of others"),
    (REPEATED, "repeated", "changes nothing: of the same user and time as one before, or not the one that counts"),
    (DEAD_LETTERED, "dead letters", "is not gathered; why went to the dead-letter topic"),
    (REPLAYED, "replayed", "had been carried out before and was skipped"),
)
_PACES: Final = (("now", 1), ("over a minute", 6), ("over five minutes", 30))
_COLOURS: Final = {"upper": "bar", "lower": "other"}
_WAYS: Final = {"upper": "upwards: how much likelier a value became", "lower": "downwards: how much unlikelier"}


def throughput(meter: Meter) -> str:
    now = meter.throughput.per_second(1)
    rows = [
        Row(f"events a second, {name}", rate(meter.throughput.per_second(slots)), note=f"the last {_span(slots)}")
        for name, slots in _PACES
    ]
    lag = sum(state.lag_records for state in meter.progress.partitions.values())
    at_this_pace = f"{duration(1000 * lag / now)} of work at this pace" if lag and now else ""
    rows.append(Row("records waiting to be read", f"{lag:,}", note=at_this_pace))
    if meter.latency.count:
        late = f"{within(meter.latency, 0.5)}, {within(meter.latency, 0.99)}"
        rows.append(Row("from its append to its commit", words(late), note="for half and for 99 % of records, at most"))
    return card("Throughput", table(rows) + pace(meter.throughput.each(), SLOT_SECONDS))


def _span(slots: int) -> str:
    return f"{slots * SLOT_SECONDS} to {(slots + 1) * SLOT_SECONDS} s"


def outcomes(meter: Meter) -> str:
    total = sum(meter.outcomes.values())
    lines = "".join(
        f'<tr><th scope="row">{label}<small>{note}</small></th>'
        f'<td class="n"><span data-metric="{_labelled(metrics.EVENTS.name, "outcome", name)}">'
        f"{meter.outcomes[name]:,}</span><small>{_share_of(meter.outcomes[name], total)}</small></td></tr>"
        for name, label, note in (_OUTCOMES if meter.gathered is None else _GATHERED)
    )
    head = '<tr><th scope="col">outcome</th><th scope="col" class="n">events</th></tr>'
    whole = f'<tr><th scope="row">carried out</th><td class="n"><b>{total:,}</b></td></tr>'
    return card("Outcomes", f"<table>{head}{lines}{whole}</table>{_beside_outcomes(meter)}")


def _share_of(count: int, total: int) -> str:
    return f"{count / total if total else 0:.1%}"


def _beside_outcomes(meter: Meter) -> str:
    rows = []
    if meter.settings.windows or meter.waiting_events():
        note = "sealed, for the end of their user's window"
        rows.append(Row("waiting", f"{meter.waiting_events():,}", metrics.WAITING_EVENTS.name, note))
    rows += [
        Row(f"dead letters: {escape(reason)}", f"{count:,}", _labelled(metrics.DEAD_LETTERS.name, "reason", reason))
        for reason, count in sorted(meter.dead_letters.items())
    ]
    if meter.near_cut_short:
        note = "near's search came to its limit first"
        rows.append(Row("cut short", f"{meter.near_cut_short:,}", metrics.NEAR_CUT_SHORT.name, note))
    if meter.repeated_records:
        rows.append(Row("read again and dropped", f"{meter.repeated_records:,}", metrics.REPEATED.name))
    if meter.missing_offsets:
        note = "the raw topic no longer held them"
        rows.append(Row("missed", f"{meter.missing_offsets:,}", metrics.MISSING.name, note))
    rows += [
        Row(f"blocks not committed: {name}", f"{count:,}", _labelled(metrics.FAILURES.name, "error", name))
        for name, count in sorted(meter.failures.items())
    ]
    return table(rows) if rows else ""


def leakage(meter: Meter, now: Standing) -> str:
    pictures = "".join(
        over_users(
            f"Users by all that was ever told about them, {_WAYS[side]} (nats)",
            _labelled(metrics.LIFETIME_LEAKAGE.name, "side", side),
            now.lifetime[side].buckets,
            "told",
            octave,
            _COLOURS[side],
        )
        for side in SIDES
    )
    few = f"<p>Nobody to show yet: fewer than {meter.settings.small_count_floor:,} users are tracked.</p>"
    shown = f'<div class="pictures">{pictures}</div>{_percentiles(now)}' if pictures else few
    return card("Leakage over users", shown + _releases(meter), wide=True)


def _percentiles(now: Standing) -> str:
    kinds: list[tuple[str, Distribution, Callable[[float], str]]] = []
    if now.spent is not None:
        kinds.append(("of the budget", now.spent, share))
    kinds += [(f"ever, {side}, nats", now.lifetime[side], rounded_up) for side in SIDES]
    head = "".join(f'<th scope="col" class="n">{label}</th>' for label, _, _ in kinds)
    whom = [*((f"{name}% of users", name) for name, _ in PERCENTILES), ("every user", None)]
    rows = []
    for label, name in whom:
        cells = "".join(_told(name, distribution, shown) for _, distribution, shown in kinds)
        rows.append(f'<tr><th scope="row">{label}</th>{cells}</tr>')
    return f'<table><tr><th scope="col">at most this much, for</th>{head}</tr>{"".join(rows)}</table>'


def _told(percentile: str | None, distribution: Distribution, shown: Callable[[float], str]) -> str:
    """To so many users, or to every one."""
    value = distribution.maximum if percentile is None else distribution.percentiles.get(percentile)
    return f'<td class="n">{"" if value is None else shown(value)}</td>'


def _releases(meter: Meter) -> str:
    """Releases that told more than epsilon are no user's, so they are counted however few they are."""
    rows = [
        Row(
            f"releases charged more than epsilon, {side}",
            f"{meter.above_epsilon[side]:,}",
            _labelled(metrics.RELEASES_ABOVE_EPSILON.name, "side", side),
        )
        for side in SIDES
    ]
    return table(rows)


def policy(settings: MeterSettings) -> str:
    about = settings.about
    rows = [
        Row("mechanism", words(settings.mechanism)),
        Row("values are released", words(about.released)),
        Row("epsilon", f"{budget(settings.epsilon)} {'a window' if settings.windows else 'an event'}"),
        Row("budget, upper / lower", words(f"{budget(settings.upper_budget)} / {budget(settings.lower_budget)}")),
        Row("policy", words(settings.policy)),
        Row("model", words(settings.model)),
        *(Row(f"model of {escape(whom)}", words(name), note=escape(about.models_by)) for whom, name in about.models),
    ]
    return card("Policy", table(rows))


def promise(settings: MeterSettings) -> str:
    """Word for word what `sottovoce explain` says of these settings."""
    about = settings.about
    if not about.promise:
        return ""
    warnings = "".join(f'<p class="bad">WARNING: {escape(warning)}</p>' for warning in about.warnings)
    said = "".join(
        f"<h3>{escape(said.title)}</h3><ul>{''.join(f'<li>{escape(line)}</li>' for line in said.lines)}</ul>"
        for said in about.promise
    )
    end = "<p>As <code>sottovoce explain</code> says it, with what to expect.</p>"
    return card("The promise, in plain words", f'{warnings}<div class="promise">{said}</div>{end}', wide=True)


def partitions(meter: Meter) -> str:
    states = sorted(meter.progress.partitions.items())
    if not states:
        return card("Partitions", "<p>none assigned</p>", wide=True)
    rows = "".join(
        f'<tr><td>{partition}</td><td class="n" data-metric="{_labelled(work_table.LAG.name, "partition", partition)}">'
        f"{state.lag_records:,}</td><td>{'serving' if state.recovered else _recovery(state.recovered_ratio)}</td></tr>"
        for partition, state in states
    )
    head = '<th scope="col">partition</th><th scope="col" class="n">records waiting</th><th scope="col">state</th>'
    return card("Partitions", f"<table><tr>{head}</tr>{rows}</table>", wide=True)


def _recovery(ratio: float) -> str:
    return f'recovering, {ratio:.0%}<span class="bar"><i style="width:{ratio:.0%}"></i></span>'


def _labelled(metric: str, label: str, value: object) -> str:
    """A series, as HTML."""
    return escape(f'{metric}{{{label}="{value}"}}')
