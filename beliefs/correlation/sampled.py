"""An estimate of a leak from perturbed records, and how surprising it would be without any correlation: sampled.md.

It is an estimate: it errs to both sides, and a guarantee never comes from here. All randomness is handed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Places

Perturb = Callable[[Places], Places]
Shuffle = Callable[[Places], Places]


class Sampled(NamedTuple):
    """Nats: infinite where an output was never seen under one secret; `smoothed` counts half a report more in each."""

    epsilon: float
    smoothed: float
    p_value: float


def sampled_leak(
    hidden: Places, neighbours: Places, outputs: int, perturb: Perturb, shuffle: Shuffle, *, copies: int, times: int
) -> Sampled:
    """Reports every record's neighbour `copies` times; shuffles the secrets `times` times for the p-value."""
    if hidden.size == 0 or hidden.size != neighbours.size:
        raise Invalid("records", "must be at least one, each with a secret and a neighbour")
    reported = perturb(np.repeat(neighbours, copies))
    if reported.size != copies * hidden.size or reported.min() < 0 or reported.max() >= outputs:
        raise Invalid("perturb", f"must give one of {outputs} outputs for each value")
    _, places = np.unique(hidden, return_inverse=True)
    observed = _leak(places, reported, outputs, copies, 0.0)
    smoothed = _leak(places, reported, outputs, copies, 0.5)
    compared = [_leak(shuffle(places), reported, outputs, copies, 0.5) for _ in range(times)]
    return Sampled(observed, smoothed, (1 + sum(each >= smoothed for each in compared)) / (times + 1))


def _leak(hidden: Places, reported: Places, outputs: int, copies: int, added: float) -> float:
    """The largest log ratio of the shares of one output under two secrets."""
    rows = int(hidden.max()) + 1
    cells = np.bincount(np.repeat(hidden, copies) * outputs + reported, minlength=rows * outputs)
    counts = cells.reshape(rows, outputs) + added
    shares = counts / counts.sum(axis=1, keepdims=True)
    highest, lowest = shares.max(axis=0), shares.min(axis=0)
    seen = highest > 0.0
    if bool((lowest[seen] == 0.0).any()):
        return math.inf
    return float(np.log(highest[seen] / lowest[seen]).max())
