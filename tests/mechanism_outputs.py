"""Every report that a local mechanism may make: which values it supports, and its chance under each value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mechanisms.local.registry import local


def support(name: str, values: int, epsilon: float) -> np.ndarray:
    """Whether output y supports value v, for the columns of the channel in their order."""
    chosen = local(name, values, epsilon)
    if name in ("grr", "exp"):
        return np.eye(values, dtype=bool)
    if name in ("oue", "sue", "rappor", "the"):
        return np.array(list(itertools.product((False, True), repeat=values))).T
    if name == "ss":
        size = chosen.extras()["subset_size"]
        assert isinstance(size, int)
        return np.array([[v in c for c in itertools.combinations(range(values), size)] for v in range(values)])
    span = chosen.extras()["hash_range"]
    assert isinstance(span, int)
    functions = itertools.product(range(span), repeat=values)
    return np.array([[h == y for h in hashes] for hashes in functions for y in range(span)]).T


def channel(name: str, values: int, epsilon: float) -> np.ndarray:
    chosen = local(name, values, epsilon)
    rows = chosen.channel()  # type: ignore[attr-defined]
    assert rows.sum(axis=1) == pytest.approx(np.ones(values))
    return np.asarray(rows)
