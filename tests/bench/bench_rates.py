"""The race: every contestant over the same events, one after the other, round after round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bench_broker import Broker, make_topic
from bench_contestants import Contestant, Heat
from bench_machine import await_quiet
from bench_meter import Result, run_heat
from bench_processes import BenchFailure
from bench_traffic import Alphabet, draw_traffic, fill
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

USERS = 1_000
# A heat during which others used more of the machine than this is run again, if repeats are left.
NOISY_SHARE = 0.10


def progress_bars() -> Progress:
    columns = (TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, refresh_per_second=2)


class Race:
    def __init__(self, broker: Broker, folder: Path, events: int, bars: Progress, note: Callable[[str], None]) -> None:
        self._broker = broker
        self._folder = folder
        self._events = events
        self._bars = bars
        self._note = note
        self._heats = 0

    async def fill(self, contestants: Sequence[Contestant]) -> None:
        """The raw topics, each shared by all who read it."""
        for topic, contestant in {source_topic(each): each for each in contestants}.items():
            events, load = self._given(contestant), contestant.load
            task = self._bars.add_task(f"filling {topic}", total=events)
            await make_topic(self._broker.bootstrap, topic)
            if load is None:
                traffic, users = draw_traffic(Alphabet(contestant.alphabet_size), events, USERS), USERS
            else:
                traffic, users = load.draw(events), load.users
            await fill(self._broker.bootstrap, topic, traffic, users, lambda n, task=task: self._bars.advance(task, n))

    def _given(self, contestant: Contestant) -> int:
        """How many events are in its raw topic."""
        return self._events if contestant.load is None else min(self._events, contestant.load.events)

    async def round(
        self, number: int, contestants: Sequence[Contestant], patience: float, repeats: int
    ) -> list[Result]:
        """One heat each. A heat disturbed by others is repeated; the least disturbed counts, whatever its rate."""
        results = []
        for contestant in contestants:
            tries: list[Result] = []
            while len(tries) <= repeats and (not tries or tries[-1].others_share_of_machine > NOISY_SHARE):
                await await_quiet(patience)
                try:
                    tries.append(await self._heat(number, contestant))
                except BenchFailure as failure:
                    self._note(f"round {number}: {failure}")
                    break
            if tries:
                chosen = min(tries, key=lambda each: each.others_share_of_machine)
                results.append(chosen)
                self._bars.console.print(
                    f"round {number}: {contestant.title}: {chosen.events_per_second:,.0f} events/s, "
                    f"warm {chosen.warm_events_per_second:,.0f}, others used {chosen.others_share_of_machine:.0%}"
                )
        return results

    async def _heat(self, number: int, contestant: Contestant) -> Result:
        self._heats += 1
        group = f"bench-{contestant.name}-{self._heats}"
        folder = self._folder / group
        folder.mkdir()
        heat = Heat(self._broker.bootstrap, source_topic(contestant), f"{group}-out", group, folder)
        given = self._given(contestant)
        total = min(given, contestant.prefix or given)
        task = self._bars.add_task(f"round {number}: {contestant.title}", total=total)
        return await run_heat(
            contestant,
            heat,
            given,
            self._broker,
            read_back=number == 1,
            progress=lambda done: self._bars.update(task, completed=done),
        )


def source_topic(contestant: Contestant) -> str:
    return f"raw-{contestant.alphabet_size if contestant.load is None else contestant.load.name}"
