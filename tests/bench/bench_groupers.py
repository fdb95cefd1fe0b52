"""Crowds of a seeded stream, the four groupers side by side, and beside them what somebody would write with numpy:

    python tests/bench/bench_groupers.py [--events N] [--rounds R] [--k K] [--delays 100,1000] [--json FILE]

The stream: 300 users around 12 places of a square of 100, spread 6, on a grid of half a unit. loss is the mean over all
events, 1 for what is kept back; delay is in events. mondrian groups windows of as many events, the last of each user:
`left out` are a user's earlier ones. naive_fads must let out what fads does, naive_mondrian halves at medians, too.
Events a second are those of one process's own processor time, median of the rounds; the first 2 delays are not timed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from bench_naive import NaiveFads, naive_mondrian
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from crowd_streams import GRID, centres

from mechanisms.crowds.attributes import Attributes, Numeric
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import Emitted, FlowForm, Reason
from mechanisms.crowds.mondrian import mondrian
from mechanisms.crowds.registry import REGISTRY

SQUARE = Attributes((Numeric(GRID), Numeric(GRID)))
Cells = NDArray[np.int64]
Event = tuple[int, tuple[int, int]]
Fed = Callable[[int, Event], list[Emitted]]


@dataclass
class Figures:
    grouper: str
    delay: int
    losses: list[float] = field(default_factory=list)
    waited: list[int] = field(default_factory=list)
    suppressed: int = 0
    reused: int = 0
    left_out: int = 0
    rates: list[float] = field(default_factory=list)

    def count(self, now: int, emitted: Sequence[Emitted]) -> None:
        for each in emitted:
            self.losses += [each.loss] * len(each.seqs)
            self.waited += [now - seq for seq in each.seqs]
            self.suppressed += len(each.seqs) if each.reason else 0
            self.reused += len(each.seqs) if each.reused else 0

    def told(self) -> dict[str, float | str]:
        events = len(self.losses) + self.left_out
        return {
            "grouper": self.grouper,
            "delay_events": self.delay,
            "loss": float(np.mean(self.losses)),
            "waited_mean": float(np.mean(self.waited)),
            "waited_p99": float(np.percentile(self.waited, 99)),
            "waited_most": max(self.waited),
            "suppressed": self.suppressed / events,
            "reused": self.reused / events,
            "left_out": self.left_out / events,
            "events_per_second": statistics.median(self.rates),
        }


def flow_of(name: str, k: int, delay: int) -> Fed:
    flow = REGISTRY[name](FlowForm(SQUARE, Rule(k), delay, 1 << 40))

    def feed(seq: int, event: Event) -> list[Emitted]:
        return flow.take(seq, seq, event[0], event[1], -1)

    return feed


def naive_flow(k: int, delay: int) -> Fed:
    naive = NaiveFads(k, delay, GRID)

    def feed(seq: int, event: Event) -> list[Emitted]:
        return [Emitted(*each) for each in naive.take(seq, *event)]

    return feed


def windows(cut: Callable[[Cells], Iterator[tuple[list[int], float, Reason | None]]], delay: int) -> Fed:
    """Windows of `delay` events each, the last event of each user."""
    window: list[tuple[int, Event]] = []

    def feed(seq: int, event: Event) -> list[Emitted]:
        window.append((seq, event))
        if len(window) < delay:
            return []
        last = list({user: (at, cells) for at, (user, cells) in window}.values())
        window.clear()
        cells = np.array([cells for _, cells in last], dtype=np.int64)
        return [
            Emitted(tuple(last[row][0] for row in rows), len(rows), None, loss, False, reason)
            for rows, loss, reason in cut(cells)
        ]

    return feed


def ours(cells: Cells, k: int) -> Iterator[tuple[list[int], float, Reason | None]]:
    found = mondrian(SQUARE, cells, None, Rule(k))
    for group, loss in zip(found.groups, found.losses, strict=True):
        yield group.tolist(), loss, None
    if found.suppressed.size:
        yield found.suppressed.tolist(), 1.0, found.reason


def contestants(k: int, delay: int) -> dict[str, Callable[[], Fed]]:
    made: dict[str, Callable[[], Fed]] = {name: partial(flow_of, name, k, delay) for name in REGISTRY}
    made["naive_fads"] = partial(naive_flow, k, delay)
    made["mondrian"] = partial(windows, partial(ours, k=k), delay)
    made["naive_mondrian"] = partial(windows, partial(naive_mondrian, k=k, grid=GRID), delay)
    return made


def run_once(figures: Figures, feed: Fed, events: Sequence[Event], *, counted: bool) -> None:
    warm = 2 * figures.delay
    began = 0.0
    out: list[tuple[int, list[Emitted]]] = []
    for seq, event in enumerate(events):
        if seq == warm:
            began = time.process_time()
        found = feed(seq, event)
        if found:
            out.append((seq, found))
    figures.rates.append((len(events) - warm) / (time.process_time() - began))
    if counted:
        for now, emitted in out:
            figures.count(now, emitted)
        if "mondrian" in figures.grouper:
            figures.left_out = len(events) // figures.delay * figures.delay - len(figures.losses)


def measure(k: int, delay: int, count: int, rounds: int) -> list[Figures]:
    """Rounds by turns, so that what disturbs the machine disturbs all of them."""
    events = centres(7, max(count, 12 * delay))
    made = contestants(k, delay)
    figures = {name: Figures(name, delay) for name in made}
    for make in made.values():  # compiled before it is timed
        feed = make()
        for seq, event in enumerate(events[: 2 * delay]):
            feed(seq, event)
    for number in range(rounds):
        for name, make in made.items():
            run_once(figures[name], make(), events, counted=number == 0)
    if figures["fads"].losses != figures["naive_fads"].losses:
        raise SystemExit("fads and naive_fads let out different crowds: one of them is wrong")
    return list(figures.values())


def show(told: Sequence[dict[str, float | str]], console: Console) -> None:
    table = Table(title="crowds of a stream")
    headings = ("", "delay", "loss", "waited", "p99", "most", "suppressed", "reused", "left out", "events/s", "x naive")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "" else "right")
    for each in told:
        windowed = str(each["grouper"]).endswith("mondrian")
        naive = next(
            float(other["events_per_second"])
            for other in told
            if other["delay_events"] == each["delay_events"]
            and other["grouper"] == ("naive_mondrian" if windowed else "naive_fads")
        )
        table.add_row(
            str(each["grouper"]),
            f"{each['delay_events']:,}",
            f"{each['loss']:.3f}",
            f"{each['waited_mean']:.1f}",
            f"{each['waited_p99']:.0f}",
            f"{each['waited_most']:,}",
            *(f"{float(each[share]):.1%}" for share in ("suppressed", "reused", "left_out")),
            f"{each['events_per_second']:,.0f}",
            f"{float(each['events_per_second']) / naive:.1f}",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000, help="default: %(default)s, at least 12 delays")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--k", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--delays", default="100,1000", help="default: %(default)s")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    arguments = parser.parse_args()
    measured = [
        figures
        for delay in arguments.delays.split(",")
        for figures in measure(arguments.k, int(delay), arguments.events, arguments.rounds)
    ]
    told = [figures.told() for figures in measured]
    show(told, Console(width=140))
    if arguments.json:
        arguments.json.write_text(
            json.dumps([each | {"rates": one.rates} for each, one in zip(told, measured, strict=True)])
        )


if __name__ == "__main__":
    main()
