"""Example 5, and Figures 4(c) and (d): Gaussian tuples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of
from pdp_laws import even, gauss

from beliefs.checks import Invalid
from beliefs.laws.gaussian import GaussianLaw

SIZE: Final = 15
POSITIVE: Final = (0.2, 0.4, 0.6, 0.8)
NEGATIVE: Final = (-0.01, -0.03, -0.05, -0.07)
"""Below -1/14 fifteen equal correlations are no covariance; the paper goes down to -.8."""


def layers(rho: float, size: int = SIZE) -> list[float]:
    """Theorem 6 from the strongest adversary to the weakest; by symmetry only how many are known matters."""
    law = even(size, rho)
    return [gauss(law, 0, tuple(range(1, size + 1 - layer))) for layer in range(1, size + 1)]


def closed_form(rho: float, layer: int, size: int = SIZE) -> float:
    """|1 + (n - 1) rho|/|1 + k rho| with k = n - layer known ones."""
    return abs(1 + (size - 1) * rho) / abs(1 + (size - layer) * rho)


def is_covariance(rho: float, size: int = SIZE) -> bool:
    try:
        even(size, rho)
    except Invalid:
        return False
    return True


def pair(rho: float) -> tuple[float, float]:
    """Example 5 with M = lambda: the weak adversary's leak and the strong one's."""
    law = GaussianLaw(np.array([[1.0, rho], [rho, 1.0]]), 1.0)
    return gauss(law), gauss(law, 0, (1,))


def example_5(folder: Path, steps: int) -> Section:
    across = [step / steps for step in range(1 - steps, steps)]
    weak, strong = ([pair(rho)[which] for rho in across] for which in (0, 1))
    apart = max(abs(told - abs(1 + rho)) for told, rho in zip(weak, across, strict=True))
    panel = Panel(
        "leak about x1",
        "correlation of x1 and x2",
        "nats, times M/lambda",
        [Line("knows nobody", across, weak), Line("knows x2", across, strong)],
    )
    sides = {True: [rho for rho in across if rho > 0], False: [rho for rho in across if rho < 0]}
    return Section(
        "example5",
        "Example 5: two Gaussian tuples",
        "Variances 1, M = lambda; Theorem 6 in fractions.",
        [
            Claim(
                "Example 5: the formula",
                "The weak adversary learns |1 + rho| M/lambda, the strong one M/lambda.",
                verdict_of([apart < 1e-12, max(abs(each - 1) for each in strong) < 1e-12]),
                f"At most {apart:.0e} off at {len(across)} correlations; the strong one {strong[0]:g}.",
                "Corollary 2.",
            ),
            Claim(
                "Example 5: who learns more",
                "The weak one if rho > 0, the strong one if rho < 0.",
                verdict_of(
                    [all((pair(rho)[0] > pair(rho)[1]) == sign for sign, each in sides.items() for rho in each)]
                ),
                f"At all {len(across) - 1} correlations other than 0.",
                "of two tuples the partial correlation is the correlation.",
            ),
            Claim(
                "Example 5: the ends",
                "rho lies in [-1, 1].",
                verdict_of([pair(0.5)[1] == 1.0, _is_attacked(1.0)]),
                "At -1 and 1 whoever knows x2 knows x1: nothing is left to attack, and M/lambda is not attained.",
                "the correlation is not perfect, for the strong adversary.",
            ),
        ],
        [Numbers("nats", ["rho", "knows nobody", "knows x2"], list(zip(across, weak, strong, strict=True)))],
        [draw(folder / "example5.png", "Example 5: two Gaussian tuples", [panel], "Theorem 6. M = lambda = 1.", 1)],
    )


def _is_attacked(rho: float) -> bool:
    try:
        pair(rho)
    except Invalid:
        return False
    return True


def claims(found: dict[float, Sequence[float]]) -> list[Claim]:
    """What the paper says about Figures 4(c) and (d)."""
    apart = max(abs(told - closed_form(rho, place + 1)) for rho, row in found.items() for place, told in enumerate(row))
    positive, negative = ([found[rho] for rho in each] for each in (POSITIVE, NEGATIVE))
    ends = [row[-1] for row in negative]
    chosen = found[POSITIVE[-1]]
    return [
        Claim(
            "fig4c: grows",
            "With a positive correlation the leak grows with it and with the layer.",
            verdict_of([*(bool(np.all(np.diff(row) > 0)) for row in positive),
                        bool(np.all(np.diff(np.array(positive), axis=0)[:, 1:] > 0))]),
            f"rho .8 at layers 1, 5, 10, 15: {', '.join(f'{chosen[layer - 1]:.4f}' for layer in (1, 5, 10, 15))}.",
            f"it is (1 + 14 rho)/(1 + k rho) with k known ones ({apart:.0e} off at most).",
        ),
        Claim(
            "fig4d: falls with the layer",
            "With a negative correlation the leak falls with the layer.",
            verdict_of([bool(np.all(np.diff(row) < 0)) for row in negative]),
            f"At {NEGATIVE[-1]:g}: {negative[-1][0]:.4f} at layer 1, {negative[-1][-1]:.4f} at layer 15; from "
            f"{ends[0]:.4f} to {ends[-1]:.4f} there as rho falls.",
            "the others cancel what one adds. The leak grows with prior knowledge; the sentence in the paper says the "
            "reverse.",
        ),
        Claim(
            "fig4d: the range",
            "The average correlation is varied from -.8 to .8.",
            verdict_of([*(is_covariance(rho) for rho in NEGATIVE), is_covariance(-0.2), is_covariance(-0.8)]),
            f"Of 15 tuples equal correlations of -.2 or -.8 are no covariance; {NEGATIVE[-1]:g} is.",
            "rho is at least -1/14: the variance of the sum must not be negative.",
        ),
    ]  # fmt: skip
