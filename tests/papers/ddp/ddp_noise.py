"""How much noise each method adds, on the stand-in: multiples of what one independent person needs."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
from ddp_theorems import friend_coefficients

from beliefs.laws.components import components_of
from stream.social.draws import Draws
from stream.social.world import World

FAINT: Final = 0.5
"""Correlations below this do not count for Zhu et al.; they give no number."""

LPM, EXACT, EQ_18, ZHU, COMPONENT, EVERYBODY = (
    "LPM", "DPM, exact rho", "DPM, Eq. 18", "Zhu et al.", "baseline, component", "baseline, L = n"
)  # fmt: skip


class Coverage(NamedTuple):
    """Multiples, for the person with most friends, the most correlated person, and the largest component.

    Only the last two are guarantees: friends of friends are dependent, too.
    """

    exact: float
    eq_18: float
    zhu: float
    component: float
    everybody: float

    def named(self) -> dict[str, float]:
        return {LPM: 1.0, **dict(zip((EXACT, EQ_18, ZHU, COMPONENT, EVERYBODY), self, strict=True))}


@cache
def coverage(world: World) -> Coverage:
    most, told = int(world.degrees().max()), friend_coefficients()
    return Coverage(
        1.0 + most * told.exact,
        1.0 + most * told.farthest,
        correlated(world),
        float(components_of(world.size, world.friends).largest),
        float(world.size),
    )


def correlated(world: World, people: int = 200) -> float:
    """Zhu et al.: the sum of the correlations of one person's twelve coordinates with everybody's, at most."""
    rows = world.goes_to.reshape(world.size, -1)
    apart = rows - rows.mean(axis=1, keepdims=True)
    shares = apart / np.sqrt((apart**2).sum(axis=1, keepdims=True))
    some = Draws.of(41).order("correlated", world.size)[:people]
    sizes = np.abs(shares[some] @ shares.T)
    return float(np.where(sizes >= FAINT, sizes, 0.0).sum(axis=1).max())
