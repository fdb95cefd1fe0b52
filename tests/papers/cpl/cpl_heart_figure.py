"""Figure 4(c): what every attribute of CVD loses through every other one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from cpl_data import CARDIO_BY_CHOLESTEROL, Floats, heart
from cpl_heat_map import heat_map
from cpl_leaks import Pairs
from paper_findings import Cell, Claim, Numbers, Section, verdict_of, where

from beliefs.correlation.joint import joint_leak
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.tables import conditional_of, given

EPSILON: Final = 1.0
PRINTED: Final = (0.3381, 0.1769)
"""Cholesterol through cardio, and cardio through cholesterol."""
NEAR_ZERO: Final = 0.1


def squared(pairs: Pairs, values: Floats) -> Floats:
    size = len(pairs.data.names)
    square = np.zeros((size, size))
    for (secret, other), value in zip(pairs.pairs, values, strict=True):
        square[secret, other] = value
    return square


def both_ways(epsilon: float) -> tuple[float, float]:
    """Of the public counts: cholesterol through cardio, and cardio through cholesterol."""
    counts = np.array(CARDIO_BY_CHOLESTEROL, dtype=np.float64)
    forward, backward = conditional_of(counts.T).laws, conditional_of(counts).laws
    return response_leak(forward, epsilon), response_leak(backward, epsilon)


def figure(folder: Path) -> Section:
    pairs = Pairs(heart())
    told = pairs.exact("grr", EPSILON)
    square = squared(pairs, told)
    picture = heat_map(
        folder / "fig4c.png",
        "Figure 4(c): CPL between attributes of CVD, GRR, epsilon 1",
        pairs.data.names,
        square,
        ("the attribute that loses", "the attribute that is reported"),
        f"{pairs.data.source}. Claims: most are near 0, and the map is not symmetric.",
    )
    table = pairs.data.table(*range(len(pairs.data.names)))
    together: list[list[Cell]] = []
    for secret, name in enumerate(pairs.data.names):
        others = [EPSILON] * (len(pairs.data.names) - 1)
        together.append([name, joint_leak(given(table, secret), others), float(square[secret].sum())])
    return Section(
        "fig4c",
        "Figure 4(c): CVD, every pair",
        f"{pairs.data.source}; GRR at epsilon {EPSILON:g}, exact. Which seven attributes the paper took it does not "
        "say.",
        _claims(told),
        [
            Numbers("nats, row through column", ["", *pairs.data.names], _rows(pairs, square)),
            Numbers("nats through all six others", ["", "together", "added"], together),
        ],
        [picture],
    )


def _rows(pairs: Pairs, square: Floats) -> list[list[Cell]]:
    return [[name, *row] for name, row in zip(pairs.data.names, square.tolist(), strict=True)]


def _claims(told: Floats) -> list[Claim]:
    epsilons = (0.5, 1.0, 2.0, 3.0, 5.0)
    pairs = {epsilon: both_ways(epsilon) for epsilon in epsilons}
    forward, backward = pairs[EPSILON]
    ahead = [(epsilon, one > other) for epsilon, (one, other) in pairs.items()]
    small = float((told < NEAR_ZERO).mean())
    return [
        Claim(
            "fig4c: the two numbers",
            "Cholesterol loses .3381 through cardio, cardio .1769 through cholesterol.",
            verdict_of([abs(one - other) < 0.005 for one, other in zip((forward, backward), PRINTED, strict=True)]),
            f"From the public counts, exactly: {forward:.6f} and {backward:.6f}.",
            "the paper's are estimates from samples, .003 and .001 above.",
        ),
        Claim(
            "fig4c: not symmetric (OB1)",
            "CPL between two attributes is not symmetric.",
            verdict_of([abs(forward - backward) > 0.1]),
            f"{forward:.4f} one way, {backward:.4f} the other.",
            "P(U|X) and P(X|U) are different laws.",
        ),
        Claim(
            "fig4c: a patient's cholesterol",
            "Knowing the disease reveals cholesterol more than the other way round.",
            verdict_of([so for _, so in ahead]),
            f"So {where(ahead)}; at epsilon 3 {pairs[3.0][0]:.6f} against {pairs[3.0][1]:.6f}.",
            "epsilon is small: the direction turns with the budget, so that it is no property of the attributes.",
        ),
        Claim(
            "fig4c: most near 0",
            "Most leakages of CVD are close to zero.",
            verdict_of([small > 0.5]),
            f"{small:.0%} of the ordered pairs are below {NEAR_ZERO:g} of 1 nat; mean {told.mean():.3f}, largest "
            f"{told.max():.3f}.",
            "most attributes hardly depend on each other.",
        ),
    ]
