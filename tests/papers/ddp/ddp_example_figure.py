"""Figures 1 and 6: Example 1 and what three queries tell of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.correlation.bound import Matrix
from beliefs.dependence.coefficients import moved_exactly

STEPS: Final = 400
VALUES: Final = 11
QUERIES: Final[Mapping[str, Callable[[Matrix, Matrix], Matrix]]] = {
    "sum": lambda one, two: one + two,
    "subtraction": lambda one, two: one - two,
    "multiplication": lambda one, two: one * two,
}
PROMISED: Final = "independent tuples"


def separation(query: str, epsilon: float) -> float:
    """The largest log ratio of two densities of the noisy answer, D_i and X on grids, with Lap(1/epsilon)."""
    own, other = np.linspace(0.0, 1.0, VALUES), (np.arange(STEPS) + 0.5) / STEPS
    dependent = 0.5 * own[:, None] + 0.5 * other
    answers = np.rint(QUERIES[query](np.broadcast_to(own[:, None], dependent.shape), dependent) * 4 * STEPS)
    support, place = np.unique(answers, return_inverse=True)
    rows = np.zeros((VALUES, support.size))
    for value, row in enumerate(place.reshape(answers.shape)):
        np.add.at(rows[value], row, 1.0 / STEPS)
    return moved_exactly(rows, support / (4 * STEPS), 1.0 / epsilon) * epsilon


def closed_form(query: str, epsilon: float) -> float:
    """Of the product: ln(2/eps e^(eps/2) (e^(eps/2) - 1)), at answers beyond 1."""
    if query == "multiplication":
        return math.log(2.0 / epsilon * math.exp(epsilon / 2) * math.expm1(epsilon / 2))
    return {"sum": 1.5, "subtraction": 0.5}[query] * epsilon


def figure(folder: Path, epsilons: Sequence[float]) -> Section:
    found = {query: [separation(query, epsilon) for epsilon in epsilons] for query in QUERIES}
    told = {query: [closed_form(query, epsilon) for epsilon in epsilons] for query in QUERIES}
    lines = [Line(query, epsilons, row) for query, row in found.items()] + [Line(PROMISED, epsilons, epsilons)]
    lines += [Line(f"{query}, closed form", epsilons, row, joined=False) for query, row in told.items()]
    panel = Panel("separation with Lap(1/epsilon)", "epsilon", "nats", lines, corner=True)
    apart = {query: max(abs(a - b) for a, b in zip(found[query], told[query], strict=True)) for query in QUERIES}
    return Section(
        "fig6",
        "Example 1, Figures 1 and 6: D_j = D_i/2 + X/2",
        f"D_i at {VALUES} places of [0, 1], X at {STEPS}; the largest log ratio of two densities.",
        _claims(epsilons, found, apart),
        [Numbers("nats", ["epsilon", *QUERIES], [list(row) for row in zip(epsilons, *found.values(), strict=True)])],
        [
            draw(
                folder / "fig6.png",
                "Figures 1 and 6: what three queries tell about D_i",
                [panel],
                "Independent tuples would give epsilon for every query. Closed forms: 1.5 epsilon, epsilon/2 and "
                "ln(2/epsilon e^(epsilon/2)(e^(epsilon/2) - 1)).",
            )
        ],
    )


def _claims(epsilons: Sequence[float], found: Mapping[str, Sequence[float]], apart: Mapping[str, float]) -> list[Claim]:
    last = {query: row[-1] for query, row in found.items()}
    return [
        Claim(
            "fig6: the sum",
            "Noise for epsilon leaks 1.5 epsilon about D_i.",
            verdict_of([apart["sum"] < 0.01]),
            f"{last['sum']:.4f} at epsilon {epsilons[-1]:g}.",
            "D_i = 0 and 1 give answers in [0, .5] and [1.5, 2]. (Print: noise with parameter 1/epsilon^-1, and "
            "exponents that divide by epsilon.)",
        ),
        Claim(
            "fig6: other queries",
            "The change of separation varies with the query.",
            verdict_of(
                [apart["subtraction"] < 0.01, apart["multiplication"] < 0.01, last["subtraction"] < epsilons[-1]]
            ),
            f"Subtraction {last['subtraction']:.4f}, multiplication {last['multiplication']:.4f}.",
            "half of the difference is taken back by D_j; the product tells less than epsilon, too, at small epsilon.",
        ),
        Claim(
            "fig6: dependence costs",
            "The separation may become larger than for independent tuples.",
            verdict_of([last["sum"] > epsilons[-1]]),
            f"Sum {last['sum']:.4f}, subtraction {last['subtraction']:.4f}, product {last['multiplication']:.4f}.",
            "the other moves the sum the same way. It may become smaller as well, for one who knows nobody.",
        ),
    ]
