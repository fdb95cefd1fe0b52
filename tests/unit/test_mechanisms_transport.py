"""The plan of transport, against a linear program, and what each of its ends must have."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from beliefs.distance import from_table
from mechanisms.contract import Workspace, new_workspace
from mechanisms.sequence.transport import (
    CELLS,
    DEMAND,
    EFFORT,
    EFFORT_MAX,
    FILLED,
    FLOW,
    MASS,
    NOBODY,
    PRICE,
    RARE,
    ROOM,
    SITE,
    SITES,
    serve,
)


def problem(seed: int) -> Workspace:
    """Some cells, some sites with demands that fit, and in every second one a rare site with room for it."""
    rng = np.random.default_rng(seed)
    cells = int(rng.integers(2, 12))
    sites = int(rng.integers(1, cells + 1))
    work = new_workspace(cells, from_table(np.zeros((cells, cells)), cells))
    work.tables[PRICE] = rng.integers(0, 50 if seed % 3 else 3, (cells, cells))
    work.lists[MASS] = rng.integers(0, 1000, cells)
    work.lists[MASS, 0] += 1
    work.lists[SITE, :sites] = rng.permutation(cells)[:sites]
    whole = int(work.lists[MASS].sum())
    work.size[CELLS], work.size[SITES], work.size[RARE] = cells, sites, NOBODY
    work.lists[DEMAND, :sites] = whole // sites
    if sites > 1 and seed % 2:
        work.size[RARE] = sites - 1
        work.lists[ROOM] = work.lists[MASS] * 2 // 3
        work.lists[DEMAND, sites - 1] = whole - (sites - 1) * (whole // sites)
        if work.lists[DEMAND, sites - 1] > work.lists[ROOM].sum():
            return problem(seed + 10_000)
    return work


def cheapest(work: Workspace) -> float:
    cells, sites, rare = (int(work.size[place]) for place in (CELLS, SITES, RARE))
    prices = work.tables[PRICE][:, work.lists[SITE, :sites]].astype(float)
    most = np.repeat(work.lists[MASS][:, None], sites, axis=1).astype(float)
    if rare != NOBODY:
        most[:, rare] = work.lists[ROOM]
    result = linprog(
        prices.ravel(),
        A_ub=-np.tile(np.eye(sites), cells),
        b_ub=-work.lists[DEMAND, :sites].astype(float),
        A_eq=np.kron(np.eye(cells), np.ones(sites)),
        b_eq=work.lists[MASS].astype(float),
        bounds=np.stack([np.zeros(cells * sites), most.ravel()], axis=1),
        method="highs",
    )
    assert result.status == 0, result.message
    return float(result.fun)


def test_no_plan_is_cheaper() -> None:
    for seed in range(400):
        work = problem(seed)
        assert serve(work)
        sites, rare = int(work.size[SITES]), int(work.size[RARE])
        flow = work.tables[FLOW][:, :sites]
        assert (flow >= 0).all()
        assert (flow.sum(axis=1) == work.lists[MASS]).all()
        assert (flow.sum(axis=0) == work.lists[FILLED, :sites]).all()
        assert (flow.sum(axis=0) >= work.lists[DEMAND, :sites]).all()
        if rare != NOBODY:
            assert (flow[:, rare] <= work.lists[ROOM]).all()
            assert flow[:, rare].sum() == work.lists[DEMAND, rare]
        total = float((flow * work.tables[PRICE][:, work.lists[SITE, :sites]]).sum())
        assert abs(total - cheapest(work)) <= 1e-6 * max(total, 1.0)


def test_it_stops_where_the_effort_ends() -> None:
    work = problem(4)
    assert serve(work)
    work.size[EFFORT] = EFFORT_MAX
    work.lists[DEMAND, : work.size[SITES]] = work.lists[MASS].sum() // work.size[SITES]
    assert work.size[SITES] > 1
    assert not serve(work)
