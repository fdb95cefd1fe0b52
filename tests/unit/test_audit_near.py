"""The auditor's second account of `near` gives the mechanism's integers, bit for bit, under every kind of distance."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from beliefs.distance import Distance, absolute, euclidean, from_table, haversine, squared
from beliefs.simplex import normalised
from mechanisms import registry
from mechanisms.contract import Floats, constants_of, new_workspace
from mechanisms.sequence.sites import CUT_SHORT
from mechanisms.sequence.transport import EFFORT
from stream.audit import near
from stream.audit.amounts import Integers
from stream.audit.channel import BASE, COLUMN, VALUE, new_channel, worst
from stream.audit.lots import EFFORT as SECOND_EFFORT
from stream.audit.lots import new_nearby

NEAR = registry.MECHANISMS["near"].code
EPSILONS = (1e-9, 1e-6, 0.01, 0.3, 0.7, 1.0, 1.7, 3.0, 6.0, 16.0, 32.0)


def distances(symbols: int) -> list[Distance]:
    costs = np.random.default_rng(symbols).uniform(0.0, 1.0, (symbols, symbols))
    every = [
        absolute(range(symbols)),
        squared([x * 0.3 for x in range(symbols)]),
        euclidean([(x % 11, x // 11) for x in range(symbols)]),
        haversine([(x % 90, (7 * x) % 180) for x in range(symbols)]),
        euclidean([(x // 3, 0) for x in range(symbols)]),  # several values at one place
    ]
    return [*every, from_table(costs, symbols, as_costs=True)] if symbols <= 256 else every


def beliefs(symbols: int) -> list[Floats]:
    source = np.random.default_rng(symbols)
    sparse = source.dirichlet(np.ones(symbols)) * (source.random(symbols) < 0.3)
    sparse[0] += 1e-9
    steep = 10.0 ** source.uniform(-12.0, 0.0, symbols)
    return [normalised(masses) for masses in (np.ones(symbols), source.dirichlet(np.full(symbols, 0.3)), sparse, steep)]


def engine(belief: Floats, constants: Floats, distance: Distance) -> tuple[object, ...]:
    work = new_workspace(belief.shape[0], distance)
    ratios = registry.prepare(NEAR, belief, constants, work)
    count = int(work.size[0])
    columns = []
    for i in range(count):
        registry.column(NEAR, i, belief, work)
        columns.append(work.likelihood.tolist())
    return work.head[:count].tolist(), work.base[:count].tolist(), columns, ratios, int(work.size[EFFORT])


def auditor(belief: Floats, constants: Floats, distance: Distance) -> tuple[object, ...]:
    desk, channel = new_nearby(belief.shape[0], distance), new_channel(belief.shape[0])
    near.work_out(belief, constants, desk, channel)
    count = int(channel.size[0])
    columns = []
    for i in range(count):
        near.write_column(i, desk, channel)
        column: Integers = channel.units[COLUMN]
        columns.append(column.astype(np.float64).tolist())
    values, bases = channel.units[VALUE, :count].tolist(), channel.units[BASE, :count].tolist()
    return values, bases, columns, worst(channel), int(desk.figures[SECOND_EFFORT])


@pytest.mark.parametrize("symbols", [1, 2, 3, 7, 20, 60, 129, 300])
def test_both_accounts_agree_to_the_last_bit(symbols: int) -> None:
    for distance, belief, epsilon in product(distances(symbols), beliefs(symbols), EPSILONS):
        constants = np.array(constants_of(int(epsilon * 2**40) - 64))
        assert auditor(belief, constants, distance) == engine(belief, constants, distance), (distance.kind, epsilon)


def test_both_stop_where_the_effort_ends() -> None:
    belief, distance = normalised(np.random.default_rng(3).dirichlet(np.ones(120))), absolute(range(120))
    constants = np.array(constants_of(3 << 40))
    work = new_workspace(120, distance)
    registry.prepare(NEAR, belief, constants, work)
    assert work.size[CUT_SHORT] == 1
    assert auditor(belief, constants, distance) == engine(belief, constants, distance)
