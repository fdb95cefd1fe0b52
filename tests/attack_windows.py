"""Windows as an adversary sees them, by the definition: all raw sequences, and both sides of every coin, are gone
through one by one. The channels' integers are the engine's; the auditor's are not looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from attack_help import watching
from audit_memory import Kept
from audit_windows import place_of
from audit_world import Run
from window_oracle import Oracle, of_drawn

from beliefs.chain import Chain
from beliefs.model_file import Model
from mechanisms.contract import TOTAL, constants_of, design_units
from mechanisms.sequence import dual
from mechanisms.sequence.dual_prices import new_rooms
from mechanisms.sequence.window import plan_of
from mechanisms.sequence.window_order import bisected
from stream.adversary.facts import Known
from stream.attack.posterior import Transitions, moves_by_clock, moves_by_event
from stream.audit.amounts import Floats, Integers
from stream.audit.law import Law, law_of

BISECT, NATURAL, DUAL = "{events: 3}", "{events: 3, order: natural}", "{events: 3, order: dual}"
LONGEST = 64
Path = tuple[int, ...]


@dataclass
class Window:
    """One released window: where its events stand among the user's, how likely each sequence of values gives what the
    channels gave if the coin shows tails, beside all of them (for each prefix), and the share of heads.
    """

    start: int
    length: int
    share: float
    prefixes: list[dict[Path, float]]


@dataclass
class User:
    """One user's windows, and what the kernels wrote about each of his events."""

    windows: list[Window]
    rows: Floats
    events: Integers
    moves: Any


def users_of(finished: Run, own: Model | None = None, side: Known | None = None, most: int = 2) -> Iterator[User]:
    """Users with their first windows, at most so many; the kernels have read no more than those."""
    records: dict[bytes, list[Kept]] = {}
    for one in finished.released():
        records.setdefault(one.key or b"", []).append(one)
    for mine in records.values():
        beginnings = [at for at, one in enumerate(mine) if place_of(one)[0] == "1"] + [len(mine)]
        if len(beginnings) <= most:
            continue
        yield _user(finished, mine, beginnings[: most + 1], own, side)


def _user(finished: Run, records: Sequence[Kept], cuts: Sequence[int], own: Model | None, side: Known | None) -> User:
    watch, rows = watching(finished, own, side)
    law, windows = law_of(finished.model.chain), []
    moves = moves_of(finished, records[: cuts[-1]])
    belief: Floats | None = None
    for begin, end in itertools.pairwise(cuts):
        ahead = law.start / law.start.sum() if belief is None else belief
        for step in moves[begin]:
            ahead = Transitions(law).forward(ahead, step)
        windows.append(window_of(finished, records[begin:end], begin, ahead, [len(each) for each in moves[begin:end]]))
        watch.take(records[begin:end])
        belief = watch._listener.book.beliefs[0].copy()
    return User(windows, np.concatenate(rows), np.concatenate(watch.kept), moves)


def moves_of(finished: Run, records: Sequence[Kept]) -> Any:
    """The numbers of the steps before each of the user's events."""
    step = finished.settings.model.step
    if step is None:
        return moves_by_event(len(records))
    return moves_by_clock(np.array([one.timestamp for one in records]), step, finished.settings.model.most)


def window_of(finished: Run, records: Sequence[Kept], start: int, ahead: Floats, steps: Sequence[int]) -> Window:
    drawn = [int(place_of(one)[2] or -1) for one in records]
    epsilon, chain, length = finished.settings.mechanism.epsilon, finished.model.chain, len(records)
    assert finished.settings.window is not None
    order = finished.settings.window.order
    if order == "dual":
        column, law = column_of(chain, ahead, drawn, epsilon)
        beside = {values: chance / law for values, chance in column.items()}
        return Window(start, length, 0.0, [{}] * (length - 1) + [beside])
    natural = order == "natural"
    most = finished.settings.model.most if finished.settings.model.step is not None else 1
    plan = plan_of(epsilon, LONGEST if natural else length, chain.size, most)
    positions = list(range(length)) if natural else list(bisected(length))
    oracle = Oracle(chain, ahead.tolist(), steps, finished.task().public.distance if is_near(finished) else None)
    releases = of_drawn(oracle, positions, drawn, plan.cap)
    prefixes = []
    for count in range(1, length + 1):
        heard = [each for each in releases if each.position < count] if natural else releases
        law = float(sum(chance * oracle.chance_of(heard, path) for chance, path in oracle.paths))
        prefixes.append(
            {
                values: float(np.prod([float(each.chances[values[each.position]]) for each in heard])) / law
                for values in itertools.product(range(chain.symbols), repeat=length)
            }
        )
    return Window(start, length, plan.covered / TOTAL, prefixes)


def is_near(finished: Run) -> bool:
    return finished.settings.mechanism.name == "near"


def column_of(chain: Chain, ahead: Floats, drawn: Sequence[int], epsilon: float) -> tuple[dict[Path, float], float]:
    """How likely each sequence of values gives what was drawn, by the channel for all of them; and how likely it is."""
    length = len(drawn)
    table = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        table[state, following] = chances
    sequences = list(itertools.product(range(chain.symbols), repeat=length))
    law = np.array([ahead[x[0]] * np.prod([table[a, b] for a, b in itertools.pairwise(x)]) for x in sequences])
    law /= law.sum()
    room = new_rooms(chain.symbols, length)[-1]
    dual.prepare(law, np.array(constants_of(design_units(round(epsilon * 2**40), 0))), room)
    places = {int(head): place for place, head in enumerate(room.head[: room.counts[dual.COUNT]])}
    dual.column(places[sequences.index(tuple(drawn))], law, room)
    column = room.likelihood[: len(sequences)] / TOTAL
    return dict(zip(sequences, column.tolist(), strict=True)), float(law @ column)


def chances(
    law: Law, user: User, known: dict[int, int], windows: Sequence[tuple[Window, int]], at: int, until: int
) -> Floats:
    """The law of the value at this place, given these windows (each with the number of its values that have been shown)
    and what is known of the first events: the sum over all paths of the adversary's law, and over all coins.
    """
    found = np.zeros(law.begin.shape[0] - 1)
    for path, weight in paths_of(law, user.moves, until):
        values = [int(law.ends[state]) for state in path]
        if any(values[event] != value for event, value in known.items() if event < until):
            continue
        for coins in itertools.product((True, False), repeat=len(windows)):
            chance = weight
            for heads, (window, shown) in zip(coins, windows, strict=True):
                own = tuple(values[window.start : window.start + window.length])
                own += (0,) * (window.length - len(own))
                told = window.prefixes[shown - 1][own]
                chance *= window.share if heads else (1.0 - window.share) * told
            found[values[at]] += chance
    return np.asarray(found / found.sum())


def paths_of(law: Law, moves: Any, count: int) -> Iterator[tuple[Path, float]]:
    size, steps = law.start.shape[0], Transitions(law)
    tables = []
    for move in moves[:count]:
        table = np.eye(size)
        for step in move:
            table = np.array([steps.forward(row, step) for row in table])
        tables.append(table)
    start = law.start / law.start.sum()

    def longer(path: Path, weight: float) -> Iterator[tuple[Path, float]]:
        if len(path) == count:
            yield path, weight
            return
        for state in range(size):
            chance = float(start[state]) if not path else float(tables[len(path)][path[-1], state])
            if chance > 0.0:
                yield from longer((*path, state), weight * chance)

    yield from longer((), 1.0)
