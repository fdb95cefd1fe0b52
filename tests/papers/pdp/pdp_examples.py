"""Examples 1 to 4: Figures 1 and 2, and Table II."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import numpy as np
from paper_drawing import Bar, draw_bars
from paper_findings import Claim, Numbers, Section, verdict_of
from paper_table_picture import draw_table
from pdp_laws import FIVE, TABLE_2, leak

from beliefs.prior.adversary import Query
from beliefs.prior.releases import posterior

WEAK: Final = "knows nothing more"
STRONG: Final = "knows s2 = 1"
PRINTED: Final = {("a", ()): 1.19, ("b", ()): 0.82, ("a'", ()): 1.95, ("b'", ()): 0.05, ("c", ()): 2.0, ("d", ()): 6.0}
PRINTED_KNOWN: Final = {("a", (1,)): 1.0}


def believed(name: str, strong: bool) -> float:
    """The chance of s1 = 1 once r = 2 was released with Lap(1)."""
    law = FIVE[name]
    known = ((1,), (1,)) if strong else ((), ())
    return float(posterior(law, Query.of(law), 1.0, 0, 2.0, *known)[1])


def before(name: str, strong: bool) -> float:
    joint = FIVE[name].joint
    return float(joint[1, 1] / joint[:, 1].sum()) if strong else float(joint[1].sum())


def figure_2(folder: Path) -> Section:
    names = list(FIVE)
    told = {(name, strong): believed(name, strong) for name in names for strong in (False, True)}
    prior = {(name, strong): before(name, strong) for name in names for strong in (False, True)}
    rows = [
        [name, STRONG if strong else WEAK, prior[name, strong], told[name, strong], _gain(prior, told, name, strong)]
        for name in names
        for strong in (False, True)
    ]
    return Section(
        "fig2",
        "Example 1, Figures 1 and 2: what two adversaries conclude",
        "Two bits, s1 + s2 + Lap(1) = 2 is released, s1 is 0 or 1 with one half before. Weak is .3 and .2, as in Table "
        "II; the figure names no numbers. Exact.",
        _claims_of_figure_2(told, prior),
        [
            Numbers(
                "the chance of s1 = 1",
                ["law", "adversary", "before", "after", "gain in nats"],
                rows,
            )
        ],
        [
            draw_bars(
                folder / "fig2.png",
                "Figures 1 and 2: the chance of s1 = 1 before and after r = 2",
                "chance of s1 = 1",
                {
                    f"the adversary {STRONG if strong else WEAK}": (
                        [Bar(name, prior[name, strong], prior[name, strong], prior[name, strong]) for name in names],
                        [Bar(name, told[name, strong], told[name, strong], told[name, strong]) for name in names],
                    )
                    for strong in (False, True)
                },
                ("before", "after"),
                {"one half": 0.5},
                "Where an adversary is sure before (the law and s2 tell it all), the release adds nothing.",
            )
        ],
    )


Chances = dict[tuple[str, bool], float]


def _gain(prior: Chances, told: Chances, name: str, strong: bool) -> float:
    """Eq. (3) at r = 2; 0 for what was certain before."""
    old, new = prior[name, strong], told[name, strong]
    return 0.0 if old in (0.0, 1.0) else math.log(new / (1 - new)) - math.log(old / (1 - old))


def _claims_of_figure_2(told: Chances, prior: Chances) -> list[Claim]:
    positive, negative, alone = "perfectly positive", "perfectly negative", "independent"
    weak = [abs(_gain(prior, told, name, strong)) > 1e-9 for name in _WEAKLY for strong in (False, True)]
    steps = [told[name, False] for name in FIVE]
    return [
        Claim(
            "fig2: positive",
            "Without knowledge the adversary infers s1 = 1 with high confidence; with s2 = 1 he ascertains it.",
            verdict_of([told[positive, False] > 0.85, told[positive, True] == 1.0]),
            f"{told[positive, False]:.4f} and {told[positive, True]:g}.",
            "s1 = s2, so the sum is 0 or 2.",
        ),
        Claim(
            "fig2: negative",
            "Without knowledge nothing is inferred; with s2 = 1 he claims s1 = 0, and r adds nothing.",
            verdict_of([abs(told[negative, False] - 0.5) < 1e-12, prior[negative, True] == told[negative, True] == 0]),
            f"{told[negative, False]:.4f} and {told[negative, True]:g}, which he believed before.",
            "the sum is 1 for sure.",
        ),
        Claim(
            "fig2: independent",
            "s1 = 1 becomes more likely, by as much for either adversary.",
            verdict_of([told[alone, False] > 0.5, abs(told[alone, False] - told[alone, True]) < 1e-12]),
            f"{told[alone, False]:.4f} and {told[alone, True]:.4f}.",
            "r = 2 lies at or beyond every sum, so knowing the other bit moves both chances alike (Theorem 1).",
        ),
        Claim(
            "fig2: weak correlations",
            "Weakly correlated, adversaries learn as well, and differently.",
            verdict_of([*weak, told[_WEAKLY[0], False] != told[_WEAKLY[0], True]]),
            "; ".join(f"{name} {told[name, False]:.4f} and {told[name, True]:.4f}" for name in _WEAKLY) + ".",
            "the gain of one who knows s2 is 1 nat under every law that leaves s1 open; the other's follows the law.",
        ),
        Claim(
            "fig2: the order of the five",
            "The more positive the correlation, the more the weak adversary infers.",
            verdict_of([bool(np.all(np.diff(steps) < 0))]),
            ", ".join(f"{each:.4f}" for each in steps) + " from positive to negative.",
            "at r = 2, beyond all sums: with E[e^s2 | s1] growing in the correlation.",
        ),
        Claim(
            "Example 1: whom the adversary knows",
            "He knows the exact value of s1 and infers the privacy of s1.",
            verdict_of([False]),
            f"Knowing s1 nothing is left to infer. The figure, with s2 known: {told[_WEAKLY[0], True]:.4f} after, "
            f"{prior[_WEAKLY[0], True]:.4f} before.",
            "a slip: it is s2 that he knows, as the next sentence has it.",
        ),
    ]


_WEAKLY: Final = ("weakly positive", "weakly negative")


def table_2(folder: Path) -> Section:
    printed = {**PRINTED_KNOWN, **PRINTED}
    found = {(name, known): leak(TABLE_2[name], 0, known) for name, known in printed}
    rows = [
        [f"({name})", "{2}" if known else "{}", found[name, known], told] for (name, known), told in printed.items()
    ]
    numbers = Numbers("nats, sum of both with Lap(1)", ["law", "known", "exact", "printed"], rows)
    return Section(
        "table2",
        "Table II, Examples 2 to 4",
        "The sum of two attributes with Lap(1). Exact, at an atom of the sum; the largest over what a known one may "
        "be.",
        _claims_of_table_2(found),
        [numbers],
        [draw_table(folder / "table2.png", "Table II: leaks about x1", numbers)],
    )


def _claims_of_table_2(found: dict[tuple[str, tuple[int, ...]], float]) -> list[Claim]:
    told = {name: found[name, ()] for name, known in PRINTED}
    rounded = {name: f"{told[name]:.4f}, printed {printed:g}" for (name, _), printed in PRINTED.items()}
    sure, more, less = leak(TABLE_2["c"], 0, (1,)), rounded["a'"], rounded["b'"]
    return [
        Claim(
            "Example 2: the numbers",
            "l(1, {2}) = 1, l(1, {}) = 1.19 for (a) and .82 for (b).",
            verdict_of([found["a", (1,)] == 1.0, round(told["a"], 2) == 1.19, round(told["b"], 2) == 0.82]),
            f"{found['a', (1,)]:g}; (a) {rounded['a']}; (b) {rounded['b']}.",
            "it is 1 -+ ln((.6 + .4/e)/(.4 + .6/e)): .8146 is rounded up, 1.1854, too. .81 is nearest.",
        ),
        Claim(
            "Example 2: Eq. (5) and (6)",
            "Knowing less, (a) tells more and (b) less.",
            verdict_of([told["a"] > found["a", (1,)], told["b"] < leak(TABLE_2["b"], 0, (1,))]),
            f"{told['a']:.4f} > {found['a', (1,)]:g} > {told['b']:.4f}.",
            "the two are bits.",
        ),
        Claim(
            "Example 2: stricter than DP",
            "DP is 2 when both are regarded as a whole; so less noise is enough.",
            verdict_of([told["a"] < 2, told["b"] < 2, told["c"] < 2]),
            f"(a) {told['a']:.4f}, (b) {told['b']:.4f}, (c) {told['c']:.4f}.",
            "the correlation is not perfect; and group privacy asks nothing about a law.",
        ),
        Claim(
            "Example 3",
            "l(a') = 1.95 > l(a) and l(b') = .05 < l(b).",
            verdict_of([round(told["a'"], 2) == 1.95, round(told["b'"], 2) == 0.05, told["a'"] > told["a"]]),
            f"(a') {more}; (b') {less}.",
            "for the adversary who knows nobody; the subscript {2} in the example is a slip for {}.",
        ),
        Claim(
            "Example 4",
            "l(c) = 2 < l(d) = 6: a larger ratio of ranges leaks more.",
            verdict_of([abs(told["c"] - 2) < 1e-12, abs(told["d"] - 6) < 1e-12]),
            f"(c) {rounded['c']}; (d) {rounded['d']}.",
            "both are all or nothing, and (d) has x2 = 5 where the table's label says 1; as labelled it is (c) again.",
        ),
        Claim(
            "Table II (c): the strongest adversary",
            "Whoever knows all others learns LS/lambda = 1 (Theorem 4).",
            verdict_of([abs(sure - 1) < 1e-12, abs(leak(TABLE_2["a"], 0, (1,)) - 1) < 1e-12]),
            f"(a) 1, (c) {sure:g}: knowing x2 he knows x1 before anything is released, and Eq. (3) is no gain.",
            "both values are possible given what he knows; otherwise LS/lambda bounds, and nothing is attained.",
        ),
    ]
