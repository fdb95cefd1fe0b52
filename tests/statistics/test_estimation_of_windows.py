"""Windows of values through the engine and its keyed coins, over many users with the same values: what is estimated of
each user has no bias, the stated variance, and intervals that cover.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from audit_world import Run, run
from estimate_windows import ORDERS, model_of_windows
from test_estimation_unbiased import SEQUENCE, USERS, Told, accusations, check, inputs_of

from stream.audit.book import STEP, USER
from stream.audit.records import Reader
from stream.audit.windows import rows_of
from stream.estimation.functionals import TOLD
from stream.estimation.listening import Listened, listener_to
from stream.estimation.sums import SequenceSums

VALUES = [place % 2 for place in SEQUENCE[:9]]
RUNS = 100


def released(order: str, name: str, values: list[int], epsilon: float) -> tuple[Run, Listened]:
    model = model_of_windows(name)
    names = [str(model.alphabet.value_at(place)) for place in range(model.alphabet.size)]
    inputs = list(inputs_of(values, names))
    settings: dict[str, Any] = {"windows": ORDERS[order], "epsilon": epsilon, "nats": "unlimited"}
    finished = run(model.alphabet.size, model=model, inputs=inputs, **settings)
    public = finished.task().public
    listener, reader = listener_to(public, None), Reader(public.form)
    parsed = reader.read(finished.released())
    listener.make_room(USERS)
    rows = rows_of(parsed, np.arange(len(finished.released())))
    found = listener.take(rows, np.zeros(rows.offsets.shape[0], dtype=np.int64))
    assert (found.heard.kind == TOLD).all() and found.events.shape[0] == USERS * len(values)
    return finished, found


def sums_by_user(found: Listened, symbols: int) -> list[SequenceSums]:
    sums = []
    for user in range(USERS):
        which = np.flatnonzero(found.events[:, USER] == user)
        sums.append(SequenceSums(symbols, None))
        sums[-1].add(found, which, np.zeros(found.events.shape[0], dtype=np.int64))
    return sums


@pytest.mark.parametrize("order", ORDERS)
def test_all_values_of_windows(order: str) -> None:
    """Three users are a run: the noise of one is too far from normal."""
    _, found = released(order, "two", VALUES, 2.5)
    sums = sums_by_user(found, 2)
    assert all((one.everywhere.known == len(VALUES)).all() for one in sums)
    lots = [sums[place::RUNS] for place in range(RUNS)]
    estimates = [sum(one.everywhere.sums for one in lot) for lot in lots]
    variances = [sum(one.everywhere.noise for one in lot) for lot in lots]
    told = [Told(np.array(one), np.mean(variances, axis=0)) for one in estimates]
    check(told, USERS / RUNS * np.bincount(VALUES))


@pytest.mark.parametrize(("order", "epsilon"), [("bisect", 3.0), ("natural", 3.0)])
def test_values_that_are_told_of_where_channels_are_singular(order: str, epsilon: float) -> None:
    """Which are told of depends on earlier windows; what is counted are the true values among them."""
    _, found = released(order, "sticky", SEQUENCE[:9], epsilon)
    assert found.ties is not None
    known = found.heard.known * found.ties.alone[:, None]
    assert 0 < known.sum() < known.size
    true = np.array(SEQUENCE)[found.events[:, STEP] - 1][:, None] == np.arange(3)
    apart = np.zeros((USERS, 3))
    np.add.at(apart, found.events[:, USER], found.heard.functional * found.ties.alone[:, None] - known * true)
    sums = sums_by_user(found, 3)
    for value in np.flatnonzero(known.any(axis=0)).tolist():
        error = apart[:, value].std() / np.sqrt(USERS)
        assert abs(apart[:, value].mean()) < 5 * error
        stated = np.array([one.told.noise[value] for one in sums])
        differ = apart[:, value] ** 2 - stated
        assert abs(differ.mean()) < 5 * differ.std() / np.sqrt(USERS)


def test_a_wrong_share_of_heads_is_noticed() -> None:
    """As if the coin's stranger added half of what he does."""
    _, found = released("bisect", "two", VALUES, 2.5)
    assert found.ties is not None
    share = found.ties.share[:, None]
    wrong = found.heard.functional * (1.0 - share) / (1.0 - share / 2.0)
    estimates = np.zeros((USERS, 2))
    np.add.at(estimates, found.events[:, USER], wrong)
    variance = np.broadcast_to(estimates.var(axis=0), estimates.shape)
    told = [Told(one, spread) for one, spread in zip(estimates, variance, strict=True)]
    assert "bias" in accusations(told, np.bincount(VALUES).astype(float))
