"""Speed, side by side, on one broker in one run:

    python tests/bench/run.py [--stages rates,latency,scale] [--events N] [--rounds R] [--only a,d,e10] [--json FILE]

contestants:  a bare Faust agent (its first 100,000 events)   b bare aiokafka loop   c Quix Streams
              d0 Kafka Streams as it comes   d Kafka Streams tuned
              e2, e10, e100 sottovoce run with 2, 10, 100 values; w10, w100 in windows of 10, z100 without delay
              g10000 a walk over 10,000 cells of the globe, released near; k41270 clicks on 41,270 items, 2,000 listed
stages:       rates    events a second, median of the rounds
              latency  append to committed release at 1,000 events a second and at half of the measured rate
              scale    memory per user, start-up and recovery with 100,000 users
              aggregates  windows of aggregates over 100,000 users, events carried out a second; asked for by name
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_aggregates import EVENTS as AGGREGATED_EVENTS
from bench_aggregates import measure_aggregates
from bench_broker import Broker
from bench_contestants import Contestant
from bench_entrants import entrants
from bench_latency import Delay, measure_delays
from bench_machine import describe_machine
from bench_meter import Result
from bench_processes import BenchFailure
from bench_rates import Race, progress_bars
from bench_report import show_delays, show_rates, show_scale, summarise
from bench_scale import Scale, measure_scale
from rich.console import Console

EVENTS = 2_500_000
ROUNDS = 3
BROKER_HEAP = "1g"
LOW_PACE = 1_000.0
DEFAULT_CACHE = Path.home() / ".cache" / "sottovoce" / "bench"
EVERYONE = "a,b,c,d0,d,e2,e10,e100,w10,w100,z100,g10000,k41270"
# Those whose output is committed in transactions and who keep users' state: the others have nothing to compare here.
WITH_STATE_AND_TRANSACTIONS = ("d", "e2", "e10", "e100")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", default="rates,latency,scale", help="default: %(default)s")
    parser.add_argument("--events", type=int, default=EVENTS, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="default: %(default)s")
    parser.add_argument("--only", default=EVERYONE, help="letters of the contestants (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="where contestants are built")
    parser.add_argument("--pace", type=float, help="events a second for latency, instead of half of the measured rate")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for a quiet machine each time")
    parser.add_argument("--repeats", type=int, default=1, help="how often a disturbed heat may be repeated")
    return parser.parse_args()


class Bench:
    """One broker, one folder, and what was measured so far."""

    def __init__(self, arguments: argparse.Namespace, contestants: dict[str, Contestant], console: Console) -> None:
        self._arguments = arguments
        self._contestants = contestants
        self._console = console
        self._results: list[Result] = []
        self._delays: list[Delay] = []
        self._scales: list[Scale] = []
        self._aggregated: list[Result] = []
        self.failures: list[str] = []

    async def run(self, stages: Sequence[str]) -> dict[str, Any]:
        with (
            tempfile.TemporaryDirectory(prefix="sottovoce-bench-") as folder,
            Broker(heap=BROKER_HEAP) as broker,
        ):
            if "rates" in stages:
                await self._measure_rates(broker, Path(folder))
            rates = summarise(self._results)
            show_rates(rates, {each.name: each.title for each in self._contestants.values()}, self._console)
            for letter, contestant in self._contestants.items():
                if letter not in WITH_STATE_AND_TRANSACTIONS:
                    continue
                if "latency" in stages:
                    await self._measure_latency(broker, Path(folder), contestant, rates)
                if "scale" in stages:
                    await self._measure_scale(broker, Path(folder), contestant)
            if "aggregates" in stages:
                await self._measure_aggregates(broker, Path(folder))
        show_delays(self._delays, self._console)
        show_scale(self._scales, self._console)
        return {
            "machine": describe_machine(),
            "rates": rates,
            "heats": [dataclasses.asdict(each) for each in self._results],
            "latency": [dataclasses.asdict(each) for each in self._delays],
            "aggregates": [dataclasses.asdict(each) for each in self._aggregated],
            "scale": [dataclasses.asdict(each) for each in self._scales],
            "failures": self.failures,
        }

    async def _measure_rates(self, broker: Broker, folder: Path) -> None:
        contestants = list(self._contestants.values())
        with progress_bars() as bars:
            race = Race(broker, folder, self._arguments.events, bars, self._note)
            await race.fill(contestants)
            for number in range(1, self._arguments.rounds + 1):
                self._results += await race.round(
                    number, contestants, self._arguments.patience, self._arguments.repeats
                )

    async def _measure_aggregates(self, broker: Broker, folder: Path) -> None:
        events = min(self._arguments.events, AGGREGATED_EVENTS)
        try:
            found = await measure_aggregates(broker, folder, events, self._arguments.patience, lambda _: None)
        except BenchFailure as failure:
            self._note(f"aggregates: {failure}")
            return
        self._aggregated.append(found)
        show_rates(summarise([found]), {found.contestant: "windows of aggregates, 100,000 users"}, self._console)

    async def _measure_latency(
        self, broker: Broker, folder: Path, contestant: Contestant, rates: dict[str, dict[str, Any]]
    ) -> None:
        half = self._arguments.pace
        if half is None and contestant.name in rates:
            half = rates[contestant.name]["events_per_second"] / 2
        paces = [LOW_PACE] if half is None else [LOW_PACE, half]
        self._console.print(f"latency: {contestant.title} at {' and '.join(f'{each:,.0f}' for each in paces)} events/s")
        try:
            self._delays += await measure_delays(contestant, broker, folder, paces, self._arguments.patience)
        except BenchFailure as failure:
            self._note(f"latency: {failure}")

    async def _measure_scale(self, broker: Broker, folder: Path, contestant: Contestant) -> None:
        self._console.print(f"scale: {contestant.title}")
        try:
            self._scales.append(await measure_scale(contestant, broker, folder, self._arguments.patience))
        except BenchFailure as failure:
            self._note(f"scale: {failure}")

    def _note(self, failure: str) -> None:
        self.failures.append(failure)
        print(failure, file=sys.stderr)


def main() -> int:
    arguments = read_arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, it still ends what it started
    arguments.cache.mkdir(parents=True, exist_ok=True)
    try:
        contestants = entrants(arguments.only.split(","), arguments.cache)
        bench = Bench(arguments, contestants, Console(width=140))
        report = asyncio.run(bench.run(arguments.stages.split(",")))
    except BenchFailure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
