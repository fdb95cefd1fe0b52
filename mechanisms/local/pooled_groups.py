"""Frequencies of groups of values, from reports of values and from reports of the groups. Proof: pooled.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechanisms.contract import Floats, Integers
from mechanisms.local.estimate import Estimate
from mechanisms.local.inverted import Inverted
from mechanisms.local.pooled import Level, Pooling, noise_of_sum, shares_of


def pooled_groups(
    levels: Sequence[Level], coarse: Level | None, members: Integers, groups: int, pooling: Pooling
) -> Estimate:
    """`members` says to which group each value belongs; squares that were measured are those of the groups' sums."""
    found, variances = np.zeros(groups), np.zeros(groups)
    own = [np.bincount(members, weights=level.frequencies, minlength=groups) for level in levels]
    for group in range(groups):
        inside = (members == group).astype(np.float64)
        noises = [_inside_and_outside(level.of, inside) for level in levels]
        told = [(level.reports, outside) for level, (_, outside) in zip(levels, noises, strict=True)]
        estimates = [float(each[group]) for each in own]
        measured = [
            -math.inf if level.squares is None else float(level.squares[group]) / level.reports - estimate
            for level, estimate in zip(levels, estimates, strict=True)
        ]
        if coarse is not None:
            noises.append((coarse.of.own, coarse.of.others))
            told.append((coarse.reports, coarse.of.others))
            estimates.append(float(coarse.frequencies[group]))
            measured.append(-math.inf)
        weights = shares_of(told, pooling).tolist()
        found[group] = math.fsum(w * estimate for w, estimate in zip(weights, estimates, strict=True))
        share = min(max(float(found[group]), 0.0), 1.0)
        variances[group] = math.fsum(
            w * w * max(outside + share * (at - outside), least) / reports
            for w, (at, outside), least, (reports, _) in zip(weights, noises, measured, told, strict=True)
        )
    return Estimate(found, variances)


def _inside_and_outside(of: Inverted, inside: Floats) -> tuple[float, float]:
    """The noise of a group's sum for people whose value is in it, and for all others."""
    noise = noise_of_sum(of, inside)
    return float(noise[inside > 0.0][0]), float(noise[inside == 0.0][0])
