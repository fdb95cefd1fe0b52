"""What `plan` predicts is what `run` does: twelve pipelines on a real broker, on users drawn from their models.

A pipeline is given as many users as it takes for a difference of one point to be more than three standard deviations
of what prediction and measurement may differ by chance.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import live_worker
import numpy as np
import orjson
import pytest
from broker import Broker
from live_writing import PARTITIONS, Raw, write

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import serialise
from stream.keys import new_ring
from stream.planning.grid import Document, document_of
from stream.planning.points import Candidate, Trial
from stream.planning.search import Search
from stream.planning.target import Target
from stream.settings.load import written_out

pytestmark = [pytest.mark.live, pytest.mark.timeout(500)]

PER_DAY = 30
DAY_MS = 86_400_000
FIRST_DAY = 19_676
POINT = 0.01
TOGETHER = 0.0029
"""The standard deviation of prediction and measurement together: a point is more than 3.4 of these."""
AT_ONCE = 3


def _sticky(size: int, stay: float) -> Chain:
    others = (1 - stay) / (size - 1)
    rows = [[stay if i == j else others for j in range(size)] for i in range(size)]
    return Chain.from_dense([1 / size] * size, rows)


def _mixed(size: int) -> Chain:
    rows = np.random.default_rng(7).dirichlet(np.full(size, 0.4), size=size) * 0.98 + 0.02 / size
    return Chain.from_dense([1 / size] * size, (rows / rows.sum(axis=1, keepdims=True)).tolist())


STICKY, TWO, MIXED = _sticky(4, 0.8), _sticky(2, 0.9), _mixed(8)
ALONE = Chain.from_dense([0.5, 0.3, 0.2], [[0.5, 0.3, 0.2]] * 3)
CONFIGURATIONS = (
    (STICKY, Candidate("optimal", 1.0)),
    (MIXED, Candidate("optimal", 0.5)),
    (ALONE, Candidate("optimal", 1.0)),
    (MIXED, Candidate("marginal_preserving", 1.0)),
    (MIXED, Candidate("top_k_grr", 1.0)),
    (STICKY, Candidate("randomised_response", 1.5)),
    (TWO, Candidate("temporal_ldp", 1.0)),
    (STICKY, Candidate("optimal", 1.0, nats=12.0, length=DAY_MS)),
    (STICKY, Candidate("optimal", 2.0, "bisect", 5)),
    (MIXED, Candidate("optimal", 2.0, "bisect", 10)),
    (TWO, Candidate("optimal", 1.0, "natural", 5)),
    (TWO, Candidate("optimal", 2.0, "bisect", 10, 4.0, DAY_MS)),
)


@dataclass(frozen=True)
class Predicted:
    trial: Trial
    agreement: float
    users: int
    steps: int
    settings: Document


async def test_what_is_predicted_is_what_is_measured(broker: Broker, tmp_path: Path) -> None:
    gate = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(
        *(_one(broker, gate, tmp_path / str(number), number) for number in range(len(CONFIGURATIONS)))
    )
    told = [f"{CONFIGURATIONS[number][1]}: {one:.4f} predicted, {two:.4f} measured" for number, one, two in found]
    assert len(found) == 12
    assert [line for line, (_, one, two) in zip(told, found, strict=True) if abs(one - two) > POINT] == [], told


async def _one(broker: Broker, gate: asyncio.Semaphore, folder: Path, number: int) -> tuple[int, float, float]:
    chain, candidate = CONFIGURATIONS[number]
    values = Categories([f"v{value}" for value in range(chain.size)])
    async with gate, live_worker.opened(broker.bootstrap, folder, record="{protect: {path: $.activity}}") as house:
        (folder / "model.json").write_bytes(serialise(values, chain, {"source": "a test"}))
        predicted = await asyncio.to_thread(_predict, folder, house.file, candidate)
        house.file.write_text(json.dumps(predicted.settings))
        paths = _population(chain, predicted.users, predicted.steps, number)
        await write(broker.bootstrap, house.raw, _records(paths))
        await house.start()
        await house.settled()
        shown: dict[bytes, list[str]] = {}
        for record in await house.read(house.released):
            shown.setdefault(record.key, []).append(orjson.loads(record.value)["activity"])
    same = [
        shown[b"u%d" % user][step] == f"v{value}" for user, path in enumerate(paths) for step, value in enumerate(path)
    ]
    assert sum(map(len, shown.values())) == len(same) == predicted.users * predicted.steps
    measured = sum(same) / len(same)
    print(f"{candidate}: {predicted.agreement:.4f} predicted, {measured:.4f} measured, {len(same)} events")
    return number, predicted.agreement, measured


def _predict(folder: Path, settings: Path, candidate: Candidate) -> Predicted:
    """As `plan` does, on more users; and how many the measurement needs for the rest of the deviation."""
    place = folder / "planning"
    place.mkdir()
    new_ring(place / "keys.json")
    base = written_out(settings.read_bytes(), settings)
    search = Search(base, Target(), PER_DAY, place, place / "keys.json", lambda *_: None)
    search.precision, search.most_events = (0.003 if candidate.events == 1 else 0.004), 10**6
    trial = search.trial(candidate)
    while trial.batches < 20 or not search.is_sure(trial):
        search.run(trial, trial.batches)
    point = trial.point(PER_DAY)
    left = TOGETHER**2 - (point.agreement_error / 1.96) ** 2
    users = math.ceil(trial.spread**2 / left)
    return Predicted(trial, point.agreement, users, point.steps, document_of(base, candidate, PER_DAY))


def _population(chain: Chain, users: int, steps: int, seed: int) -> list[list[int]]:
    """Seeded users whose values follow the chain, drawn by code of the test's own."""
    coins = np.random.default_rng(seed).random((steps, users))
    rows = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        rows[state, following] = chances
    sums = np.cumsum(rows, axis=1)
    state = np.searchsorted(np.cumsum(chain.start), coins[0])
    path = [state]
    for step in range(1, steps):
        state = np.minimum((sums[state] < coins[step][:, None]).sum(axis=1), chain.size - 1)
        path.append(state)
    return [[int(value) for value in values] for values in np.array(path).T]


def _records(paths: list[list[int]]) -> Iterator[Raw]:
    """Each user's values evenly over a day, all users' first ones first."""
    for step in range(len(paths[0])):
        time = FIRST_DAY * DAY_MS + step * (DAY_MS // PER_DAY)
        for user, path in enumerate(paths):
            yield Raw(user % PARTITIONS, b"u%d" % user, b'{"activity":"v%d"}' % path[step], timestamp=time)
