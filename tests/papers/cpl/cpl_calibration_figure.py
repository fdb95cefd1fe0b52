"""Figure 8: the budget that every attribute may have when none is to lose more than a limit in total."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from cpl_data import Data, Floats, other_faces, shared_faces
from paper_command import Tick
from paper_drawing import Line, Panel, draw
from paper_findings import Claim, Numbers, Section, verdict_of, where

from beliefs.correlation.calibration import ExactMeter, PairwiseMeter, equal_budgets
from beliefs.correlation.joint import in_total, joint_leak
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.published import algorithm_3

STEP: Final = 0.01
HALVINGS: Final = 12
NAMES: Final = {
    "simple": "SPL: the limit shared equally",
    "printed": "Algorithm 3, correlations known",
    "public": "Algorithm 3, correlations of LFW (stand-in)",
    "pairwise": "bisection, pairwise sums",
    "exact": "bisection, all outputs together",
}


class Budget(NamedTuple):
    """What each way gives every attribute at one limit; and what is then lost exactly in total, with Algorithm 3."""

    limit: float
    simple: float
    printed: float
    public: float
    pairwise: float
    exact: float
    lost: float
    lost_by_public: float


def whole(data: Data) -> Floats:
    return data.table(*range(len(data.names)))


class Faces:
    """CelebA's and LFW's tables and the meters of CelebA, made once."""

    def __init__(self, attributes: int) -> None:
        self.data = shared_faces(attributes)
        self.table, self.other = whole(self.data), whole(other_faces(self.data))
        self.pairwise, self.exact = PairwiseMeter(self.table), ExactMeter(self.table)
        self.fields = attributes

    def budget(self, limit: float) -> Budget:
        printed, public = (algorithm_3(table, response_leak, limit, STEP) for table in (self.table, self.other))
        pairwise = equal_budgets(self.pairwise, limit)
        lost = self.totals(printed)
        return Budget(
            limit,
            limit / self.fields,
            printed,
            public,
            pairwise,
            self.exactly(limit, printed, int(lost.argmax())),
            float(lost.max()),
            float(self.totals(public).max()),
        )

    def totals(self, budget: float) -> Floats:
        return self.exact.totals(np.full(self.fields, budget))

    def exactly(self, limit: float, most: float, secret: int) -> float:
        """Within 2^-12 of the largest common budget: found for the attribute that loses most, tried on all."""
        high = 1.5 * most
        while True:
            low = limit / self.fields
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if self.total(secret, middle) <= limit else (low, middle)
            totals = self.totals(low)
            if bool((totals <= limit).all()):
                return low
            secret, high = int(totals.argmax()), low

    def total(self, secret: int, budget: float) -> float:
        return in_total(budget, joint_leak(self.exact.laws[secret], [budget] * (self.fields - 1)))


def wrong(budget: float) -> float:
    """How often GRR of two values says the other one."""
    return 1.0 / (1.0 + math.exp(budget))


def figure(folder: Path, attributes: int, limits: Sequence[float], tick: Tick) -> Section:
    found, budgets = Faces(attributes), list[Budget]()
    for place, limit in enumerate(limits):
        budgets.append(found.budget(limit))
        tick((place + 1) / len(limits))
    columns = ["limit", *NAMES.values(), "really lost with Algorithm 3", "really lost with LFW's correlations"]
    return Section(
        "fig8",
        "Figure 8: calibrated budgets",
        f"{found.data.source}, {attributes} of them; GRR in each. LFW is a stand-in: other people, in another "
        "mixture, read with errors. Which attributes the paper took it does not say.",
        [*_worth(budgets), *_safety(budgets)],
        [
            Numbers("budget of every attribute, nats", columns, [list(each) for each in budgets]),
            Numbers(
                "0-1 error of a report",
                ["limit", *NAMES.values()],
                [[each.limit, *(wrong(getattr(each, name)) for name in NAMES)] for each in budgets],
            ),
        ],
        [_drawn(folder, budgets, attributes)],
    )


def _drawn(folder: Path, budgets: Sequence[Budget], attributes: int) -> str:
    limits = [each.limit for each in budgets]
    lines = [Line(shown, limits, [getattr(each, name) for each in budgets]) for name, shown in NAMES.items()]
    errors = [Line(line.name, limits, [wrong(budget) for budget in line.up]) for line in lines]
    lost = [
        Line(NAMES["printed"], limits, [each.lost / each.limit for each in budgets]),
        Line(NAMES["public"], limits, [each.lost_by_public / each.limit for each in budgets]),
        Line("the limit", limits, [1.0] * len(limits)),
    ]
    across = "limit for each attribute's total, nats"
    panels = [
        Panel("(a) The budget of every attribute", across, "epsilon", lines),
        Panel("(b) What it is worth", across, "0-1 error of GRR", errors),
        Panel("What is really lost", across, "share of the limit", lost),
    ]
    caption = (
        f"{attributes} binary attributes. Claims: knowing the correlations allows about five times the budget; public "
        "data do as well. The printed algorithm stops a step too late, and sums of pairs are no bound: at small limits "
        "more is lost than is allowed."
    )
    return draw(folder / "fig8.png", "Figure 8: budgets under a limit for the total leakage", panels, caption)


def _worth(budgets: Sequence[Budget]) -> list[Claim]:
    ratios = [each.printed / each.simple for each in budgets]
    fits = [4.0 <= ratio <= 6.0 for ratio in ratios]
    errors = [wrong(each.printed) < wrong(each.simple) for each in budgets]
    return [
        Claim(
            "fig8: five times the budget",
            "The calibrated budget is about five times that of SPL.",
            verdict_of(fits),
            "Ratios "
            + ", ".join(f"{ratio:.1f}" for ratio in ratios)
            + f" at limits {', '.join(f'{b.limit:g}' for b in budgets)}.",
            ("the limit is small: " if any(fits) else "")
            + "the ratio says how much these attributes depend on each other (of independent ones it would be their "
            "number), and falls as the limit rises.",
        ),
        Claim(
            "fig8: less error",
            "The calibrated budget has much less 0-1 error.",
            verdict_of(errors),
            "; ".join(f"{wrong(each.simple):.3f} to {wrong(each.printed):.3f} at {each.limit:g}" for each in budgets)
            + ".",
            "of two values GRR says the other one with 1/(1 + e^epsilon).",
        ),
    ]


def _safety(budgets: Sequence[Budget]) -> list[Claim]:
    near = [abs(each.public / each.printed - 1) for each in budgets]
    kept = [each.lost <= each.limit for each in budgets]
    paired = [each.pairwise <= each.exact * (1 + 2.0**-10) for each in budgets]
    over = max(each.lost / each.limit for each in budgets)
    return [
        Claim(
            "fig8: the limit is kept",
            "Each attribute's total stays within the limit.",
            verdict_of(kept),
            f"Really lost with Algorithm 3, all outputs of GRR together: up to {over:.3f} of the limit.",
            "what pairs count twice outweighs what they miss and the step too many: "
            f"{where([(b.limit, so) for b, so in zip(budgets, kept, strict=True)], 'limit')}. Algorithm 3 stops too "
            "late, and (6) is no bound.",
        ),
        Claim(
            "fig8: pairwise sums suffice",
            "Summing pairwise CPLs gives a budget that is safe.",
            verdict_of(paired),
            "; ".join(f"at {b.limit:g} by pairs {b.pairwise:.4f}, exactly {b.exact:.4f}" for b in budgets) + ".",
            "what pairs miss is less than what they count twice, which nothing but all outputs together can tell. (Of "
            "two values every epsilon-LDP mechanism is a coarsening of GRR, so these budgets hold for all mechanisms.)",
        ),
        Claim(
            "fig8: public data do as well",
            "Correlations of another, public data set give a budget close to the true one.",
            verdict_of([each < 0.15 for each in near]),
            f"Within {max(near):.0%}; the total is then up to {max(b.lost_by_public / b.limit for b in budgets):.3f} "
            "of the limit.",
            "the stand-in for LFW differs from CelebA as assumed: this says nothing about LFW. Errors of reading make "
            "correlations look weaker, and the budget too large.",
        ),
    ]
