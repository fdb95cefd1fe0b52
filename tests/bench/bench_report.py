"""What was measured, as a table on the terminal and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from bench_latency import Delay
from bench_meter import Result
from bench_scale import Scale
from rich.console import Console
from rich.table import Table

MEDIANS = (
    "events_per_second",
    "warm_events_per_second",
    "startup_seconds",
    "cpu_microseconds_per_event",
    "broker_cpu_microseconds_per_event",
    "memory_bytes",
    "others_share_of_machine",
)


def summarise(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """Per contestant: the median of each figure over its rounds, and every round's rate."""
    names = list(dict.fromkeys(result.contestant for result in results))
    summary: dict[str, dict[str, Any]] = {}
    for name in names:
        rounds = [result for result in results if result.contestant == name]
        summary[name] = {figure: statistics.median(getattr(each, figure) for each in rounds) for figure in MEDIANS}
        summary[name]["events"] = rounds[0].events
        summary[name]["rounds"] = [round(each.events_per_second) for each in rounds]
    return summary


def show_rates(summary: dict[str, dict[str, Any]], titles: dict[str, str], console: Console) -> None:
    table = Table(title="events a second, medians")
    for heading in ("", "events", "events/s", "warm", "x Faust", "x Kafka Streams", "start s", "us/event", "others"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for name, figures in summary.items():
        table.add_row(
            titles[name],
            f"{figures['events']:,}",
            f"{figures['events_per_second']:,.0f}",
            f"{figures['warm_events_per_second']:,.0f}",
            ratio(figures, summary.get("faust")),
            ratio(figures, summary.get("kafka-streams")),
            f"{figures['startup_seconds']:.1f}",
            f"{figures['cpu_microseconds_per_event']:.1f}",
            f"{figures['others_share_of_machine']:.0%}",
        )
    if not summary:
        return
    console.print(table)
    console.print(
        "events/s: committed output, from the first to the last commit; warm: over the second half; us/event: its\n"
        "processor time; others: share of the machine used meanwhile by what is no part of the benchmark."
    )


def ratio(figures: dict[str, Any], against: dict[str, Any] | None) -> str:
    if against is None:
        return "-"
    return f"{figures['events_per_second'] / against['events_per_second']:.2f}"


def show_delays(delays: Sequence[Delay], console: Console) -> None:
    table = Table(title="from append to committed release, milliseconds")
    for heading in ("", "events/s wanted", "kept", "p50", "p99", "max", "samples", "others"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for delay in delays:
        table.add_row(
            delay.contestant,
            f"{delay.wanted_events_per_second:,.0f}",
            f"{delay.kept_events_per_second:,.0f}",
            f"{delay.p50_ms:.1f}",
            f"{delay.p99_ms:.1f}",
            f"{delay.max_ms:.1f}",
            f"{delay.samples:,}",
            f"{delay.others_share_of_machine:.0%}",
        )
    if delays:
        console.print(table)


def show_scale(scales: Sequence[Scale], console: Console) -> None:
    table = Table(title="100,000 users")
    headings = (
        "",
        "bytes/user",
        "MiB",
        "MiB, 1,000 users",
        "start s",
        "stop s",
        "back after stop s",
        "back after kill s",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "" else "right")
    for scale in scales:
        table.add_row(
            scale.contestant,
            f"{scale.memory_bytes_per_user:,.0f}",
            f"{scale.memory_many_users_bytes / (1 << 20):,.0f}",
            f"{scale.memory_few_users_bytes / (1 << 20):,.0f}",
            f"{scale.startup_seconds:.1f}",
            f"{scale.stop_seconds:.1f}",
            f"{scale.recovery_after_stop_seconds:.1f}",
            f"{scale.recovery_after_kill_seconds:.1f}",
        )
    if scales:
        console.print(table)
