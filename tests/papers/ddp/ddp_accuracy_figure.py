"""Figure 8: accuracy at the same epsilon, and epsilon at the same accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ddp_noise import EQ_18, EVERYBODY, EXACT, ZHU, coverage
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of

from beliefs.dependence.accuracy import SUM, chance_beyond, margin_of
from stream.social.world import World

ALPHA: Final = 1000.0
COORDINATES: Final = 96
"""Eight centroids of twelve coordinates."""

RATIO: Final = 0.05


def within(multiple: float, epsilon: float, coordinates: int) -> float:
    """1 - beta at alpha, for DeltaQ = 1."""
    return 1.0 - chance_beyond(ALPHA * epsilon / multiple, coordinates, SUM)


def needed(multiple: float, failure: float, coordinates: int) -> float:
    """The epsilon with that chance of more than alpha."""
    return multiple * margin_of(failure, coordinates, SUM) / ALPHA


def most_covered(failure: float, coordinates: int, epsilon: float = 1.0) -> float:
    """The multiple up to which alpha is kept but for that chance."""
    return ALPHA * epsilon / margin_of(failure, coordinates, SUM)


def figure(folder: Path, world: World, epsilons: Sequence[float], failures: Sequence[float]) -> Section:
    multiples = coverage(world).named()
    curves = {
        size: {name: [within(each, epsilon, size) for epsilon in epsilons] for name, each in multiples.items()}
        for size in (1, COORDINATES)
    }
    levels = {name: [needed(each, failure, 1) for failure in failures] for name, each in multiples.items()}
    panels = [
        Panel(title, "epsilon", "1 - beta", [Line(name, epsilons, row) for name, row in curves[size].items()])
        for size, title in ((1, "(a) one number, alpha = 1000"), (COORDINATES, f"(a) {COORDINATES} coordinates, L1"))
    ]
    panels.append(
        Panel("(b) one number, alpha = 1000", "1 - beta", "epsilon that this accuracy takes",
              [Line(name, [1 - each for each in failures], row) for name, row in levels.items()], log_up=True)
    )  # fmt: skip
    rows = [[name, each, within(each, 1.0, 1), within(each, 1.0, COORDINATES)] for name, each in multiples.items()]
    return Section(
        "fig8",
        "Figure 8: utility and privacy of four methods",
        "How often noise stays below alpha, in closed form. DeltaQ = 1, which the paper does not say; noise covers the "
        "stand-in's person with most friends, its largest component, or everybody.",
        _claims(multiples),
        [
            Numbers(
                "at epsilon 1", ["method", "multiple of DeltaQ", "1 - beta, one number", "1 - beta, 96 numbers"], rows
            )
        ],
        [
            draw(
                folder / "fig8.png",
                "Figure 8: accuracy and privacy of different noise",
                panels,
                "Only the baselines with a component and with everybody are guarantees on a graph of friends: DPM "
                "counts friends, not their friends.",
            )
        ],
    )


def _claims(multiples: Mapping[str, float]) -> list[Claim]:
    single = {name: within(each, 1.0, 1) for name, each in multiples.items()}
    many = {name: within(each, 1.0, COORDINATES) for name, each in multiples.items()}
    most, most_of_all = most_covered(0.01, 1), most_covered(RATIO, COORDINATES)
    friends = (most_of_all - 1.0) / 0.5
    others = (ZHU, EVERYBODY)
    size = int(multiples[EVERYBODY])
    half = 2 * size / (size + 1)
    return [
        Claim(
            "fig8a: alpha = 1000, epsilon = 1",
            "DPM is near 1, the others near 0.",
            verdict_of([single[EQ_18] > 0.95, *(single[name] < 0.2 for name in others), many[EQ_18] > 0.95]),
            f"One number: DPM {single[EQ_18]:.3f}, Zhu {single[ZHU]:.3f}, baseline {single[EVERYBODY]:.3f}; 96 "
            f"coordinates: DPM {many[EQ_18]:.3f}.",
            f"one number is meant: then DS may be up to {most:.0f}; with 96 coordinates up to {most_of_all:.1f}, "
            f"which Eq. 18, at least 1/2 a friend, exceeds beyond {friends:.0f} friends.",
        ),
        Claim(
            "fig8b: privacy at the same utility",
            "DPM needs a much smaller epsilon.",
            verdict_of([multiples[EQ_18] < 0.1 * multiples[name] for name in others]),
            f"{multiples[EQ_18]:.0f} (Eq. 18) and {multiples[EXACT]:.0f} (exact rho) against {multiples[ZHU]:.0f} and "
            f"{multiples[EVERYBODY]:.0f}.",
            "epsilon is in proportion to DS.",
        ),
        Claim(
            "fig8: where the gain comes from",
            "The gain is that of fine-grained dependence coefficients.",
            verdict_of([half > 10]),
            f"Against a baseline of the same L Eq. 18 gains a factor of at most {half:.3f}; from friends alone to the "
            f"largest component is {multiples['baseline, component'] / multiples[EQ_18]:.0f}.",
            "DPM counts friends, the baseline everybody. Friends of friends are dependent, too, and are not covered.",
        ),
        Claim(
            "fig8: Lemma 1",
            "At the same epsilon DPM is more accurate than the baseline.",
            verdict_of([math.log(single[EQ_18]) >= math.log(single[EVERYBODY])]),
            f"{single[EQ_18]:.4f} and {single[EVERYBODY]:.4f}.",
            "DS is at most L DeltaQ.",
        ),
    ]
