"""Two pipelines over tens of thousands of values, whole, against the broker: places, and clicks.

Places: users walk over 100 x 100 cells of a town, and what is released is near where they are. Clicks: a model with a
tail over 41,270 items, 2,000 entries of a belief listed. With the folder of the Kosarak click-stream in SOTTOVOCE_DATA
it is learnt from half of its sessions and told of the other half, one user a session; otherwise users follow a
stand-in whose items are as frequent as 1, 1/2, 1/3 ...
"""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
from bench_contestants import Contestant
from bench_large import true_values
from bench_sottovoce import command_of, step_of
from bench_traffic import Load, Traffic

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from click_stream import ITEMS, learnt_chain
from click_stream import clicks as sessions_in
from grid_walks import grid_of, walk_on
from tail_models import zipf_chain

from beliefs.alphabet import Alphabet, IntegerRange
from beliefs.chain import Chain
from beliefs.model_file import serialise

SIDE = 100
PLACES_EVENTS, CLICKS_EVENTS = 60_000, 120_000
"""About a minute each at the thousand events a second that are wanted."""
WALKERS = 1_000
REACH = 1_900
"""Rows name the most frequent items: no more than are listed, so that listing loses nothing."""


def places() -> Contestant:
    grid = grid_of(SIDE, SIDE)
    texts = [json.dumps(grid.value_at(cell)) for cell in range(grid.size)]
    load = Load("places", PLACES_EVENTS, WALKERS, lambda events: _paths(walk_on(SIDE, SIDE), texts, events))
    return Contestant(
        "sottovoce-places",
        "sottovoce run, 10,000 cells, near by haversine",
        command_of(lambda: _model(grid, walk_on(SIDE, SIDE)), mechanism="near", distance="    distance: haversine\n"),
        count_of=step_of,
        load=load,
    )


def clicks() -> Contestant:
    folder = os.environ.get("SOTTOVOCE_DATA")
    texts = [str(item) for item in range(ITEMS)]
    if folder:
        told = sessions_in(Path(folder))[1::2]
        count = sum(map(len, told))
        load = Load("clicks", min(CLICKS_EVENTS, count), len(told), lambda events: _sessions(told, texts, events))
    else:
        load = Load("zipf", CLICKS_EVENTS, WALKERS, lambda events: _paths(_item_chain(None), texts, events))
    return Contestant(
        f"sottovoce-{load.name}",
        f"sottovoce run, 41,270 items, 2,000 listed, {'Kosarak' if folder else 'a stand-in'}",
        command_of(lambda: _model(IntegerRange(0, ITEMS - 1), _item_chain(folder))),
        count_of=step_of,
        load=load,
    )


@lru_cache(maxsize=1)
def _item_chain(folder: str | None) -> Chain:
    if folder is None:
        return zipf_chain(ITEMS, reach=REACH)
    return learnt_chain(sessions_in(Path(folder))[::2], ITEMS, REACH)


def _model(alphabet: Alphabet, chain: Chain) -> bytes:
    return serialise(alphabet, chain, {"source": "the benchmark"})


def _paths(chain: Chain, texts: list[str], events: int) -> Traffic:
    users = np.random.default_rng(7).integers(0, WALKERS, events)
    return Traffic(texts, users, true_values(chain, users))


def _sessions(told: list[list[int]], texts: list[str], events: int) -> Traffic:
    every = ((user, item) for user, session in enumerate(told) for item in session)
    users, items = (np.array(column, dtype=np.int64) for column in zip(*islice(every, events), strict=True))
    return Traffic(texts, users, items)
