"""Figure 4(b): what beard, necklace and smile tell about gender in CelebA as the budget grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from cpl_data import Floats, faces
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.correlation.bound import saturation
from beliefs.correlation.joint import joint_leak
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.published import equation_6
from beliefs.correlation.tables import conditional_of, given, margin

SECRET: Final = "Male"
NEIGHBOURS: Final = {"beard": "No_Beard", "necklace": "Wearing_Necklace", "smiling": "Smiling"}
MALE: Final = 0.417
ASSUMED: Final = {"beard": (0.0005, 0.395), "necklace": (0.198, 0.018), "smiling": (0.54, 0.40)}
"""How often, of women and of men; neighbours independent given gender."""
TOGETHER, ADDED = "all three together", "the three added, Equation (6)"
NEAR: Final = 1.1
"""A bound is called close up to a tenth above."""


def weights() -> tuple[Floats, str]:
    """Gender and the three neighbours, one axis each."""
    found = faces()
    if found.real:
        axes = [found.axis(name) for name in (SECRET, *NEIGHBOURS.values())]
        return found.table(*axes), found.source
    assumed = np.array([1 - MALE, MALE])[:, None, None, None]
    for axis, shares in enumerate(ASSUMED.values(), 1):
        shape = [2, 1, 1, 1]
        shape[axis] = 2
        assumed = assumed * np.array([[1 - share, share] for share in shares]).reshape(shape)
    return assumed, "A stand-in for CelebA: assumed shares of women and men, independent of each other given gender"


def figure(folder: Path, epsilons: Sequence[float]) -> Section:
    table, source = weights()
    laws = {name: conditional_of(margin(table, 0, axis)).laws for axis, name in enumerate(NEIGHBOURS, 1)}
    told = {name: [response_leak(each, epsilon) for epsilon in epsilons] for name, each in laws.items()}
    told[TOGETHER] = [joint_leak(given(table, 0), [epsilon] * 3) for epsilon in epsilons]
    told[ADDED] = [equation_6(table, [epsilon] * 3) for epsilon in epsilons]
    ends = {name: saturation(each) for name, each in laws.items()}
    lines = [Line(name, epsilons, up) for name, up in [*told.items(), ("y = x", list(epsilons))]]
    panel = Panel("GRR in every attribute", "epsilon of each neighbour", "nats about gender", lines)
    under = Panel("The same at small budgets", panel.across, panel.up, [_up_to(line, 2.0) for line in lines])
    caption = (
        f"{source}. Claims: beard before necklace before smiling; the necklace stays near 2.4 beyond epsilon 6; single "
        "neighbours stay below epsilon; the sum is close to what all three tell together."
    )
    title = "Figure 4(b): what three attributes tell about gender"
    columns = ["epsilon", *told]
    rows = [[epsilon, *(up[place] for up in told.values())] for place, epsilon in enumerate(epsilons)]
    return Section(
        "fig4b",
        "Figure 4(b): CelebA over the budget",
        f"{source}. GRR, exact.",
        _claims(list(epsilons), told, ends),
        [Numbers("nats about gender", columns, rows), Numbers("saturation (13)", list(ends), [list(ends.values())])],
        [draw(folder / "fig4b.png", title, [panel, under], caption)],
    )


def _up_to(line: Line, most: float) -> Line:
    few = [place for place, epsilon in enumerate(line.across) if epsilon <= most]
    return Line(line.name, [line.across[place] for place in few], [line.up[place] for place in few])


def _claims(epsilons: list[float], told: Mapping[str, list[float]], ends: Mapping[str, float]) -> list[Claim]:
    beard, necklace, smiling = (told[name] for name in NEIGHBOURS)
    late = [place for place, epsilon in enumerate(epsilons) if epsilon >= 6.0]
    whole, added = told[TOGETHER], told[ADDED]
    close = [(e, joint <= total <= NEAR * joint) for e, joint, total in zip(epsilons, whole, added, strict=True)]
    widest = max(range(len(epsilons)), key=lambda place: added[place] / whole[place])
    return [
        Claim(
            "fig4b: beard, necklace, smiling",
            "At every budget beard tells more than necklace, and that more than smiling.",
            verdict_of([a > b > c for a, b, c in zip(beard, necklace, smiling, strict=True)]),
            f"At epsilon {epsilons[-1]:g}: {beard[-1]:.3f}, {necklace[-1]:.3f}, {smiling[-1]:.3f} nats.",
            "a beard is rarest on women beside men.",
        ),
        Claim(
            "fig4b: the necklace saturates",
            "The necklace's CPL stays near 2.4 beyond epsilon 6.",
            verdict_of([abs(necklace[place] - 2.4) < 0.15 for place in late]),
            f"{necklace[late[0]]:.3f} at epsilon {epsilons[late[0]]:g}, {necklace[-1]:.3f} at {epsilons[-1]:g}; by "
            f"(13) {ends['necklace']:.3f} at most.",
            "it cannot exceed the largest ratio of two shares.",
        ),
        Claim(
            "fig4b: all saturate",
            "CPL becomes stable as the budget increases, for each neighbour.",
            verdict_of([told[name][-1] > 0.97 * ends[name] for name in NEIGHBOURS]),
            "; ".join(f"{name} {told[name][-1]:.3f} of {ends[name]:.3f}" for name in NEIGHBOURS)
            + f" at epsilon {epsilons[-1]:g}.",
            "epsilon is well above the saturation; the beard's is so high that it still rises.",
        ),
        Claim(
            "fig4b: below the budget",
            "Every CPL lies under y = x.",
            verdict_of([up <= e for name in NEIGHBOURS for e, up in zip(epsilons, told[name], strict=True)]),
            f"Largest share of epsilon: {max(up / e for e, up in zip(epsilons, beard, strict=True)):.2f} (beard).",
            "L is at most epsilon, whatever the law.",
        ),
        Claim(
            "fig4b: the sum is a tight bound",
            "Equation (6) is a tight upper bound of what all three tell.",
            verdict_of([so for _, so in close]),
            f"At most a tenth above up to epsilon {max(e for e, so in close if so):g}; at {epsilons[widest]:g} added "
            f"{added[widest]:.3f}, together {whole[widest]:.3f}.",
            "epsilon is small. A beard tells most about one gender, a necklace about the other, and no output says "
            "both; the sum adds them. That it is a bound is no theorem: it is one for these three.",
        ),
    ]
