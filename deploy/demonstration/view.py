"""The live view: a panel that renews itself in a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from figures import Beside, Figures
from pipeline_files import BUDGET_NATS, BUDGET_WINDOW, EPSILON
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

RIVAL_NAMES = (f"randomised response, {EPSILON:g} nat", f"randomised response, {2 * EPSILON:g} nat")


def say(text: str) -> None:
    """A line about what is being done."""
    print(text, flush=True)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def milliseconds(seconds: float) -> str:
    """Histograms know the edges of their buckets only."""
    return f"<= {1000 * seconds:.0f} ms"


HEADING = (
    "   time |  events/s |      so far | nats an event up, down | nats a user so far up, down | budget spent, median"
    f" | true releases ({', '.join(RIVAL_NAMES)}) | raw to released, p50 and p99"
)


def windows_line(beside: Beside | None) -> str:
    if beside is None:
        return ""
    event = beside.leakage.an_event
    return (
        f" | windows of {beside.events}: {percent(beside.now.share(beside.now.released))} true, "
        f"{event['upper']:.3f}, {event['lower']:.3f} nats an event, wait {milliseconds(beside.wait_p50)}"
    )


def line(now: Figures) -> str:
    """One second in one line."""
    rivals = ", ".join(percent(now.now.share(kept)) for kept in now.now.rivals)
    event, user = now.leakage.an_event, now.leakage.a_user
    return (
        f"{now.seconds:5.0f} s | {now.events_a_second:9,.0f} | {now.seen:11,}"
        f" | {event['upper']:.3f}, {event['lower']:.3f} | {user['upper']:,.1f}, {user['lower']:,.1f}"
        f" | {percent(now.leakage.budget_median)}"
        f" | {percent(now.now.share(now.now.released))} ({rivals})"
        f" | {milliseconds(now.latency_p50)}, {milliseconds(now.latency_p99)}"
        f"{windows_line(now.beside)}"
    )


class View:
    """`with View(phones) as view: view.show(figures)` once a second."""

    def __init__(self, phones: int, activities: int) -> None:
        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False) if sys.stdout.isatty() else None
        self._title = f"sottovoce: {phones} phones, {activities} activities, at most {EPSILON:g} nat a release"

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.__enter__()
        else:
            say(HEADING)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def show(self, now: Figures) -> None:
        if self._live is None:
            say(line(now))
        else:
            self._live.update(self._panel(now), refresh=True)

    def _panel(self, now: Figures) -> Panel:
        parts: list[Table | Text] = [traffic(now), Text(), told(now), Text(), useful(now)]
        if now.beside is not None:
            parts += [Text(), in_windows(now.beside)]
        return Panel(
            Group(*parts), title=self._title, subtitle="Ctrl-C ends it; then the audit", padding=(1, 2), expand=False
        )


def in_windows(beside: Beside) -> Table:
    table = columns(f"The same events in windows of {beside.events}", "last second", "so far")
    now, so_far = beside.now, beside.so_far
    table.add_row(
        "releases that are true", percent(now.share(now.released)), percent(so_far.share(so_far.released)), style="bold"
    )
    for side, meaning in (
        ("upper", "likelier, nats an event; a user"),
        ("lower", "less likely, nats an event; a user"),
    ):
        table.add_row(meaning, f"{beside.leakage.an_event[side]:.4f}", f"{beside.leakage.a_user[side]:,.2f}")
    table.add_row("an event waits for its window, p50", milliseconds(beside.wait_p50))
    return table


def columns(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first, min_width=38)
    for name in others:
        table.add_column(name, justify="right", min_width=14)
    return table


def traffic(now: Figures) -> Table:
    table = columns("What passes", "last second", "so far")
    table.add_row("events released", f"{now.events_a_second:,.0f} /s", f"{now.seen:,}")
    table.add_row("of these forecasts, budget spent", "", f"{now.outcomes['forecast']:,}")
    table.add_row("dead letters", "", f"{now.dead_letters:,}")
    table.add_row(
        "from raw to released, p50 and p99", f"{milliseconds(now.latency_p50)}, {milliseconds(now.latency_p99)}"
    )
    return table


def told(now: Figures) -> Table:
    table = columns("What a reader of everything learns, in nats", "an event, now", "a user, so far")
    for side, meaning in (("upper", "a value became likelier"), ("lower", "a value became less likely")):
        table.add_row(meaning, f"{now.leakage.an_event[side]:.4f}", f"{now.leakage.a_user[side]:,.2f}")
    table.add_row(
        f"budget of {BUDGET_NATS:g} nats in {BUDGET_WINDOW}: median, most",
        "",
        f"{percent(now.leakage.budget_median)}, {percent(now.leakage.budget_most)}",
    )
    return table


def useful(now: Figures) -> Table:
    table = columns("Releases that are true, same events", "last second", "so far")
    table.add_row(
        "sottovoce",
        percent(now.now.share(now.now.released)),
        percent(now.so_far.share(now.so_far.released)),
        style="bold",
    )
    for name, recent, all_of_them in zip(RIVAL_NAMES, now.now.rivals, now.so_far.rivals, strict=True):
        table.add_row(name, percent(now.now.share(recent)), percent(now.so_far.share(all_of_them)))
    return table
