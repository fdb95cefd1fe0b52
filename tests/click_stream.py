"""The Kosarak click-stream where SOTTOVOCE_DATA names its folder, a seeded stand-in of its shape, and its model."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tail_models import zipf

from beliefs.chain import Chain, named_row, start_law, tail_law

ITEMS: Final = 41_270
FILE: Final = "kosarak-first-36680.dat.gz"


def clicks(folder: Path) -> list[list[int]]:
    """Sessions of the click-stream, the items numbered from 0."""
    with gzip.open(folder / FILE, "rt", encoding="ascii") as lines:
        return [[int(item) - 1 for item in line.split()] for line in lines]


def learnt_chain(sessions: list[list[int]], size: int, reach: int, doubt: float = 5.0) -> Chain:
    """Rows name what followed, as far as it is among the `reach` most frequent; the tail is how frequent items are."""
    followed: dict[int, Counter[int]] = {}
    items = Counter(item for session in sessions for item in session)
    frequent = {item for item, _ in items.most_common(reach)}
    for session in sessions:
        for before, after in pairwise(session):
            followed.setdefault(before, Counter())[after] += 1
    rows = []
    for x in range(size):
        counts = followed.get(x, Counter())
        total = sum(counts.values()) + doubt
        named = sorted((y, n / total) for y, n in counts.items() if y in frequent)
        rows.append(named_row([y for y, _ in named], [p for _, p in named], f"rows[{x}]", size))
    tail = np.array([items[x] + 0.1 for x in range(size)])
    tail = tail / tail.sum()
    return Chain.from_tail(start_law(tail, "start", size), tail_law(tail, "tail", size), rows)


class Clicks(NamedTuple):
    sessions: list[list[int]]
    items: int
    source: str


def of_sessions(most_items: int, stand_in: int) -> Clicks:
    """Real sessions where they can be found; items from `most_items` on are left out of a quick look."""
    folder = os.environ.get("SOTTOVOCE_DATA")
    if folder and (Path(folder) / FILE).is_file():
        sessions = [[item for item in session if item < most_items] for session in clicks(Path(folder))]
        return Clicks([session for session in sessions if session], most_items, "Kosarak, its first 36,680 sessions")
    return Clicks(seeded(stand_in, most_items), most_items, "seeded stand-in (SOTTOVOCE_DATA names no click-stream)")


def seeded(count: int, items: int) -> list[list[int]]:
    """Sessions of people who go on to what usually follows, or back to what they saw, or anywhere; items as Zipf."""
    source, reached = np.random.default_rng(6), np.cumsum(zipf(items))
    lengths = np.minimum(1 + source.geometric(0.18, count) + np.where(source.random(count) < 0.05, 30, 0), 600)
    clicked = int(lengths.sum())

    def popular(size: int | tuple[int, int]) -> NDArray[np.int64]:
        return np.minimum(np.searchsorted(reached, source.random(size)), items - 1)

    follows, anywhere = popular((items, 3)).tolist(), iter(popular(clicked).tolist())
    choices, whiches = iter(source.random(clicked).tolist()), iter(source.integers(0, 3, clicked).tolist())
    sessions = []
    for length in lengths.tolist():
        session = [next(anywhere)]
        for _ in range(length - 1):
            choice, which = next(choices), next(whiches)
            if choice < 0.5:
                session.append(follows[session[-1]][which])
            elif choice < 0.65:
                session.append(session[which % len(session)])
            else:
                session.append(next(anywhere))
        sessions.append(session)
    return sessions
