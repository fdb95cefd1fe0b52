"""Figures 1 and 2: the bounds from moments, beside the exact numbers of a crowd with the same deviation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from kanon_crowds import delta_of_shift, epsilon_of_fair_bits, epsilon_of_shift, equal_in, fair_bits
from kanon_findings import ARTEFACT, IMPOSSIBLE, POSSIBLE, REPRODUCED, seen
from kanon_formulas import (
    KNOWN,
    SHARES,
    SHIFTS,
    SIZES,
    TAIL,
    USERS,
    figure_1a,
    figure_1b,
    figure_1c,
    figure_2a,
    figure_2b,
    flat_up_to,
    least_neighbours,
    least_users,
    self_consistent,
)
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section

Curves = Mapping[str, Sequence[float]]
FAIR_BITS: Final = 9_999
"""Beside one more of them: their sum has the deviation 50 of the captions."""

SEVERAL: Final = (0.1, 0.2, 0.25, 0.5)
"""Shares of 2,000 people that whole blocks can be made of."""

EPSILONS: Final = tuple(step / 20 for step in range(1, 21))


def figure_1(folder: Path, steps: int) -> Section:
    crowd = fair_bits(FAIR_BITS)
    sizes = SIZES[steps - 1 :: steps]
    curves: Curves = {
        "as printed: eps(s)": [figure_1a(shift) for shift in SHIFTS],
        "exact: eps(s)": [epsilon_of_shift(crowd, shift, TAIL) for shift in SHIFTS],
        "as printed: delta(s)": [figure_1b(shift) for shift in SHIFTS],
        "possible moments: delta(s)": [figure_1b(shift, least_users(2_500, 100), 100) for shift in SHIFTS],
        "exact: delta(s)": [delta_of_shift(crowd, shift, figure_1a(1)) for shift in SHIFTS],
        "as printed: eps(k)": [figure_1c(size) for size in sizes],
        "one epsilon: eps(k)": [self_consistent(size) for size in sizes],
        "exact: eps(k)": [epsilon_of_fair_bits(max(size, 10), TAIL) for size in sizes],
    }
    panels = [
        _panel("(a) epsilon", "syntactic sensitivity s", SHIFTS, curves, ("as printed: eps(s)", "exact: eps(s)")),
        _panel("(b) delta", "syntactic sensitivity s", SHIFTS, curves,
               ("as printed: delta(s)", "possible moments: delta(s)", "exact: delta(s)"), log_up=True),
        _panel("(c) epsilon", "k", sizes, curves, ("as printed: eps(k)", "one epsilon: eps(k)", "exact: eps(k)"),
               log_up=True),
    ]  # fmt: skip
    caption = (
        f"As printed: Theorem 4 with the captions' sums and {USERS:,} users, of which the paper is silent. Exact: "
        f"10,000 "
        "fair bits, whose sum has the deviation 50, one of them moved by s; eps at delta .0224, delta at eps .0459. "
        "(b) possible moments: the least absolute third moments, 100 together. (c) exact: a crowd of k fair bits, "
        "from 10 on."
    )
    return Section(
        "fig1",
        "Figure 1: independent people",
        f"Theorem 4 with the captions' numbers; {USERS:,} users, which the paper does not say.",
        [*_claims_1ab(curves), _claim_1c(curves), _claim_inputs()],
        [_numbers("Figure 1 at 2,000 users", ("fig1a", "fig1b", "fig1c"))],
        [draw(folder / "fig1.png", "Figure 1: epsilon and delta by s and k", panels, caption)],
    )


def _panel(
    title: str, across: str, at: Sequence[float], curves: Curves, names: Sequence[str], *, log_up: bool = False
) -> Panel:
    return Panel(title, across, "", [Line(name.split(":")[0], at, curves[name]) for name in names], log_up=log_up)


def _numbers(title: str, figures: Sequence[str]) -> Numbers:
    rows = [(name, at, value) for name in figures for at, value in KNOWN[name].items()]
    return Numbers(title, ["figure", "at", "value"], rows)


def rises(curve: Sequence[float]) -> bool:
    """And never falls: what is 0 for a while may stay so."""
    return curve[0] < curve[-1] and bool(np.all(np.diff(curve) >= 0))


def falls(curve: Sequence[float]) -> bool:
    return rises(curve[::-1])


def _claims_1ab(curves: Curves) -> list[Claim]:
    epsilon, exact_epsilon, delta, possible, exact_delta = (
        curves[f"{name}(s)"]
        for name in ("as printed: eps", "exact: eps", "as printed: delta", "possible moments: delta", "exact: delta")
    )
    growth = [curve[-1] / curve[0] for curve in (epsilon, delta, possible, exact_delta)]
    few = [figure_1b(shift, users=100) for shift in SHIFTS]
    many = [figure_1b(shift, users=least_users(2_500, 100)) for shift in SHIFTS]
    return [
        seen(
            "fig1a: epsilon rises with s",
            "epsilon increases with the syntactic sensitivity s.",
            REPRODUCED,
            [rises(epsilon), abs(growth[0] - len(SHIFTS)) < 1e-9, rises(exact_epsilon)],
            f"From {epsilon[0]:.4f} to {epsilon[-1]:.4f}, in proportion; exactly from {exact_epsilon[0]:.4f} to "
            f"{exact_epsilon[-1]:.4f}; up to s = 2 the delta of .0224 alone covers it.",
            "whoever moves the sum further is seen better.",
        ),
        seen(
            "fig1b: delta rises with s",
            "delta increases with s.",
            REPRODUCED,
            [rises(delta), rises(possible), rises(exact_delta)],
            f"From {delta[0]:.4f} to {delta[-1]:.4f}; exactly, at one epsilon, from {exact_delta[0]:.2g} to "
            f"{exact_delta[-1]:.2g}.",
            "as above.",
        ),
        seen(
            "fig1b: delta is more robust",
            "delta is more robust to s than epsilon.",
            REPRODUCED,
            [growth[1] < growth[0], growth[2] < growth[0], growth[3] < growth[0]],
            f"Ten times s makes epsilon {growth[0]:.0f} times as large and delta {growth[1] - 1:.0%} larger "
            f"({few[-1] / few[0] - 1:.0%} with 100 users, {many[-1] / many[0] - 1:.0%} with 1,562,500). Exactly, at "
            f"one epsilon, delta becomes {growth[3]:.0f} times as large.",
            "the formulas are meant: in them epsilon grows along, and most of delta is 1/sqrt(n), whatever s is. The "
            "exact delta at a fixed epsilon is the less robust of both.",
        ),
    ]


def _claim_1c(curves: Curves) -> Claim:
    printed, exact = curves["as printed: eps(k)"], curves["exact: eps(k)"]
    return seen(
        "fig1c: epsilon rises with k",
        "More people in a set result in a larger epsilon.",
        ARTEFACT,
        [exact[0] < exact[-1], epsilon_of_fair_bits(100, TAIL) < epsilon_of_fair_bits(200, TAIL)],
        f"The formula is flat up to k = {flat_up_to():.2f} and then sqrt(.1 (k + .5))/50, {printed[-1]:.4f} at 200. "
        f"Exactly a crowd of 10 fair bits has {exact[0]:.3f}, one of 200 {exact[-1]:.3f}.",
        "k enters by Lemma 2's second condition alone, which has nothing to do with privacy and only makes c larger, "
        "while the deviation is held at 50 whatever k is. More people hide each better.",
    )


def _claim_inputs() -> Claim:
    needed = least_users(2_500, 100)
    return seen(
        "fig1b: the caption's sums",
        "The sum of v_i is 2,500, that of v_i^(3/2) is 100 and that of the third moments 1.",
        IMPOSSIBLE,
        [needed <= USERS, least_users(2_500, 100) <= 1_000_000],
        f"They need {needed:,.0f} people at least, and absolute third moments of 100 at least.",
        "n (V/n)^(3/2) is the least sum of v_i^(3/2), and E|X|^3 is at least (E X^2)^(3/2). Only the moments with "
        "their sign may sum to 1.",
    )


def figure_2(folder: Path) -> Section:
    blocks = [round(1 / share) for share in SEVERAL]
    curves: Curves = {
        "as printed: delta(lambda1)": [figure_2a(share) for share in SHARES],
        "as printed: delta(eps)": [figure_2b(epsilon) for epsilon in EPSILONS],
        "as printed: eps(s)": [figure_1a(shift) for shift in SHIFTS],
        "exact: delta(lambda1)": [equal_in(count, USERS // count, 0.1) for count in blocks],
        "exact: delta(eps)": [equal_in(10, USERS // 10, epsilon) for epsilon in EPSILONS],
    }
    by_share = [Line("as printed", SHARES, curves["as printed: delta(lambda1)"]),
                Line("exact", SEVERAL, curves["exact: delta(lambda1)"])]  # fmt: skip
    panels = [
        Panel("(a) delta, eps = .1", "lambda1", "", by_share),
        _panel("(b) delta, lambda1 = .2", "epsilon", EPSILONS, curves, ("as printed: delta(eps)", "exact: delta(eps)")),
        _panel("(c) epsilon", "syntactic sensitivity s", SHIFTS, curves, ("as printed: eps(s)",)),
    ]
    caption = (
        f"As printed: Equation 36 with lambda1 as a fraction, {USERS:,} users. Exact: 2,000 people in blocks of "
        f"lambda1 "
        "times 2,000 who all have the same fair bit (b: ten blocks)."
    )
    return Section(
        "fig2",
        "Figure 2: people who depend on each other",
        f"Theorem 5 by Equation 36, with the captions' numbers; {USERS:,} users.",
        _claims_2(curves),
        [_numbers("Figure 2 at 2,000 users", ("fig2a", "fig2b", "fig2c"))],
        [draw(folder / "fig2.png", "Figure 2: delta and epsilon with dependence", panels, caption)],
    )


def _claims_2(curves: Curves) -> list[Claim]:
    share, by_epsilon = curves["as printed: delta(lambda1)"], curves["as printed: delta(eps)"]
    exact_share, exact = curves["exact: delta(lambda1)"], curves["exact: delta(eps)"]
    neighbours = least_neighbours(2_500, USERS, 1)
    return [
        seen(
            "fig2a: delta rises with lambda1",
            "delta increases with the share of people whose dependence is known.",
            REPRODUCED,
            [rises(share), rises(exact_share)],
            f"From {share[0]:.4f} to {share[-1]:.4f}. In blocks of equal bits it is exactly {exact_share[0]:.3f} at .1 "
            f"and {exact_share[-1]:.3f} at .5, far above.",
            "fewer and larger blocks hide less. As a number of neighbours, which it is, lambda1 would make delta 1.",
        ),
        seen(
            "fig2a: the caption's sums",
            "sigma is 50, the sum of the third moments 5, the root of that of the fourth 1.",
            POSSIBLE,
            [neighbours <= 0.1 * USERS],
            f"Somebody has {neighbours:.0f} neighbours at least: they are possible from lambda1 = "
            f"{neighbours / USERS:.3f} on.",
            "the variance of a sum is at most max |N_i| times the sum of the variances, here at most sqrt(n).",
        ),
        seen(
            "fig2b: delta rises with epsilon",
            "delta decreases with decreasing epsilon.",
            REPRODUCED,
            [rises(by_epsilon), rises(exact)],
            f"From {figure_2b(0.1):.4f} at .1 to {by_epsilon[-1]:.4f} at 1. Of one release of ten blocks delta falls "
            f"from {exact[0]:.3f} at .05 to {exact[-1]:.3f}.",
            "the formula is meant, by its factor 1 + e^epsilon. What a release tells is a curve on which delta falls "
            "as epsilon rises.",
        ),
        seen(
            "fig2c: epsilon rises with s",
            "epsilon increases with s.",
            REPRODUCED,
            [rises(curves["as printed: eps(s)"])],
            "The same line as in Figure 1(a).",
            "as there.",
        ),
    ]
