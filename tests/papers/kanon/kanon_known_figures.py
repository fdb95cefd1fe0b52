"""Figures 3 and 4: people whom the adversary knows, beside the exact numbers of crowds with the same variances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kanon_crowds import epsilon_equal_in, epsilon_of_fair_bits, equal_in, of_fair_bits
from kanon_findings import IMPOSSIBLE, NOT_REPRODUCED, POSSIBLE, REPRODUCED, REVERSED, seen
from kanon_formulas import (
    KNOWN,
    SHARES,
    TAIL,
    USERS,
    figure_3a,
    figure_3b,
    figure_4a_stated,
    figure_4ab,
    figure_4c,
    is_u_shaped,
    least_neighbours,
    most_cubes,
    what_is_left,
)
from kanon_moment_figures import falls, rises
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section

Curves = Mapping[str, Sequence[float]]
FAIR_BITS: Final = 40
"""Their variance is 10, as in the captions of Figure 3."""

PAIRS: Final = 1_000
"""Pairs of equal fair bits: 2,000 people, variance 1,000, as in those of Figure 4."""

EPSILON: Final = 0.1


def _exact_3(share: float) -> tuple[float, float]:
    left = FAIR_BITS - round(FAIR_BITS * share)
    return of_fair_bits(left, 0.5), epsilon_of_fair_bits(left, TAIL)


def _exact_4(share: float) -> tuple[float, float]:
    """So many pairs are known, as whoever knows one of a pair knows the other."""
    left = PAIRS - round(PAIRS * share)
    return equal_in(left, 2, EPSILON), epsilon_equal_in(left, 2, TAIL)


def figure_3(folder: Path) -> Section:
    exact = [_exact_3(share) for share in SHARES]
    curves: Curves = {
        "as printed: delta": [figure_3a(share) for share in SHARES],
        "what is left: delta": [figure_3a(share, what_is_left) for share in SHARES],
        "exact: delta": [delta for delta, _ in exact],
        "as printed: eps": [figure_3b(share) for share in SHARES],
        "what is left: eps": [figure_3b(share, what_is_left) for share in SHARES],
        "exact: eps": [epsilon for _, epsilon in exact],
    }
    caption = (
        f"As printed: Theorem 6 with sums of lambda2 times something, {USERS:,} users. What is left: the same with 1 "
        f"- lambda2, "
        "as the theorem has it. Exact: 40 fair bits (variance 10), so many of them known; delta at eps .5, eps at "
        "delta .0224."
    )
    return Section(
        "fig3",
        "Figure 3: people who are known",
        f"Theorem 6 with the captions' numbers; {USERS:,} users.",
        _claims_3(curves),
        [_numbers("Figure 3 at 2,000 users", ("fig3a", "fig3b"))],
        [draw(folder / "fig3.png", "Figure 3: delta and epsilon by the known share",
              [_panel("(a) delta", curves, "delta"), _panel("(b) epsilon", curves, "eps")], caption)],
    )  # fmt: skip


def _panel(title: str, curves: Curves, ending: str) -> Panel:
    named = [name for name in curves if name.endswith(ending)]
    return Panel(title, "lambda2", "", [Line(name.split(":")[0], SHARES, curves[name]) for name in named], log_up=True)


def _numbers(title: str, figures: Sequence[str]) -> Numbers:
    rows = [(name, at, value) for name in figures for at, value in KNOWN[name].items()]
    return Numbers(title, ["figure", "at", "value"], rows)


def _claims_3(curves: Curves) -> list[Claim]:
    delta, epsilon, right_delta, right_epsilon = (
        curves[name] for name in ("as printed: delta", "as printed: eps", "what is left: delta", "what is left: eps")
    )
    beyond = [100 * share > most_cubes(10 * share) for share in SHARES]
    return [
        seen(
            "fig3a: delta rises with lambda2",
            "delta increases with the share of people who are known.",
            NOT_REPRODUCED,
            [rises(delta), rises(right_delta), rises(curves["exact: delta"])],
            f"By the caption it falls from {delta[0]:.4f} to {delta[-1]:.4f}. With 1 - lambda2 it rises from "
            f"{right_delta[0]:.4f} to {right_delta[-1]:.4f}, exactly from {curves['exact: delta'][0]:.4f} to "
            f"{curves['exact: delta'][-1]:.4f}.",
            "the sums are those of whom nobody knows, in proportion to 1 - lambda2. The caption has lambda2, and with "
            "it the figure shows the reverse.",
        ),
        seen(
            "fig3a: the caption's sums",
            "The sum of v_i is 10 lambda2, that of v_i^(3/2) is 100 lambda2.",
            IMPOSSIBLE,
            [not each for each in beyond],
            f"At lambda2 .1 the second is at most {most_cubes(1):.3g}, at .9 {most_cubes(9):.3g}; the caption has 10 "
            "and 90. delta is above 1 at .1, too.",
            "a sum of v_i^(3/2) is at most (sum of v_i)^(3/2).",
        ),
        seen(
            "fig3b: epsilon falls with lambda2",
            "epsilon decreases with the share that is known, as then Formula 2 is likelier to fail.",
            REVERSED,
            [falls(right_epsilon), falls(curves["exact: eps"])],
            f"By the caption from {epsilon[0]:.4f} to {epsilon[-1]:.4f}. With 1 - lambda2 it rises from "
            f"{right_epsilon[0]:.4f} to {right_epsilon[-1]:.4f}, exactly from {curves['exact: eps'][0]:.3f} to "
            f"{curves['exact: eps'][-1]:.3f}.",
            "the variance that is left is 10 (1 - lambda2), not 10 lambda2. Who knows more is told more.",
        ),
    ]


def figure_4(folder: Path) -> Section:
    exact = [_exact_4(share) for share in SHARES]
    curves: Curves = {
        "as printed: delta": [figure_4ab(0.1, share) for share in SHARES],
        "word for word: delta": [figure_4a_stated(share) for share in SHARES],
        "what is left: delta": [figure_4ab(0.1, share, what_is_left) for share in SHARES],
        "exact: delta": [delta for delta, _ in exact],
        "as printed: eps": [figure_4c(share) for share in SHARES],
        "what is left: eps": [figure_4c(share, what_is_left) for share in SHARES],
        "exact: eps": [epsilon for _, epsilon in exact],
    }
    by_neighbours = [figure_4ab(share, 0.1) for share in SHARES]
    panels = [
        _panel("(a) delta, lambda1 = .1", curves, "delta"),
        Panel("(b) delta, lambda2 = .1", "lambda1", "", [Line("as printed", SHARES, by_neighbours)]),
        _panel("(c) epsilon", curves, "eps"),
    ]
    caption = (
        f"As printed: Equation 36 with sums of lambda2 times something, {USERS:,} users. What is left: with 1 - "
        f"lambda2. Word for word: Theorem 7. Exact: "
        "1,000 pairs of equal fair bits (variance 1,000), so many of them known; delta at eps .1, eps at delta .0224."
    )
    return Section(
        "fig4",
        "Figure 4: people who are known and depend on each other",
        f"Theorem 7 with the captions' numbers, by Equation 36; {USERS:,} users. The text cites panels (b) to (d), the "
        "caption has (a) to (c).",
        _claims_4(curves, by_neighbours),
        [_numbers("Figure 4 at 2,000 users", ("fig4a", "fig4b", "fig4c"))],
        [draw(folder / "fig4.png", "Figure 4: delta and epsilon by what is known", panels, caption)],
    )


def u_shaped() -> tuple[int, int]:
    """The first and the last number of users with which Figure 4(a) has its shape."""
    first = next(users for users in range(400, 600) if is_u_shaped(users))
    return first, next(users for users in range(first, 20_000) if not is_u_shaped(users + 1))


def _claims_4(curves: Curves, by_neighbours: Sequence[float]) -> list[Claim]:
    printed, stated, right = (curves[f"{name}: delta"] for name in ("as printed", "word for word", "what is left"))
    epsilon, right_epsilon, exact = (curves[f"{name}: eps"] for name in ("as printed", "what is left", "exact"))
    first, last = u_shaped()
    by_36 = [is_u_shaped(users) for users in (first - 1, first, USERS, last, last + 1)]
    neighbours = max(least_neighbours(1_000 * share, USERS * (1 - share), 5 * share) for share in SHARES)
    return [
        seen(
            "fig4a: falls, then rises",
            "delta falls with lambda2 up to .2 and rises from .3 on.",
            REPRODUCED,
            [*by_36, falls(stated[:2]), rises(right)],
            f"With {first:,} to {last:,} users: {printed[0]:.4f}, {printed[1]:.4f}, {printed[2]:.4f}, ..., "
            f"{printed[-1]:.4f} with 2,000. Word for word Theorem 7 rises from {stated[0]:.3f} to {stated[-1]:.3f}; "
            f"with 1 - lambda2 delta rises from {right[0]:.4f} to {right[-1]:.4f}, exactly from "
            f"{curves['exact: delta'][0]:.4f} to {curves['exact: delta'][-1]:.4f}.",
            "Equation 36 is meant, the paper had some 1,000 to 10,000 users, and the sums grow with lambda2. The fall "
            "is theirs: what is unknown does not grow with what is known.",
        ),
        seen(
            "fig4b: delta rises with lambda1",
            "delta increases with lambda1.",
            REPRODUCED,
            [rises(by_neighbours)],
            f"From {by_neighbours[0]:.4f} to {by_neighbours[-1]:.4f}.",
            "both terms of Equation 35 are powers of it.",
        ),
        seen(
            "fig4: the captions' sums",
            "sigma^2 is 1,000 lambda2, both sums of moments 5 lambda2.",
            POSSIBLE,
            [neighbours <= 0.1 * USERS],
            f"They need {neighbours:.0f} neighbours at most, of {0.1 * USERS:.0f}.",
            "as in Figure 2.",
        ),
        seen(
            "fig4c: epsilon falls with lambda2",
            "epsilon decreases with lambda2.",
            REVERSED,
            [falls(right_epsilon), falls(exact)],
            f"By the caption from {epsilon[0]:.4f} to {epsilon[-1]:.4f}. With 1 - lambda2 it rises to "
            f"{right_epsilon[-1]:.4f}, exactly from {exact[0]:.4f} to {exact[-1]:.4f}.",
            "as in Figure 3(b).",
        ),
    ]
