"""Chains with a tail: a few states named in each row, the rest of its mass left to one law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.chain import Chain, named_row, start_law, tail_law


def zipf(size: int) -> NDArray[np.float64]:
    """How often the first, second, third ... value of many occurs, if they are sorted."""
    weights = 1.0 / np.arange(1, size + 1)
    return np.asarray(weights / weights.sum())


def zipf_chain(size: int, *, named: int = 6, reach: int | None = None, left: float = 0.3, seed: int = 1) -> Chain:
    """Each row names itself and other states among the first `reach`, the frequent ones more often."""
    source = np.random.default_rng(seed)
    reach = size if reach is None else reach
    law, tail = zipf(reach), zipf(size)
    drawn = source.choice(reach, p=law, size=(size, named - 1))
    rows = []
    for x in range(size):
        others = np.unique(drawn[x][drawn[x] != x])
        columns = np.sort(np.append(others, x)) if x < reach else others
        masses = source.dirichlet(np.ones(columns.size)) * (1.0 - left)
        rows.append(named_row(columns.tolist(), masses.tolist(), f"rows[{x}]", size))
    return Chain.from_tail(start_law(tail, "start", size), tail_law(tail, "tail", size), rows)
